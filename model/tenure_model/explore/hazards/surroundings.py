"""What stands around the operations: attempts, revisions, strategies, facts, transactions, the language. H-22 to H-26
and H-30.
"""

from typing import Final

import attrs

from tenure_model.explore.hazards import demonstrations
from tenure_model.explore.hazards.hazard import Hazard
from tenure_model.explore.hazards.looking import Signs, sign
from tenure_model.explore.hazards.places import RAW, RIGHT, STILL, A, B
from tenure_model.explore.judging import Transition
from tenure_model.explore.scope import WRITE_LEASE, owner_name
from tenure_model.explore.traces import Trace
from tenure_model.semantics.predicates import is_stale, row_is
from tenure_model.vocabulary.runs import RunSnapshot


def _moves_the_revision_only(taken: Transition) -> bool:
    before, after = taken.before, taken.step.world
    return after.revision > before.revision and (after.runs, after.leases) == (before.runs, before.leases)


def _revisions(trace: Trace) -> tuple[str, ...]:
    before, after = (moment.world.revision for moment in trace.moments[-2:])
    return (f"The source's revision went from {before} to {after}.",)


def _lease_forgotten(taken: Transition) -> bool:
    row = taken.row_before
    return row is not None and row.owner == A and taken.lease_after is None


def _everything_speaks_for_it(taken: Transition) -> bool:
    row, arguments = taken.row_before, taken.command.arguments
    expected, now_ms = arguments["expected"], arguments["nowMs"]
    return (
        row is not None
        and isinstance(expected, RunSnapshot)
        and isinstance(now_ms, int)
        and row_is(row, expected)
        and is_stale(row.heartbeat_at_ms, now_ms)
    )


def _ends_a_claim(taken: Transition) -> bool:
    old, new = taken.row_before, taken.row_after
    return old is not None and old.claim is not None and new is not None and new.claim is None


def _facts(trace: Trace) -> tuple[str, ...]:
    facts = trace.moments[-1].world.facts["r"]
    told = ", ".join(f"{fact.transition} {owner_name(fact.owner)}" for fact in facts)
    return (f"Facts, oldest first: {told}.",)


SURROUNDINGS: Final = (
    Hazard(
        "H-22",
        "A `put` that is repeated after the attempt has moved",
        what_happens=(
            "The same `put` again is `ExistingSame` only while nothing has moved: after a heartbeat it is `Conflict`. "
            "In the mode `upsert` it is worse, since it silently resets heartbeat, checkpoint, error and outcome. A "
            "patch may rewrite the outcome of a finished attempt while the run is running."
        ),
        reference_does="The same.",
        port_must="Answer a `Conflict` by reading, and use `upsert` only where starting over is meant.",
        repaired_by=None,
        evidence=demonstrations.repeated_put,
    ),
    Hazard(
        "H-23",
        "Every beat writes to one row",
        what_happens=(
            "Each heartbeat of each run moves the revision of the source, a single row that all writers share, even "
            "where it moves nothing else. If that row is lost, or its number used up, no run can be written any more."
        ),
        reference_does="The same: whoever follows changes sees every beat.",
        port_must="Expect one revision a second for each run, and read changes by pages.",
        repaired_by=None,
        evidence=Signs(
            STILL,
            (sign("nothing but the revision", "run.heartbeat", "Updated", A, _moves_the_revision_only),),
            remarks=_revisions,
        ),
    ),
    Hazard(
        "H-24",
        "Leases in memory",
        what_happens=(
            "A strategy that keeps leases in memory takes no part in transactions, and loses them when its process "
            "ends. After a restart every running row is without a lease: its owner's writes are refused, and nobody "
            "can steal it, however stale."
        ),
        reference_does="The same: a lease that is gone is nobody's, and a steal needs an ownership to speak of.",
        port_must="Use such a strategy for tests only, and never beside a database that outlives it.",
        repaired_by=None,
        evidence=Signs(
            attrs.evolve(RAW, operations=frozenset({"run.create", "run.claimAndOwn", "run.steal", WRITE_LEASE})),
            (
                sign("a restart forgets the lease", WRITE_LEASE, "ok", A, _lease_forgotten),
                sign(
                    "as expected, stale, evidence, and no", "run.steal", "SnapshotChanged", B, _everything_speaks_for_it
                ),
            ),
        ),
    ),
    Hazard(
        "H-25",
        "Facts do not tell everything",
        what_happens=(
            "Facts are an account beside the lease. A store without a recorder writes none, and a claim that goes with "
            "a transition, or with an activation that the lease refuses, goes without one."
        ),
        reference_does="The same: a `released` fact without a token stands for the end of ownership and of any claim.",
        port_must="Decide by the lease, and read facts as history only.",
        repaired_by=None,
        evidence=Signs(
            RIGHT,
            (
                sign("a claim to come", "run.steal", "Claimed", B),
                sign(
                    "the row's claim is gone, and no fact says so",
                    "run.transitionOwned",
                    "Transitioned",
                    A,
                    _ends_a_claim,
                ),
            ),
            remarks=_facts,
        ),
    ),
    Hazard(
        "H-26",
        "An answer from outside a transaction",
        what_happens=(
            "A takeover without evidence is answered from a plain read. It does not wait for a writer, so it may be "
            "out of date when it arrives: harmless, since it grants nothing."
        ),
        reference_does="The same.",
        port_must="Take `EvidenceRequired` as advice to look, not as proof that the owner was stale.",
        repaired_by=None,
        evidence=demonstrations.answered_beside_a_writer,
    ),
    Hazard(
        "H-30",
        "What Python lets through",
        what_happens=(
            "`True` is an integer, floats without a fraction and beyond 2**53 pass for whole numbers, `NaN` is read "
            "from JSON by default. Of the database: foreign keys are off unless asked for, and a transaction that "
            "reads before it writes may fail to become a writer."
        ),
        reference_does=(
            "Integers are exact `int` within range, JSON is read and written strictly, transactions begin as writers, "
            "foreign keys are on."
        ),
        port_must="Look for the like in its own language and database.",
        repaired_by=None,
        evidence=demonstrations.odd_values,
    ),
)
"""H-22 to H-26, H-30."""
