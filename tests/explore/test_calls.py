"""The calls that are drawn stand for all: every argument whatever leads along an edge that is there already."""

from collections.abc import Iterator

import attrs
import pytest

from tenure_model.explore.calls import calls
from tenure_model.explore.canonical import NO_STAMP, NOW_MS
from tenure_model.explore.scope import DELETE, EVERY_OPERATION, Participant, Scope, ahead, honest
from tenure_model.explore.search import explore
from tenure_model.explore.system import TIME, RunSystem, State, outcome_name
from tenure_model.semantics.commands import Command, apply
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tenure_model.semantics.world import empty_world
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.constants import HEARTBEAT_STALE_AFTER_MS
from tenure_model.vocabulary.evidence import EVIDENCE_KINDS, LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import RunSnapshot, TransitionGuard
from tenure_model.vocabulary.statuses import RUN_STATUSES

ALICE, BOB = OwnerId("a", 1, "a1"), OwnerId("b", 1, "b1")
STALE = HEARTBEAT_STALE_AFTER_MS + 1
CROSS_HOST = Scope(
    "cross-host",
    (Participant(ALICE, honest(0)), Participant(BOB, ahead(0))),
    advances=(STALE,),
    operations=EVERY_OPERATION | {DELETE},
    symmetric=False,
)
SAME_HOST = attrs.evolve(
    CROSS_HOST,
    name="same-host",
    participants=(Participant(ALICE, honest(0, -1)), Participant(OwnerId("a", 2, "a2"), honest(0))),
)


def every_snapshot(scope: Scope, stamps: list[int]) -> list[RunSnapshot]:
    """Each status with each owner and each stamp, or without."""
    return [
        RunSnapshot(status, owner, stamp_ms)
        for status in RUN_STATUSES
        for owner, stamp_ms in ((None, None), *((owner, stamp) for owner in scope.owners for stamp in stamps))
        if (status == "running") == (owner is not None)
    ]


def every_argument(
    scope: Scope, operation: str, caller: OwnerId, stamps: list[int], now_ms: int
) -> Iterator[dict[str, object]]:
    """Every admissible set of arguments of one operation by one caller with one reading, but for the run's id."""
    snapshots = every_snapshot(scope, stamps)
    evidence = [
        LivenessEvidence(owner, at_ms, kind)
        for owner in scope.owners
        for at_ms in {*stamps, now_ms}
        for kind in EVIDENCE_KINDS
    ]
    match operation:
        case "run.create":
            yield {"stateJson": "{}"}
        case "run.requestCancel" | "run.requestCancelLineage":
            yield from ({"nowMs": at_ms} for at_ms in (0, *stamps, now_ms))
        case "run.acknowledgeCancel":
            yield from ({"owner": caller, "nowMs": at_ms} for at_ms in (0, *stamps, now_ms))
        case "run.heartbeat" | "run.reconfirm":
            yield {"owner": caller, "nowMs": now_ms}
        case "run.claim":
            yield from ({"expected": expected, "claimant": caller, "nowMs": now_ms} for expected in snapshots)
        case "run.claimAndOwn":
            for proof in (ABSENT, *evidence):
                for expected in snapshots:
                    yield {"expected": expected, "owner": caller, "nowMs": now_ms, "evidence": proof}
        case "run.steal":
            for proof in evidence:
                for expected in snapshots:
                    yield {"expected": expected, "claimant": caller, "nowMs": now_ms, "evidence": proof}
        case "run.activate":
            for token_ms in (0, *stamps):
                for expected in snapshots:
                    yield {"claimant": caller, "claimedAtMs": token_ms, "expected": expected}
        case "run.abandonClaim":
            yield from ({"claimant": caller, "claimedAtMs": token_ms} for token_ms in (0, *stamps))
        case "run.recoverClaim":
            for claimant in scope.owners:
                for token_ms in (0, *stamps):
                    for proof in evidence:
                        yield {
                            "staleClaimant": claimant,
                            "claimedAtMs": token_ms,
                            "observer": caller,
                            "nowMs": now_ms,
                            "evidence": proof,
                        }
        case "run.transitionOwned":
            for status in scope.targets:
                for guard in (ABSENT, TransitionGuard(), TransitionGuard("absent"), TransitionGuard("present")):
                    for state in (ABSENT, '{"kept":1}'):
                        yield {"owner": caller, "toStatus": status, "guard": guard, "stateJson": state}
        case _:
            yield {}


def stamps_near(system: RunSystem, state: State) -> list[int]:
    """Every stamp and token of a situation and the instant, and a millisecond after each."""
    code = system.codes(state)[0]
    known = {code.heartbeat, code.token, code.lease_heartbeat, code.lease_token} - {NO_STAMP} | {0}
    return sorted({NOW_MS + stamp + near for stamp in known for near in (0, 1)})


def every_edge(system: RunSystem, state: State) -> set[object]:
    """What every argument whatever leads to: operation, outcome, caller, and the state after."""
    scope, world, found = system.scope, system.world(state), set[object]()
    stamps = stamps_near(system, state)
    for number, who in enumerate(scope.participants):
        for reading in who.readings:
            for operation in scope.operations:
                for supplied in every_argument(scope, operation, who.owner, stamps, NOW_MS + reading.now_ms):
                    command = Command(operation, {"runId": "r", **supplied}, NOW_MS + reading.clock_ms)
                    step = apply(world, command)
                    place = state if step.world is world else system.place(step.world, NOW_MS)
                    found.add((operation, outcome_name(step.outcome), number, place))
    return found


@pytest.mark.parametrize(
    ("scope", "profile", "every"),
    [(CROSS_HOST, REFERENCE, 1), (CROSS_HOST, ORIGINAL, 3), (SAME_HOST, REFERENCE, 3), (SAME_HOST, ORIGINAL, 5)],
)
def test_representatives_are_enough(scope: Scope, profile: Profile, every: int) -> None:
    """No snapshot, token, evidence, guard, state text or time leads anywhere that the representatives do not lead."""
    system = RunSystem(attrs.evolve(scope, profile=profile))
    states = list(explore(system.initial(), system.successors).states)
    for state in states[::every]:
        drawn = {(label.operation, label.outcome, label.owner, after) for label, after, *_ in system.successors(state)}

        assert drawn - {edge for edge in drawn if edge[0] == TIME} == every_edge(system, state)


def test_stays_in_scope() -> None:
    """Only operations of the scope are called, by owners that take part, with readings they take."""
    scope = attrs.evolve(SAME_HOST, operations=frozenset({"run.heartbeat", "run.activate"}))
    made = list(calls(scope, empty_world(), scope.runs[0]))

    assert {(call.command.operation, call.owner, call.command.clock_ms - NOW_MS) for call in made} == {
        (operation, owner, clock_ms)
        for operation in ("run.heartbeat", "run.activate")
        for owner, clock_ms in ((0, 0), (0, -1), (1, 0))
    }
