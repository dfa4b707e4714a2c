"""The sixteen run operations: their wire names, Python names and parameters, in order.

``run.claimAndOwn`` on the wire is ``claim_and_own`` in Python; the wire's ``nowMs`` is Python's ``now_ms``.
"""

from collections.abc import Mapping
from typing import Final

import attrs


@attrs.frozen
class OperationSignature:
    """One operation. ``parameters`` maps wire argument names to Python parameter names, required ones first."""

    wire_name: str
    method: str
    python_name: str
    parameters: Mapping[str, str]
    optional: frozenset[str]
    writes: bool


def operation(wire_name: str, parameters: str, *, writes: bool = True) -> OperationSignature:
    """The operation of a wire name such as ``run.claim``; a ``?`` follows the parameters that may be left out."""
    names = {name: _python_name(name) for name in parameters.replace("?", "").split()}
    optional = frozenset(word.rstrip("?") for word in parameters.split() if word.endswith("?"))
    method = wire_name.partition(".")[2]
    return OperationSignature(wire_name, method, _python_name(method), names, optional, writes)


def by_wire_name(*operations: OperationSignature) -> Mapping[str, OperationSignature]:
    """The operations, each under its wire name, in the same order."""
    return {signature.wire_name: signature for signature in operations}


def _python_name(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


RUN_OPERATIONS: Final[Mapping[str, OperationSignature]] = by_wire_name(
    operation("run.create", "runId stateJson options?"),
    operation("run.get", "runId", writes=False),
    operation("run.lineage", "runId", writes=False),
    operation("run.latestRound", "runId", writes=False),
    operation("run.requestCancel", "runId nowMs"),
    operation("run.requestCancelLineage", "runId nowMs"),
    operation("run.acknowledgeCancel", "runId owner nowMs"),
    operation("run.claim", "runId expected claimant nowMs"),
    operation("run.claimAndOwn", "runId expected owner nowMs evidence?"),
    operation("run.activate", "runId claimant claimedAtMs expected"),
    operation("run.abandonClaim", "runId claimant claimedAtMs"),
    operation("run.recoverClaim", "runId staleClaimant claimedAtMs observer nowMs evidence"),
    operation("run.heartbeat", "runId owner nowMs"),
    operation("run.reconfirm", "runId owner nowMs"),
    operation("run.transitionOwned", "runId owner toStatus stateJson? guard?"),
    operation("run.steal", "runId expected claimant nowMs evidence"),
)
