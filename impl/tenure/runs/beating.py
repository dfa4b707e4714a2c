"""``heartbeat`` and ``reconfirm``: the owner renews its lease (RS-490..RS-494)."""

from collections.abc import Callable

from tenure.consensus.strategy import Renewed
from tenure.runs import statements
from tenure.runs.context import RunContext
from tenure.runs.failures import invalid
from tenure_model.admission.integers import admit_lease_reading
from tenure_model.admission.records import admit_owner, admit_run_id
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.outcomes import FenceLost, HeartbeatOutcome, NotFound, Updated
from tenure_model.vocabulary.owners import OwnerId

_UPDATED = Updated()


def heartbeat(context: RunContext, run_id: object, owner: object, now_ms: object) -> HeartbeatOutcome:
    """Renew the lease, whatever claim is pending (RS-490, RS-204)."""
    return _beat(context, "heartbeat", context.consensus.heartbeat, run_id, owner, now_ms)


def reconfirm(context: RunContext, run_id: object, owner: object, now_ms: object) -> HeartbeatOutcome:
    """Renew the lease where no claim is pending (RS-490, RS-205)."""
    return _beat(context, "reconfirm", context.consensus.reconfirm, run_id, owner, now_ms)


def _beat(
    context: RunContext,
    method: str,
    renew: Callable[[str, OwnerId, int], Renewed | None],
    run_id: object,
    owner: object,
    now_ms: object,
) -> HeartbeatOutcome:
    admitted_id = admit_run_id(run_id)
    if type(admitted_id) is Refusal:
        raise invalid(method, admitted_id)
    who = admit_owner(owner, "owner")
    if type(who) is Refusal:
        raise invalid(method, who)
    now = admit_lease_reading(now_ms, context.now(), admitted_id)
    if type(now) is Refusal:
        raise invalid(method, now)
    return context.write(method, _renew, renew, admitted_id, who, now)


def _renew(
    context: RunContext,
    renew: Callable[[str, OwnerId, int], Renewed | None],
    run_id: str,
    owner: OwnerId,
    now_ms: int,
) -> HeartbeatOutcome:
    renewed = renew(run_id, owner, now_ms)
    # A renewal whose row turns out not to be the caller's stays all the same (RS-224, RS-492).
    if renewed is not None and context.rows(
        statements.HEARTBEAT, (run_id, owner.host_id, owner.pid, owner.nonce, renewed.heartbeat_at_ms)
    ):
        return _UPDATED
    return FenceLost() if context.exists(run_id) else NotFound()
