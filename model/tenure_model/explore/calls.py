"""Every call that can be made in a situation: each operation, by each owner, with each reading, on each run.

Arguments range over representatives: one for each way in which an argument can be right or wrong about the situation.
Two snapshots that both differ from the row are told apart by whom they name, two tokens that match no claim not at all.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from tenure_model.explore.canonical import NOW_MS
from tenure_model.explore.scope import DELETE, WRITE_LEASE, WRITE_ROW, Participant, RunPlan, Scope
from tenure_model.semantics.commands import Command
from tenure_model.semantics.world import Run, World
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import PENDING, SUSPENDED, CancelGuard, RunSnapshot, TransitionGuard

_GUARDS: Final[tuple[CancelGuard, ...]] = ("absent", "present")


class Call(NamedTuple):
    """One command, and the number of the owner who gives it."""

    owner: int
    command: Command


class _Place(NamedTuple):
    """What a call is made of: the world and the run in it, who calls, at which instant, with which reading."""

    scope: Scope
    world: World
    plan: RunPlan
    run: Run | None
    caller: Participant
    instant_ms: int
    clock_ms: int
    now_ms: int


def calls(scope: Scope, world: World, plan: RunPlan, now_ms: int = NOW_MS) -> Iterator[Call]:
    """Every call on one run at one instant. The order is fixed: it is the order of counterexamples of equal length."""
    run = world.runs.get(plan.run_id)
    for number, caller in enumerate(scope.participants):
        for place, reading in enumerate(caller.readings):
            clock_ms = now_ms + reading.clock_ms
            at = _Place(scope, world, plan, run, caller, now_ms, clock_ms, now_ms + reading.now_ms)
            for operation, arguments in _ARGUMENTS.items():
                if operation not in scope.operations or (place and operation in _TIMELESS):
                    continue
                for supplied in arguments(at):
                    yield Call(number, Command(operation, {"runId": plan.run_id, **supplied}, clock_ms))


def snapshots(at: _Place) -> Iterator[RunSnapshot]:
    """What a caller may expect: the row as it is, and for each way to be out of date one that it is not."""
    current = PENDING
    if at.run is not None:
        current = RunSnapshot(at.run.status, at.run.owner, at.run.heartbeat_at_ms)
        yield current
    for unowned in (PENDING, SUSPENDED):
        if at.run is None or unowned != current:
            yield unowned
    for owner in at.scope.owners:
        stamp_ms = at.instant_ms if current.heartbeat_at_ms is None else current.heartbeat_at_ms + 1
        yield RunSnapshot("running", owner, stamp_ms)


def tokens(at: _Place) -> Iterator[int]:
    """The claims a caller may present: the row's, the lease's where it differs, and one that is neither."""
    lease = at.world.leases.get(at.plan.run_id)
    known = dict.fromkeys(
        claim.claimed_at_ms
        for claim in (None if at.run is None else at.run.claim, None if lease is None else lease.claim)
        if claim is not None
    )
    yield from known
    yield max(known, default=0) + 1


def evidence(at: _Place, about: OwnerId | None) -> Iterator[LivenessEvidence]:
    """Evidence that matches the owner it is needed about, and evidence of another instant, which never does (RS-207).

    Whoever the caller is, ``lease-expired`` matches, so one kind stands for the kinds that may.
    """
    target = at.caller.owner if about is None else about
    yield LivenessEvidence(target, at.now_ms, "lease-expired")
    yield LivenessEvidence(target, at.now_ms + 1, "lease-expired")


def _create(at: _Place) -> Iterator[dict[str, object]]:
    ancestry = at.plan.options
    if ancestry.parent_run_id is None and ancestry.lineage_id is None:
        yield {"stateJson": "{}"}
    else:
        yield {"stateJson": "{}", "options": ancestry}


def _nothing(at: _Place) -> Iterator[dict[str, object]]:
    yield {}


def _request(at: _Place) -> Iterator[dict[str, object]]:
    yield {"nowMs": at.now_ms}


def _beat(at: _Place) -> Iterator[dict[str, object]]:
    yield {"owner": at.caller.owner, "nowMs": at.now_ms}


def _claim(at: _Place) -> Iterator[dict[str, object]]:
    for expected in snapshots(at):
        yield {"expected": expected, "claimant": at.caller.owner, "nowMs": at.now_ms}


def _claim_and_own(at: _Place) -> Iterator[dict[str, object]]:
    for expected in snapshots(at):
        arguments: dict[str, object] = {"expected": expected, "owner": at.caller.owner, "nowMs": at.now_ms}
        yield arguments
        if expected.owner is not None and expected.owner != at.caller.owner:
            for proof in evidence(at, expected.owner):
                yield {**arguments, "evidence": proof}


def _steal(at: _Place) -> Iterator[dict[str, object]]:
    for expected in snapshots(at):
        for proof in evidence(at, expected.owner):
            yield {"expected": expected, "claimant": at.caller.owner, "nowMs": at.now_ms, "evidence": proof}


def _activate(at: _Place) -> Iterator[dict[str, object]]:
    for token_ms in tokens(at):
        for expected in snapshots(at):
            yield {"claimant": at.caller.owner, "claimedAtMs": token_ms, "expected": expected}


def _abandon(at: _Place) -> Iterator[dict[str, object]]:
    for token_ms in tokens(at):
        yield {"claimant": at.caller.owner, "claimedAtMs": token_ms}


def _recover(at: _Place) -> Iterator[dict[str, object]]:
    for claimant in at.scope.owners:
        for token_ms in tokens(at):
            for proof in evidence(at, claimant):
                yield {
                    "staleClaimant": claimant,
                    "claimedAtMs": token_ms,
                    "observer": at.caller.owner,
                    "nowMs": at.now_ms,
                    "evidence": proof,
                }


def _transition(at: _Place) -> Iterator[dict[str, object]]:
    # The state text is part of no situation, but a property looks at it: it comes with the guards, at no further call.
    for status in at.scope.targets:
        arguments: dict[str, object] = {"owner": at.caller.owner, "toStatus": status}
        yield arguments
        for guard in _GUARDS:
            yield {**arguments, "guard": TransitionGuard(guard), "stateJson": '{"kept":1}'}


def _write_row(at: _Place) -> Iterator[dict[str, object]]:
    if at.run is not None:
        owned = {"status": "running", "heartbeat_at_ms": at.now_ms, **_columns("owner", at.caller.owner)}
        yield {"columns": {"claimed_at_ms": at.now_ms, **_columns("claim", at.caller.owner)}}
        yield {"columns": {"started_at_ms": at.now_ms, "finished_at_ms": None, **owned}}


def _write_lease(at: _Place) -> Iterator[dict[str, object]]:
    lease = at.world.leases.get(at.plan.run_id)
    columns: dict[str, str | int | None] = {"claimed_at_ms": at.now_ms, **_columns("claim", at.caller.owner)}
    if lease is not None and (held := lease.ownership) is not None:
        columns |= {"granted_at_ms": held.granted_at_ms, "heartbeat_at_ms": held.heartbeat_at_ms}
        columns |= _columns("owner", held.owner)
    yield {"lease": None}
    yield {"lease": columns}


def _columns(slot: str, owner: OwnerId) -> dict[str, str | int]:
    return {f"{slot}_host_id": owner.host_id, f"{slot}_pid": owner.pid, f"{slot}_nonce": owner.nonce}


_ARGUMENTS: Final[Mapping[str, Callable[[_Place], Iterator[dict[str, object]]]]] = {
    "run.create": _create,
    "run.get": _nothing,
    "run.lineage": _nothing,
    "run.latestRound": _nothing,
    "run.requestCancel": _request,
    "run.requestCancelLineage": _request,
    "run.acknowledgeCancel": _beat,
    "run.claim": _claim,
    "run.claimAndOwn": _claim_and_own,
    "run.activate": _activate,
    "run.abandonClaim": _abandon,
    "run.recoverClaim": _recover,
    "run.heartbeat": _beat,
    "run.reconfirm": _beat,
    "run.transitionOwned": _transition,
    "run.steal": _steal,
    DELETE: _nothing,
    WRITE_ROW: _write_row,
    WRITE_LEASE: _write_lease,
}
_TIMELESS: Final = frozenset(
    {"run.get", "run.lineage", "run.latestRound", "run.abandonClaim", "run.acknowledgeCancel", DELETE}
    | {"run.create", "run.requestCancel", "run.requestCancelLineage", "run.transitionOwned"}
)
"""Operations whose reading is refused by nothing and leaves nothing that a later call compares: one reading will do."""
