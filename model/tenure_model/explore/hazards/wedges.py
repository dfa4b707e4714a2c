"""Row and lease that tell different things, so that nobody gets on: H-01 to H-05."""

from typing import Final

import attrs

from tenure_model.explore.hazards.hazard import Hazard
from tenure_model.explore.hazards.looking import Signs, Stuck, sign
from tenure_model.explore.hazards.places import DELETED, RAW, RIGHT, A
from tenure_model.explore.judging import Transition
from tenure_model.explore.scope import WRITE_LEASE
from tenure_model.semantics.lease import owns
from tenure_model.vocabulary.evidence import LivenessEvidence


def _ownership_lost(taken: Transition) -> bool:
    row = taken.row_after
    return row is not None and row.owner is not None and not owns(taken.step.world, taken.run_id, row.owner)


def _lease_changed(taken: Transition) -> bool:
    return taken.lease_before is not None and taken.lease_before != taken.lease_after


def _names_the_claim(taken: Transition) -> bool:
    """Whether the recovery names the claim that stands on the row, by a reading to which it is stale."""
    row, arguments = taken.row_before, taken.command.arguments
    proof = arguments["evidence"]
    return (
        row is not None
        and row.claim is not None
        and isinstance(proof, LivenessEvidence)
        and (row.claim.claimant, row.claim.claimed_at_ms) == (arguments["staleClaimant"], arguments["claimedAtMs"])
    )


WEDGES: Final = (
    Hazard(
        "H-01",
        "A suspended run is stuck behind the claim of a thief",
        "A thief has stolen and not activated yet when the old owner suspends the run. The suspension clears the claim "
        "from the row and leaves it on the lease: the thief can neither use nor give it up, nobody can recover it, and "
        "whoever claims the run is refused by the lease, for ever.",
        "A transition out of `running` removes any claim from the lease as well, so a suspended run can be claimed.",
        "Clear both claim slots in the transaction of the transition, whoever made the claim.",
        "R-1",
        Stuck(RIGHT),
    ),
    Hazard(
        "H-02",
        "An owner that steals from itself and gives up loses the run",
        "An owner steals its own stale run and abandons the claim. The release takes claim and ownership from the "
        "lease while the row goes on naming the owner: its writes are refused, nobody else can steal, and only this "
        "very process can heal it.",
        "Giving up a claim clears the claim and never the ownership of the same identity.",
        "Let abandoning, and an activation that ends in `SnapshotChanged`, clear the claim slot only.",
        "R-2",
        Signs(
            RIGHT,
            (
                sign(
                    "the row names an owner that the lease does not know",
                    "run.abandonClaim",
                    "Abandoned",
                    A,
                    _ownership_lost,
                ),
            ),
        ),
    ),
    Hazard(
        "H-03",
        "A lease outlives its row",
        "A row is deleted while somebody owns or claims the run, and the id is created again. The lease of the old run "
        "is still there and refuses every claim on the new one, for ever.",
        "Deleting a row deletes its lease.",
        "Remove the lease in the transaction that deletes the row: a trigger, or a foreign key that cascades.",
        "R-3",
        Stuck(attrs.evolve(DELETED, targets=("completed",))),
    ),
    Hazard(
        "H-04",
        "A refused re-own has released the lease already",
        "An owner takes its own stale run again. The lease is released first and then refuses the new claim, because "
        "of a claim that the row does not show: the answer is a loss, and yet the lease is gone and a `released` fact "
        "is recorded. Needs a write past the operations.",
        "A refused re-own changes nothing and records nothing.",
        "Ask the lease before anything is written, or roll back the whole call when it refuses.",
        "R-4",
        Signs(
            attrs.evolve(RAW, operations=frozenset({"run.create", "run.claimAndOwn", WRITE_LEASE})),
            (
                sign(
                    "refused, and the lease is not what it was", "run.claimAndOwn", "SnapshotChanged", A, _lease_changed
                ),
            ),
        ),
    ),
    Hazard(
        "H-05",
        "A claim on the row alone cannot be recovered",
        "The row carries a claim that the lease does not know. Recovering it is refused by the lease, however old the "
        "claim; only its claimant, which may be dead, can clear it. Needs a write past the operations.",
        "The same: no operation leaves such a row, and a claim is never removed on the word of the row alone.",
        "Write claims to row and lease in one transaction only. Repair such a row by hand, with the lease in view.",
        None,
        Signs(
            RAW,
            (
                sign(
                    "stale and named exactly, and yet not recovered",
                    "run.recoverClaim",
                    "ClaimChanged",
                    None,
                    _names_the_claim,
                ),
            ),
        ),
    ),
)
"""H-01 to H-05."""
