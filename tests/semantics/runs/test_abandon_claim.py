"""``abandonClaim``."""

import pytest

from tenure_model.semantics.steps import Outcome
from tenure_model.semantics.world import Lease, Ownership, World, empty_world
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.outcomes import Abandoned, ClaimLost
from tenure_model.vocabulary.owners import OwnerId
from tests.semantics.worlds import ALICE, BOB, CAROL, LATE, T, after, call, claimed, pending, stolen


@pytest.mark.parametrize(
    ("world", "claimant", "token", "outcome"),
    [
        (claimed(), BOB, T, Abandoned()),
        (stolen(), BOB, LATE, Abandoned()),
        (claimed(), BOB, T + 1, ClaimLost()),
        (claimed(), CAROL, T, ClaimLost()),
        (pending(), BOB, T, ClaimLost()),
        (empty_world(), BOB, T, ClaimLost()),
    ],
)
def test_outcomes(world: World, claimant: OwnerId, token: int, outcome: Outcome) -> None:
    """Exactly one's own claim can be abandoned; a missing row is a lost claim too (RS-480)."""
    step = call(world, "run.abandonClaim", runId="r", claimant=claimant, claimedAtMs=token)

    assert step.outcome == outcome
    assert (step.world is world) == isinstance(outcome, ClaimLost)


def test_what_abandoning_writes() -> None:
    """The claim leaves row and lease, status and owner stay, one fact with the token (RS-480)."""
    world = after(stolen(), "run.abandonClaim", Abandoned(), runId="r", claimant=BOB, claimedAtMs=LATE)
    run = world.runs["r"]

    assert (run.status, run.owner, run.heartbeat_at_ms, run.claim) == ("running", ALICE, T, None)
    assert world.leases == {"r": Lease(Ownership(ALICE, T, T), None)}
    assert world.facts["r"][-1] == OwnershipFact("r", "released", BOB, LATE)


def test_a_claim_that_only_the_row_knows_can_be_abandoned() -> None:
    """The lease is not asked (RS-222)."""
    before = after(claimed(), "lease.write", None, runId="r", lease=None)

    assert after(before, "run.abandonClaim", Abandoned(), runId="r", claimant=BOB, claimedAtMs=T).leases == {}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [({}, "runId"), ({"runId": "r"}, "claimant"), ({"runId": "r", "claimant": BOB}, "claimedAtMs")],
)
def test_validation_order(arguments: dict[str, object], field: str) -> None:
    """Run id, claimant, token (RS-480)."""
    error = call(claimed(), "run.abandonClaim", **arguments).outcome

    assert isinstance(error, RunStoreError)
    assert (error.code, error.method, error.cause["field"]) == ("invalid_run", "abandonClaim", field)
