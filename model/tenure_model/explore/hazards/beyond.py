"""What the search shows beyond the hazards that the rules list: H-32 to H-37."""

from typing import Final

import attrs

from tenure_model.explore.hazards.hazard import Hazard
from tenure_model.explore.hazards.looking import Signs, sign
from tenure_model.explore.hazards.places import DELETED, JUST_STALE_MS, RAW, RIGHT, STILL, A, B
from tenure_model.explore.judging import Transition
from tenure_model.explore.scope import DELETE, WRITE_LEASE, Participant, honest, owner_name
from tenure_model.explore.traces import Trace
from tenure_model.semantics.predicates import is_stale
from tenure_model.vocabulary.constants import HEARTBEAT_SKEW_ALLOWANCE_MS
from tenure_model.vocabulary.runs import PENDING

_HOUR_MS: Final = 3_600_000


def _of_b(taken: Transition) -> bool:
    """Whether the recovery names the claim that stands, which is b1's."""
    row, arguments = taken.row_before, taken.command.arguments
    named = arguments["staleClaimant"], arguments["claimedAtMs"]
    return row is not None and row.claim is not None and named == (B, row.claim.claimed_at_ms)


def _an_hour_old(taken: Transition) -> bool:
    """Whether the claim's token is what the clock shows now: it was made an hour ago, by a clock an hour fast."""
    return _of_b(taken) and taken.command.arguments["claimedAtMs"] == taken.command.clock_ms


def _claimed_by_itself(taken: Transition) -> bool:
    row = taken.row_before
    return row is not None and row.claim is not None and row.claim.claimant == row.owner == taken.caller


def _on_a_free_row(taken: Transition) -> bool:
    """Whether the lease has a claim now, beside a row that nobody owns or claims."""
    row, lease = taken.row_after, taken.lease_after
    return row is not None and row.owner is None and row.claim is None and lease is not None and lease.claim is not None


def _as_expected(taken: Transition) -> bool:
    row = taken.row_before
    return (
        row is not None
        and row.status == "pending"
        and row.claim is None
        and (taken.command.arguments["expected"] == PENDING)
    )


def _of_the_lease(taken: Transition) -> bool:
    """Whether the recovery names the claim that the lease has, by a reading to which it is stale."""
    lease, arguments = taken.lease_before, taken.command.arguments
    if lease is None or lease.claim is None:
        return False
    named = arguments["staleClaimant"], arguments["claimedAtMs"]
    stale = is_stale(lease.claim.claimed_at_ms, int(taken.command.clock_ms))
    return named == (lease.claim.claimant, lease.claim.claimed_at_ms) and stale


def _moves_nothing(taken: Transition) -> bool:
    return taken.row_before == taken.row_after and _as_stolen(taken)


def _as_stolen(taken: Transition) -> bool:
    """Whether the owner's stamp is still one that was stale at the steal, whose reading is the claim's token."""
    row = taken.row_before
    return (
        row is not None
        and row.owner == A
        and row.claim is not None
        and is_stale(row.heartbeat_at_ms, row.claim.claimed_at_ms)
    )


def _falls(taken: Transition) -> bool:
    """Whether the owner stays and its stamp falls."""
    old, new = taken.row_before, taken.row_after
    if old is None or new is None or old.heartbeat_at_ms is None or new.heartbeat_at_ms is None:
        return False
    return old.owner == new.owner and new.heartbeat_at_ms < old.heartbeat_at_ms


def _facts(trace: Trace) -> tuple[str, ...]:
    facts = trace.moments[-1].world.facts["r"]
    told = ", ".join(f"{fact.transition} {owner_name(fact.owner)}" for fact in facts)
    return (f"Facts of r, oldest first: {told}.",)


