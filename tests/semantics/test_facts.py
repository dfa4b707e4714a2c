"""Which facts each granted transition leaves, in order (RS-703), and what leaves none (RS-704)."""

from collections.abc import Callable

import pytest

from tenure_model.semantics import facts
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tenure_model.semantics.world import World, empty_world
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import PENDING, SUSPENDED
from tests.semantics.worlds import (
    ALICE,
    ALICE_AT_T,
    BOB,
    CAROL,
    LATE,
    T,
    call,
    claimed,
    expired,
    pending,
    requested,
    running,
    stolen,
)

OWN = {"runId": "r", "expected": ALICE_AT_T, "owner": BOB, "nowMs": LATE, "evidence": expired(ALICE, LATE)}
Told = tuple[str, OwnerId, int | None]


def test_a_recorded_fact() -> None:
    """A fact names run, transition, owner and token, under the journal's event type (RS-016, RS-701)."""
    world = facts.record(empty_world(), "r", "stolen", BOB, T)

    assert world.facts == {"r": (OwnershipFact("r", "stolen", BOB, T),)}
    assert world.facts["r"][0].event_type == "flows.consensus.stolen"


@pytest.mark.parametrize("profile", [REFERENCE, ORIGINAL])
@pytest.mark.parametrize(
    ("start", "operation", "arguments", "told"),
    [
        (
            pending,
            "run.claim",
            {"expected": PENDING, "claimant": BOB, "nowMs": T},
            (("claimed", BOB, T),),
        ),
        (
            claimed,
            "run.activate",
            {"claimant": BOB, "claimedAtMs": T, "expected": PENDING},
            (("activated", BOB, T),),
        ),
        (
            claimed,
            "run.activate",
            {"claimant": BOB, "claimedAtMs": T, "expected": SUSPENDED},
            (("released", BOB, T),),
        ),
        (claimed, "run.abandonClaim", {"claimant": BOB, "claimedAtMs": T}, (("released", BOB, T),)),
        (
            claimed,
            "run.recoverClaim",
            {
                "staleClaimant": BOB,
                "claimedAtMs": T,
                "observer": CAROL,
                "nowMs": LATE,
                "evidence": expired(BOB, LATE),
            },
            (("expired", BOB, T),),
        ),
        (
            running,
            "run.steal",
            {"expected": ALICE_AT_T, "claimant": BOB, "nowMs": LATE, "evidence": expired(ALICE, LATE)},
            (("stolen", BOB, LATE),),
        ),
        (
            pending,
            "run.claimAndOwn",
            {"expected": PENDING, "owner": BOB, "nowMs": T},
            (("claimed", BOB, T), ("activated", BOB, T)),
        ),
        (running, "run.claimAndOwn", OWN, (("stolen", BOB, LATE), ("activated", BOB, LATE))),
        (
            running,
            "run.claimAndOwn",
            {"expected": ALICE_AT_T, "owner": ALICE, "nowMs": LATE},
            (("released", ALICE, None), ("claimed", ALICE, LATE), ("activated", ALICE, LATE)),
        ),
        (running, "run.transitionOwned", {"owner": ALICE, "toStatus": "suspended"}, (("released", ALICE, None),)),
        (stolen, "run.transitionOwned", {"owner": ALICE, "toStatus": "failed"}, (("released", ALICE, None),)),
        (running, "run.transitionOwned", {"owner": ALICE, "toStatus": "running"}, ()),
        (running, "run.transitionOwned", {"owner": BOB, "toStatus": "failed"}, ()),
        (running, "run.heartbeat", {"owner": ALICE, "nowMs": T}, ()),
        (running, "run.reconfirm", {"owner": ALICE, "nowMs": T}, ()),
        (running, "run.requestCancel", {"nowMs": T}, ()),
        (running, "run.requestCancelLineage", {"nowMs": T}, ()),
        (requested, "run.acknowledgeCancel", {"owner": ALICE, "nowMs": T}, ()),
        (running, "run.claim", {"expected": PENDING, "claimant": BOB, "nowMs": T}, ()),
        (running, "run.abandonClaim", {"claimant": BOB, "claimedAtMs": T}, ()),
    ],
)
def test_facts_of_each_outcome(
    start: Callable[[Profile], World],
    operation: str,
    arguments: dict[str, object],
    told: tuple[Told, ...],
    profile: Profile,
) -> None:
    """Every grant leaves its facts in order, refusals and renewals none, in both profiles (RS-703, RS-704)."""
    before = start(profile)
    world = call(before, operation, LATE, **{"runId": "r", **arguments}).world
    fresh = world.facts.get("r", ())[len(before.facts.get("r", ())) :]

    assert tuple((fact.transition, fact.owner, fact.granted_at_ms) for fact in fresh) == told
    assert all(fact.run_id == "r" for fact in fresh)
