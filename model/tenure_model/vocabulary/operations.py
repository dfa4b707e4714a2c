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


def _run(method: str, python_name: str, parameters: str, *, writes: bool = True) -> OperationSignature:
    names: dict[str, str] = {}
    optional: set[str] = set()
    for word in parameters.split():
        name = word.rstrip("?")
        names[name] = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
        if word.endswith("?"):
            optional.add(name)
    return OperationSignature(f"run.{method}", method, python_name, names, frozenset(optional), writes)


RUN_OPERATIONS: Final[Mapping[str, OperationSignature]] = {
    signature.wire_name: signature
    for signature in (
        _run("create", "create", "runId stateJson options?"),
        _run("get", "get", "runId", writes=False),
        _run("lineage", "lineage", "runId", writes=False),
        _run("latestRound", "latest_round", "runId", writes=False),
        _run("requestCancel", "request_cancel", "runId nowMs"),
        _run("requestCancelLineage", "request_cancel_lineage", "runId nowMs"),
        _run("acknowledgeCancel", "acknowledge_cancel", "runId owner nowMs"),
        _run("claim", "claim", "runId expected claimant nowMs"),
        _run("claimAndOwn", "claim_and_own", "runId expected owner nowMs evidence?"),
        _run("activate", "activate", "runId claimant claimedAtMs expected"),
        _run("abandonClaim", "abandon_claim", "runId claimant claimedAtMs"),
        _run("recoverClaim", "recover_claim", "runId staleClaimant claimedAtMs observer nowMs evidence"),
        _run("heartbeat", "heartbeat", "runId owner nowMs"),
        _run("reconfirm", "reconfirm", "runId owner nowMs"),
        _run("transitionOwned", "transition_owned", "runId owner toStatus stateJson? guard?"),
        _run("steal", "steal", "runId expected claimant nowMs evidence"),
    )
}
