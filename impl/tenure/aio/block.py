"""The ``async with`` block around the work on one run."""

from types import TracebackType

from tenure.aio.supervisor import Hook, SupervisedRun, Supervisor
from tenure.database.engine import ClosedError
from tenure.ownership.block import admit_supervision
from tenure.ownership.lease import Lease
from tenure.runs.failures import storage_failure


class SupervisedBlock:
    """An asynchronous context manager that supervises one run: entered it answers the ``Lease``, left it ends that.

    Its body is cancelled when the lease is lost. It may be entered again once it was left.
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

    async def __aenter__(self) -> Lease:
        if self._run is not None:
            raise RuntimeError("the block is entered already")
        if self._supervisor.closed:
            raise storage_failure("heartbeat", ClosedError())
        run = self._supervisor.begin(self._run_id, self._owner, self._on_reconfirm, self._on_lapse)
        run.scope.__enter__()
        self._run = run
        return run.lease

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        run, self._run = self._run, None
        assert run is not None
        try:
            await self._supervisor.leave(run)
        finally:
            is_caught = run.scope.__exit__(kind, error, traceback)
        if error is None or is_caught:
            # Cancelled by its scope alone: the body has nothing of its own to say.
            run.lease.check()
        return is_caught
