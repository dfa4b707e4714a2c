"""``recoverClaim``."""

import pytest

from tenure_model.semantics.steps import Outcome
from tenure_model.semantics.world import Lease, Ownership, World, empty_world
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.outcomes import ClaimChanged, ClaimFresh, LivenessUnconfirmed, NotFound, Recovered
from tests.semantics.worlds import (
    ALICE,
    BOB,
    CAROL,
    LATE,
    T,
    after,
    call,
    claimed,
    evidence,
    expired,
    pending,
    stolen,
    suspended_claimed,
)

BOB_IS_GONE = expired(BOB, LATE)


@pytest.mark.parametrize(
    ("world", "token", "now_ms", "supplied", "outcome"),
    [
        (claimed(), T, LATE, BOB_IS_GONE, Recovered()),
        (claimed(), T, LATE, evidence(BOB, LATE, "cross-host-unreachable-stale"), Recovered()),
        (suspended_claimed(), T, LATE, BOB_IS_GONE, Recovered()),
        (empty_world(), T, LATE, expired(ALICE, LATE), LivenessUnconfirmed()),
        (claimed(), T, LATE, expired(BOB, T), LivenessUnconfirmed()),
        (claimed(), T, LATE, evidence(BOB, LATE, "same-host-pid-dead"), LivenessUnconfirmed()),
        (empty_world(), T, LATE, BOB_IS_GONE, NotFound()),
        (pending(), T, LATE, BOB_IS_GONE, ClaimChanged()),
        (claimed(), T + 1, LATE, BOB_IS_GONE, ClaimChanged()),
        (claimed(), T, LATE - 1, expired(BOB, LATE - 1), ClaimFresh()),
    ],
)
def test_outcomes(world: World, token: int, now_ms: int, supplied: LivenessEvidence, outcome: Outcome) -> None:
    """In the order of RS-486; without matching evidence nothing is read (RS-390)."""
    step = call(
        world,
        "run.recoverClaim",
        LATE,
        runId="r",
        staleClaimant=BOB,
        claimedAtMs=token,
        observer=CAROL,
        nowMs=now_ms,
        evidence=supplied,
    )

    assert step.outcome == outcome
    assert (step.world is world) == (not isinstance(outcome, Recovered))
    assert step.transacted == (not isinstance(outcome, LivenessUnconfirmed))


def test_what_recovery_writes() -> None:
    """A dead thief's claim leaves a running row, whose owner stays; one fact names the dead claimant (RS-486)."""
    later = LATE + 30_001
    world = after(
        stolen(),
        "run.recoverClaim",
        Recovered(),
        later,
        runId="r",
        staleClaimant=BOB,
        claimedAtMs=LATE,
        observer=CAROL,
        nowMs=later,
        evidence=expired(BOB, later),
    )

    assert (world.runs["r"].status, world.runs["r"].owner, world.runs["r"].claim) == ("running", ALICE, None)
    assert world.leases == {"r": Lease(Ownership(ALICE, T, T), None)}
    assert world.facts["r"][-1] == OwnershipFact("r", "expired", BOB, LATE)


def test_a_claim_that_only_the_row_knows_cannot_be_recovered() -> None:
    """The lease refuses, the row keeps the claim (RS-222, H-05)."""
    before = after(claimed(), "lease.write", None, runId="r", lease=None)
    step = call(
        before,
        "run.recoverClaim",
        LATE,
        runId="r",
        staleClaimant=BOB,
        claimedAtMs=T,
        observer=CAROL,
        nowMs=LATE,
        evidence=BOB_IS_GONE,
    )

    assert step.outcome == ClaimChanged()
    assert step.world is before


@pytest.mark.parametrize(
    ("count", "field"),
    [(0, "runId"), (1, "staleClaimant"), (2, "claimedAtMs"), (3, "observer"), (4, "nowMs"), (5, "evidence")],
)
def test_validation_order(count: int, field: str) -> None:
    """Run id, stale claimant, token, observer, reading, evidence (RS-485)."""
    valid = {"runId": "r", "staleClaimant": BOB, "claimedAtMs": T, "observer": CAROL, "nowMs": T}
    error = call(claimed(), "run.recoverClaim", **dict(list(valid.items())[:count])).outcome

    assert isinstance(error, RunStoreError)
    assert (error.code, error.method, error.cause["field"]) == ("invalid_run", "recoverClaim", field)


def test_a_reading_too_far_ahead_names_the_token() -> None:
    """The cause of the skew refusal also carries the token (RS-309, RS-485)."""
    error = call(
        claimed(), "run.recoverClaim", runId="r", staleClaimant=BOB, claimedAtMs=7, observer=CAROL, nowMs=T + 10_001
    ).outcome

    assert isinstance(error, RunStoreError)
    assert error.cause == {
        "runId": "r",
        "claimedAtMs": 7,
        "field": "nowMs",
        "nowMs": T + 10_001,
        "clockMs": T,
        "detail": "runs ahead of the store clock by more than the heartbeat skew allowance",
    }
