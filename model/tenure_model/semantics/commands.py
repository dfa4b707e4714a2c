"""One command is one call: an operation's wire name, its arguments as supplied, and the clock of the store called."""

import math
from collections.abc import Callable, Mapping
from typing import Final

import attrs

from tenure_model.admission.refusal import refuse
from tenure_model.semantics.raw import delete_row, write_lease, write_row
from tenure_model.semantics.runs.abandon_claim import abandon_claim
from tenure_model.semantics.runs.activate import activate
from tenure_model.semantics.runs.cancel import acknowledge_cancel, request_cancel, request_cancel_lineage
from tenure_model.semantics.runs.claim import claim
from tenure_model.semantics.runs.claim_and_own import claim_and_own
from tenure_model.semantics.runs.create import create
from tenure_model.semantics.runs.get import get
from tenure_model.semantics.runs.heartbeat import heartbeat, reconfirm
from tenure_model.semantics.runs.lineage import latest_round, lineage
from tenure_model.semantics.runs.recover_claim import recover_claim
from tenure_model.semantics.runs.steal import steal
from tenure_model.semantics.runs.transition import transition_owned
from tenure_model.semantics.steps import Step, refused
from tenure_model.semantics.world import World
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.operations import RUN_OPERATIONS

_READ_THE_CLOCK: Final[Mapping[str, Callable[..., Step]]] = {
    "run.create": create,
    "run.claim": claim,
    "run.claimAndOwn": claim_and_own,
    "run.activate": activate,
    "run.recoverClaim": recover_claim,
    "run.heartbeat": heartbeat,
    "run.reconfirm": reconfirm,
    "run.transitionOwned": transition_owned,
    "run.steal": steal,
}
_READ_NO_CLOCK: Final[Mapping[str, Callable[..., Step]]] = {
    "run.get": get,
    "run.lineage": lineage,
    "run.latestRound": latest_round,
    "run.requestCancel": request_cancel,
    "run.requestCancelLineage": request_cancel_lineage,
    "run.acknowledgeCancel": acknowledge_cancel,
    "run.abandonClaim": abandon_claim,
    "row.delete": delete_row,
    "row.write": write_row,
    "lease.write": write_lease,
}
_PARAMETERS: Final[Mapping[str, Mapping[str, str]]] = {
    **{name: signature.parameters for name, signature in RUN_OPERATIONS.items()},
    "row.delete": {"runId": "run_id"},
    "row.write": {"runId": "run_id", "columns": "columns"},
    "lease.write": {"runId": "run_id", "lease": "lease"},
}

OPERATIONS: Final[frozenset[str]] = frozenset(_PARAMETERS)
"""The sixteen operations of the run store, and the three raw writes that no store offers (``semantics.raw``)."""


@attrs.frozen
class Command:
    """A call. ``operation`` and the keys of ``arguments`` are wire names (``run.claimAndOwn``, ``nowMs``).

    Argument values are anything at all; a missing key, or ``ABSENT``, is an argument that was not supplied.
    ``clock_ms`` is what the clock of the store shows, in milliseconds; fractions are rounded down (RS-003).
    """

    operation: str
    arguments: Mapping[str, object]
    clock_ms: float


def apply(world: World, command: Command) -> Step:
    """What the command does to the world: total, pure, and the world given stays as it is.

    An operation or an argument that nothing is known of is ``invalid_run``, like any other invalid input.
    """
    parameters = _PARAMETERS.get(command.operation) if type(command.operation) is str else None
    if parameters is None:
        return refused(world, method_of(command), refuse("operation", "is unknown"))
    if not command.arguments.keys() <= parameters.keys():
        return refused(world, method_of(command), refuse("arguments", "are not all known"))
    arguments = [command.arguments.get(name, ABSENT) for name in parameters]
    timeless = _READ_NO_CLOCK.get(command.operation)
    if timeless is not None:
        return timeless(world, *arguments)
    return _READ_THE_CLOCK[command.operation](world, whole_milliseconds(command.clock_ms), *arguments)


def method_of(command: Command) -> str:
    """The name that errors carry: ``claimAndOwn`` of ``run.claimAndOwn``; raw writes keep their whole name (RS-360)."""
    return command.operation.removeprefix("run.") if type(command.operation) is str else "apply"


def whole_milliseconds(clock_ms: float) -> int:
    """The clock rounded down (RS-003). A clock that shows no finite number reads -1, a time nothing can store."""
    if isinstance(clock_ms, int):
        return clock_ms
    return math.floor(clock_ms) if math.isfinite(clock_ms) else -1