BEYOND: Final = (
    Hazard(
        "H-32",
        "Facts outlive the row",
        what_happens=(
            "An owned run is deleted and its id created again. No fact tells of either, so whoever follows facts goes "
            "on believing that the old owner owns what is a new run that nobody has."
        ),
        reference_does="The same: the lease goes with the row, the facts stay as they are.",
        port_must="Take a tombstone in the changes for the end of ownership, and read facts from there on only.",
        repaired_by=None,
        evidence=Signs(
            DELETED,
            (
                sign("owned", "run.claimAndOwn", "Activated", A),
                sign("deleted", DELETE, "true"),
                sign("and there again", "run.create", "ok"),
            ),
            remarks=_facts,
        ),
    ),
    Hazard(
        "H-33",
        "The claim of a fast clock stays",
        what_happens=(
            "A claim's token is the claimant's reading, checked by its own clock alone. If that clock is an hour fast "
            "and the claimant dies, the claim is fresh to everybody else for an hour and more: it cannot be recovered, "
            "the run cannot be taken, and an owner that it stands beside cannot reconfirm."
        ),
        reference_does="The same: age is counted from the token.",
        port_must="Watch the clocks of hosts: only its claimant, or time, removes a claim from the future.",
        repaired_by=None,
        evidence=Signs(
            attrs.evolve(
                RIGHT,
                name="b1's clock is an hour fast, an hour passes",
                participants=(Participant(A, honest(0)), Participant(B, honest(_HOUR_MS))),
                advances=(_HOUR_MS,),
            ),
            (
                sign("the claimant, and its last call", "run.claim", "Claimed", B),
                sign("an hour old, and fresh", "run.recoverClaim", "ClaimFresh", A, _an_hour_old),
            ),
        ),
    ),
    Hazard(
        "H-34",
        "An owner that steals from itself stops its own work",
        what_happens=(
            "An owner may steal its own stale run; evidence that it is dead is believed from its own mouth. While that "
            "claim is pending its beats pass and its reconfirm is refused, as beside any thief, so that its own "
            "supervision stops healthy work."
        ),
        reference_does="The same; giving up the claim no longer loses the run (H-02).",
        port_must="Take an own stale run by `claimAndOwn`, which leaves no claim pending.",
        repaired_by=None,
        evidence=Signs(
            RIGHT,
            (
                sign("from itself", "run.steal", "Claimed", A),
                sign("a beat passes", "run.heartbeat", "Updated", A, _claimed_by_itself),
                sign("refused for its own claim", "run.reconfirm", "FenceLost", A, _claimed_by_itself),
            ),
        ),
    ),
    Hazard(
        "H-35",
        "A claim on the lease alone bars everybody",
        what_happens=(
            "The mirror of H-05: the lease has a claim that the row does not know. The run looks free, and whoever "
            "claims it is refused by the lease; recovering asks the row first, which has no such claim. Needs a write "
            "past the operations."
        ),
        reference_does="The same: no operation leaves such a lease.",
        port_must="Write claims to row and lease in one transaction only, and repair such a lease by hand.",
        repaired_by=None,
        evidence=Signs(
            attrs.evolve(RAW, operations=frozenset({"run.create", "run.claim", "run.recoverClaim", WRITE_LEASE})),
            (
                sign("on the lease alone", WRITE_LEASE, "ok", B, _on_a_free_row),
                sign("free, as expected, and no", "run.claim", "SnapshotChanged", A, _as_expected),
                sign("nor can the claim be recovered", "run.recoverClaim", "ClaimChanged", A, _of_the_lease),
            ),
        ),
    ),
    Hazard(
        "H-36",
        "A beat that moves nothing does not stop a thief",
        what_happens=(
            "What stops a thief that activates with its own snapshot is a stamp that moved. If the clocks are so far "
            "apart that the owner's reading is not past a stamp which is stale to the thief, the owner's beat is "
            "answered `Updated`, moves nothing, and the thief activates all the same."
        ),
        reference_does=(
            "The same. The two readings must differ by more than 30,000 ms: with clocks off by 10,000 at most, either "
            "way, and readings 10,000 ahead at most, no history shows it."
        ),
        port_must="Keep clocks within the allowance; `Updated` says that the lease was held, not for how long.",
        repaired_by=None,
        evidence=Signs(
            attrs.evolve(
                STILL,
                name="b1's clock is 30,001 ms ahead",
                participants=(Participant(A, honest(0)), Participant(B, honest(JUST_STALE_MS))),
            ),
            (
                sign("the steal", "run.steal", "Claimed", B),
                sign("the owner beats, and nothing moves", "run.heartbeat", "Updated", A, _moves_nothing),
                sign("by the snapshot of the steal", "run.activate", "Activated", B, _as_stolen),
            ),
        ),
    ),
    Hazard(
        "H-37",
        "An activation takes back its owner's renewal",
        what_happens=(
            "Under one ownership a stamp never falls, but an activation replaces it, whoever owned before. An owner "
            "that steals from itself, beats, and activates by a snapshot read again, in a call that waited for the "
            "database or by a clock that was set back, moves the stamp behind that beat: its budget goes on counting "
            "from the beat, its peers from the activation."
        ),
        reference_does="The same: the stamp of an activation is what the clock showed when the call began.",
        port_must="Take an own stale run by `claimAndOwn`, which a beat in between refuses.",
        repaired_by=None,
        evidence=Signs(
            attrs.evolve(
                RIGHT,
                name="a1's writes may land 10,000 ms after it reads its clock",
                participants=(Participant(A, honest(0, -HEARTBEAT_SKEW_ALLOWANCE_MS)),),
            ),
            (
                sign("from itself", "run.steal", "Claimed", A),
                sign("renewed", "run.heartbeat", "Updated", A, _claimed_by_itself),
                sign("and taken back", "run.activate", "Activated", A, _falls),
            ),
        ),
    ),
)
"""H-32 to H-37."""
