"""The ``with`` block around the work on one run."""

from types import TracebackType

from tenure.database.engine import ClosedError
from tenure.ownership.lease import Lease
from tenure.ownership.supervised import Hook, SupervisedRun
from tenure.ownership.supervisor import Supervisor
from tenure.runs.failures import invalid, storage_failure
from tenure_model.admission.records import admit_owner, admit_run_id
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.owners import OwnerId


def admit_supervision(run_id: object, owner: object) -> tuple[str, OwnerId]:
    """Whose run is to be supervised; what every beat would refuse is refused as ``heartbeat`` refuses it."""
    admitted_id = admit_run_id(run_id)
    if type(admitted_id) is Refusal:
        raise invalid("heartbeat", admitted_id)
    who = admit_owner(owner, "owner")
    if type(who) is Refusal:
        raise invalid("heartbeat", who)
    return admitted_id, who


class SupervisedBlock:
    """A context manager that supervises one run: entered it answers the ``Lease``, left it ends the supervision.

    Leaving a block that ended normally raises as ``Lease.check`` does; an exception of the body is never replaced. It
    may be entered again once it was left.
    """

    __slots__ = ("_on_lapse", "_on_reconfirm", "_owner", "_run", "_run_id", "_supervisor")

    def __init__(
        self,
        supervisor: Supervisor,
        run_id: object,
        owner: object,
        on_reconfirm: Hook | None,
        on_lapse: Hook | None,
    ) -> None:
        self._run_id, self._owner = admit_supervision(run_id, owner)
        self._supervisor = supervisor
        self._on_reconfirm = on_reconfirm
        self._on_lapse = on_lapse
        self._run: SupervisedRun | None = None

    def __enter__(self) -> Lease:
        if self._run is not None:
            raise RuntimeError("the block is entered already")
        if self._supervisor.closed:
            raise storage_failure("heartbeat", ClosedError())
        self._run = self._supervisor.begin(self._run_id, self._owner, self._on_reconfirm, self._on_lapse)
        return self._run.lease

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        run, self._run = self._run, None
        assert run is not None
        self._supervisor.leave(run)
        if error is None:
            run.lease.check()
