"""What a fence asks, and what it does not: identity and not age, one authority and not both. H-06 to H-08, H-17, H-27,
H-29 and H-31.
"""

from typing import Final

import attrs

from tenure_model.explore.hazards.hazard import Hazard
from tenure_model.explore.hazards.looking import Signs, sign
from tenure_model.explore.hazards.places import RAW, RIGHT, STILL, A, B
from tenure_model.explore.judging import Transition
from tenure_model.explore.scope import WRITE_ROW
from tenure_model.semantics.lease import owns
from tenure_model.semantics.predicates import is_stale
from tenure_model.vocabulary.runs import SUSPENDED


def _row_alone_is_the_callers(taken: Transition) -> bool:
    row = taken.row_before
    return row is not None and row.owner == taken.caller and not owns(taken.before, taken.run_id, taken.caller)


def _is_suspended(taken: Transition) -> bool:
    return taken.row_before is not None and taken.row_before.status == "suspended"


def _expects_suspended(taken: Transition) -> bool:
    return taken.command.arguments["expected"] == SUSPENDED


def _renews_the_lease(taken: Transition) -> bool:
    return taken.lease_before is not None and taken.lease_before != taken.lease_after


def _stamp_is_stale(taken: Transition) -> bool:
    row = taken.row_before
    return row is not None and is_stale(row.heartbeat_at_ms, int(taken.command.clock_ms))


def _settles(taken: Transition) -> bool:
    return taken.command.arguments["toStatus"] == "completed"


def _owner_is_fresh(taken: Transition) -> bool:
    row = taken.row_before
    return row is not None and row.owner == A and not _stamp_is_stale(taken)


def _row_changes_hands(taken: Transition) -> bool:
    old, new = taken.row_before, taken.row_after
    return old is not None and new is not None and (old.owner, new.owner) == (A, B) and _stamp_is_stale(taken)


FENCES: Final = (
    Hazard(
        "H-06",
        "Two authorities",
        what_happens=(
            "Attempts and acknowledgements ask the row who owns the run, everything else asks the lease as well. "
            "Wherever the two differ, an owner goes on writing attempts that every other fence has cut off."
        ),
        reference_does="The same two questions; but without raw writes row and lease never differ.",
        port_must="Keep row and lease equal after every transaction, or ask both in every fence.",
        repaired_by=None,
        evidence=Signs(
            RIGHT,
            (
                sign("the lease refuses", "run.heartbeat", "FenceLost", A, _row_alone_is_the_callers),
                sign("the row lets pass", "run.acknowledgeCancel", "true", A, _row_alone_is_the_callers),
            ),
        ),
    ),
    Hazard(
        "H-07",
        "No generation in the fence",
        what_happens=(
            "A claim is told from another by claimant and millisecond, an owner by its identity alone. Who claims, "
            "gives up and claims again within a millisecond holds the same token, and a late repeat of what was meant "
            "for the first claim hits the second; a write from before a re-own passes after it."
        ),
        reference_does="The same: tokens and identities are as recorded.",
        port_must=(
            "Never have two calls for one claim under way at once, and never repeat one after a newer claim. A new "
            "incarnation takes a new nonce."
        ),
        repaired_by=None,
        evidence=Signs(
            STILL,
            (
                sign("the first claim", "run.claim", "Claimed", A),
                sign("given up", "run.abandonClaim", "Abandoned", A),
                sign("the second claim, the same token", "run.claim", "Claimed", A),
                sign("the same call again ends the second claim", "run.abandonClaim", "Abandoned", A),
            ),
        ),
    ),
    Hazard(
        "H-08",
        "A snapshot that comes back",
        what_happens=(
            "A snapshot of a run that is not running has no version. A run that was run and suspended again is like "
            "the one that was read before, so a claim passes whose caller knows nothing of what happened meanwhile; "
            "and the state of a run is part of no snapshot at all."
        ),
        reference_does="The same: a snapshot is status, owner and stamp.",
        port_must="Read the state again after activation, and decide by what is read then.",
        repaired_by=None,
        evidence=Signs(
            STILL,
            (
                sign("what the claim will expect", "run.get", "ok", B, _is_suspended),
                sign("run again meanwhile", "run.claimAndOwn", "Activated", A),
                sign("and as expected", "run.claim", "Claimed", B, _expects_suspended),
            ),
        ),
    ),
    Hazard(
        "H-17",
        "A refused beat that renews",
        what_happens=(
            "The row was moved past the lease. A heartbeat renews the lease first and then finds the row another's: "
            "the answer is `FenceLost`, the renewal stays, and the lease is kept from everybody else."
        ),
        reference_does="The same; a deleted row no longer leads to it, since the lease goes with the row.",
        port_must="Stop beating at the first `FenceLost`.",
        repaired_by=None,
        evidence=Signs(
            attrs.evolve(RAW, operations=frozenset({"run.create", "run.claimAndOwn", "run.heartbeat", WRITE_ROW})),
            (sign("refused, and the lease is renewed", "run.heartbeat", "FenceLost", A, _renews_the_lease),),
        ),
    ),
    Hazard(
        "H-27",
        "Processes that know of no lease",
        what_happens=(
            "A process of an older version takes a stale run by writing the row alone. The lease still names the old "
            "owner, so neither of the two gets a heartbeat through, while attempts are written by the new one."
        ),
        reference_does="The same: a row written past the lease is not believed by the lease.",
        port_must="Stop every process of the older version before the first of the newer starts.",
        repaired_by=None,
        evidence=Signs(
            attrs.evolve(RAW, operations=frozenset({"run.create", "run.claimAndOwn", "run.heartbeat", WRITE_ROW})),
            (
                sign("taken on the row alone", WRITE_ROW, "true", B, _row_changes_hands),
                sign("the new owner is refused", "run.heartbeat", "FenceLost", B),
                sign("and so is the old one", "run.heartbeat", "FenceLost", A),
            ),
        ),
    ),
    Hazard(
        "H-29",
        "Expired is not fenced",
        what_happens=(
            "Every fence asks who, never how old. An owner whose lease ran out an hour ago and whom nobody replaced "
            "may beat, which revives the lease, and may settle the run; the thief between steal and activation then "
            "finds the snapshot changed."
        ),
        reference_does="The same. It is safe: there is one owner at any instant.",
        port_must="Never take `stale` for `lost`, and expect `SnapshotChanged` after a successful steal.",
        repaired_by=None,
        evidence=Signs(
            attrs.evolve(RIGHT, name="right clocks, an hour passes", advances=(3_600_000,)),
            (
                sign("the steal is granted", "run.steal", "Claimed", B),
                sign("an hour late, and still the owner", "run.heartbeat", "Updated", A, _stamp_is_stale),
                sign("and settles the run under the thief's eyes", "run.transitionOwned", "Transitioned", A, _settles),
            ),
        ),
    ),
    Hazard(
        "H-31",
        "Activation by a snapshot read again",
        what_happens=(
            "Staleness and evidence are looked at when a run is stolen, not when the claim is activated. If the owner "
            "beats in between and the thief reads the run again and activates by that, it takes the run from an owner "
            "that is alive and fresh."
        ),
        reference_does=(
            "The same: the store cannot know where a snapshot comes from. `claimAndOwn` looks and takes in one "
            "transaction, and leaves no gap."
        ),
        port_must="Activate with the snapshot that the steal was granted by, and make that the easy way.",
        repaired_by=None,
        evidence=Signs(RIGHT, (sign("the owner's stamp is fresh", "run.activate", "Activated", B, _owner_is_fresh),)),
    ),
)
"""H-06, H-07, H-08, H-17, H-27, H-29, H-31."""
