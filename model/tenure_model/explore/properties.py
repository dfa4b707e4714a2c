"""What must hold of every step that can be taken, each stated once, in plain words, with the rules it comes from.

A property judges what one step did to one run: the world before, the call, and what the model made of it. That is
enough for histories too: what a step leaves behind is what the next one starts from. The worlds before a step are those
that ``canonical.decode`` writes down, where what a situation does not keep has a fixed value. So a property that speaks
of such a thing compares both sides of the step or, like the token that an ownership grew from, looks where it is set.
Every property can fail: the tests have, for each, a wrong model that breaks it.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import attrs

from tenure_model.semantics.commands import Command
from tenure_model.semantics.predicates import is_stale
from tenure_model.semantics.steps import Outcome, Step
from tenure_model.semantics.wellformed import Standing, replay_facts
from tenure_model.semantics.world import Lease, Run, World
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.outcomes import (
    Abandoned,
    Activated,
    CancelRequested,
    Claimed,
    Recovered,
    Transitioned,
    Updated,
)
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.statuses import is_terminal_run_status


@attrs.frozen
class Transition:
    """A step about to be judged: ``caller`` gave ``command`` to ``before``, and the model answered ``step``.

    ``run_id`` is the run that is looked at, which need not be the one that the command names.
    """

    before: World
    command: Command
    caller: OwnerId
    step: Step
    run_id: str

    @property
    def row_before(self) -> Run | None:
        """The row that the call met."""
        return self.before.runs.get(self.run_id)

    @property
    def row_after(self) -> Run | None:
        """The row that the call left."""
        return self.step.world.runs.get(self.run_id)

    @property
    def lease_before(self) -> Lease | None:
        """The lease that the call met."""
        return self.before.leases.get(self.run_id)

    @property
    def lease_after(self) -> Lease | None:
        """The lease that the call left."""
        return self.step.world.leases.get(self.run_id)


@attrs.frozen
class Property:
    """A name, a sentence, the rules behind it, and the judgement: false where a step breaks it."""

    name: str
    statement: str
    rules: tuple[str, ...]
    holds: Callable[[Transition], bool]


def broken_by(taken: Transition, properties: Sequence[Property]) -> tuple[str, ...]:
    """The names of the properties that a step breaks, on the run it names or on any that it wrote to."""
    others = [attrs.evolve(taken, run_id=run_id) for run_id in _written(taken) if run_id != taken.run_id]
    return tuple([judge.name for judge in properties if not all(map(judge.holds, (taken, *others)))])


def _written(taken: Transition) -> Iterator[str]:
    before, after = taken.before, taken.step.world
    for run_id in {**before.runs, **after.runs, **before.leases, **after.leases}:
        if before.runs.get(run_id) is not after.runs.get(run_id) or (
            before.leases.get(run_id) is not after.leases.get(run_id)
        ):
            yield run_id


def _one_owner(taken: Transition) -> bool:
    row, lease = taken.row_after, taken.lease_after
    owners = {
        owner
        for owner in (
            None if row is None else row.owner,
            None if lease is None or lease.ownership is None else lease.ownership.owner,
        )
        if owner is not None
    }
    return len(owners) <= 1


def _owners_agree(taken: Transition) -> bool:
    row, lease = taken.row_after, taken.lease_after
    held = None if lease is None or lease.ownership is None else lease.ownership
    on_lease = (None, None) if held is None else (held.owner, held.heartbeat_at_ms)
    return on_lease == ((None, None) if row is None else (row.owner, row.heartbeat_at_ms))


def _claims_agree(taken: Transition) -> bool:
    row, lease = taken.row_after, taken.lease_after
    return (None if row is None else row.claim) == (None if lease is None else lease.claim)


def _running_is_owned(taken: Transition) -> bool:
    row = taken.row_after
    return row is None or (row.status == "running") == (row.owner is not None) == (row.heartbeat_at_ms is not None)


def _terminal_stays(taken: Transition) -> bool:
    old, new = taken.row_before, taken.row_after
    if old is None or new is None or not is_terminal_run_status(old.status):
        return True
    return (new.status, new.finished_at_ms, new.state_json) == (old.status, old.finished_at_ms, old.state_json)


def _stamp_never_falls(taken: Transition) -> bool:
    old, new = taken.row_before, taken.row_after
    if old is None or new is None or old.owner != new.owner:
        return True
    if old.heartbeat_at_ms is None or new.heartbeat_at_ms is None or new.heartbeat_at_ms >= old.heartbeat_at_ms:
        return True
    return taken.command.operation == "run.activate" and old.claim is not None and old.claim.claimant == old.owner


def _written_once(taken: Transition) -> bool:
    old, new = taken.row_before, taken.row_after
    if old is None or new is None:
        return True
    return (old.cancel_requested_at_ms is None or old.cancel_requested_at_ms == new.cancel_requested_at_ms) and (
        old.acknowledgement is None or old.acknowledgement == new.acknowledgement
    )


def _no_theft(taken: Transition) -> bool:
    old, new, command = taken.row_before, taken.row_after, taken.command
    if old is None or new is None:
        return True
    if new.claim is not None and new.claim == old.claim:
        # Whoever came in under a claim that stays could be replaced by it without ever having been stale.
        return new.owner is None or new.owner == old.owner
    if old.owner is None:
        return True
    if new.claim is not None:
        return is_stale(old.heartbeat_at_ms, new.claim.claimed_at_ms)
    if new.owner == old.owner:
        return True
    if new.owner is None:
        return command.operation == "run.transitionOwned" and taken.caller == old.owner
    if old.claim is not None:
        return old.claim.claimant == new.owner
    return is_stale(old.heartbeat_at_ms, _reading(command))


def _claims_end_well(taken: Transition) -> bool:
    old, new, command = taken.row_before, taken.row_after, taken.command
    if old is None or new is None or old.claim is None or new.claim == old.claim:
        return True
    if new.claim is not None:
        return False
    return (
        taken.caller == old.claim.claimant
        or (command.operation == "run.transitionOwned" and taken.caller == old.owner)
        or (command.operation == "run.recoverClaim" and is_stale(old.claim.claimed_at_ms, _reading(command)))
    )


def _reading(command: Command) -> int:
    """The reading that a call brought, a time before any stamp where it brought none."""
    now_ms = command.arguments.get("nowMs")
    return now_ms if isinstance(now_ms, int) else 0


def _fenced(taken: Transition) -> bool:
    if taken.step.world is taken.before:
        return True
    row, lease = taken.row_before, taken.lease_before
    by_row = row is not None and row.owner == taken.caller
    by_lease = lease is not None and lease.ownership is not None and lease.ownership.owner == taken.caller
    match taken.command.operation:
        case "run.transitionOwned":
            return by_row and by_lease
        case "run.heartbeat" | "run.reconfirm":
            return by_lease
        case "run.acknowledgeCancel":
            return by_row
        case _:
            return True


def _revision_grows(taken: Transition) -> bool:
    before, after = taken.before, taken.step.world
    if after is before:
        return True
    if after.revision < before.revision:
        return False
    changed = [run_id for run_id in {**before.runs, **after.runs} if before.runs.get(run_id) != after.runs.get(run_id)]
    spent = [change.revision for run_id in changed if (change := after.changes.get(run_id)) is not None]
    return len(set(spent)) == len(changed) and all(before.revision < revision <= after.revision for revision in spent)


def _facts_tell(taken: Transition) -> bool:
    if taken.command.operation.startswith("row."):
        return True
    told, tells = (world.facts.get(taken.run_id, ()) for world in (taken.before, taken.step.world))
    new = tells[len(told) :]
    if tells[: len(told)] != told or replay_facts((*_as_facts(taken.run_id, taken.lease_before), *new)) != _standing(
        taken.lease_after
    ):
        return False
    granted = [fact.granted_at_ms for fact in new if fact.transition == "activated"]
    lease = taken.lease_after
    return not granted or lease is None or lease.ownership is None or lease.ownership.granted_at_ms == granted[-1]


def _standing(lease: Lease | None) -> Standing:
    if lease is None:
        return Standing(None, None)
    return Standing(None if lease.ownership is None else lease.ownership.owner, lease.claim)


def _as_facts(run_id: str, lease: Lease | None) -> tuple[OwnershipFact, ...]:
    """The shortest facts that tell of this lease: what any history that led to it amounts to."""
    told = []
    if lease is not None and lease.ownership is not None:
        told.append(OwnershipFact(run_id, "activated", lease.ownership.owner, lease.ownership.granted_at_ms))
    if lease is not None and lease.claim is not None:
        told.append(OwnershipFact(run_id, "claimed", lease.claim.claimant, lease.claim.claimed_at_ms))
    return tuple(told)


GRANTS: Final = (Claimed, Activated, Abandoned, Recovered, Updated, Transitioned, CancelRequested)
"""The outcomes that say something was written."""


def says_written(outcome: Outcome) -> bool:
    """Whether the answer says that something was written: a grant, ``true``, or the silence of ``create``."""
    return outcome is None or outcome is True or isinstance(outcome, GRANTS)


def _answers_tell(taken: Transition) -> bool:
    wrote = taken.step.world is not taken.before
    if says_written(taken.step.outcome):
        return wrote
    return not wrote or _gives_up(taken)


def _gives_up(taken: Transition) -> bool:
    """Whether the caller's own claim, which it presented, goes from the row and nothing else does."""
    old, command = taken.row_before, taken.command
    return (
        command.operation == "run.activate"
        and old is not None
        and old.claim is not None
        and (old.claim.claimant, old.claim.claimed_at_ms) == (taken.caller, command.arguments.get("claimedAtMs"))
        and taken.row_after == attrs.evolve(old, claim=None)
    )


STEP_PROPERTIES: Final = (
    Property(
        "one-owner",
        "At most one identity passes any fence of a run: row and lease never name two owners.",
        ("RS-1000",),
        _one_owner,
    ),
    Property(
        "owners-agree",
        "Row and lease name the same owner with the same stamp, or neither names any.",
        ("RS-213",),
        _owners_agree,
    ),
    Property(
        "claims-agree",
        "A claim is all or nothing: it stands on row and lease with one claimant and one token, or on neither.",
        ("RS-213", "RS-1000"),
        _claims_agree,
    ),
    Property(
        "running-is-owned",
        "A run is running exactly while it has an owner, and exactly while it has a heartbeat.",
        ("RS-1000",),
        _running_is_owned,
    ),
    Property(
        "terminal-stays",
        "A settled run keeps its status, its end and its state for ever.",
        ("RS-1005",),
        _terminal_stays,
    ),
    Property(
        "stamp-never-falls",
        "Under one ownership the stamp never falls, unless the owner activates a claim on its own run.",
        ("RS-1003",),
        _stamp_never_falls,
    ),
    Property(
        "written-once",
        "A cancellation request and its acknowledgement are written once.",
        ("RS-1004",),
        _written_once,
    ),
    Property(
        "no-theft",
        "No owner is replaced without a release, or a stamp that the taker's reading found stale when it claimed.",
        ("RS-1002",),
        _no_theft,
    ),
    Property(
        "claims-end-well",
        "A claim ends by its claimant, by the owner who stops the run, or once it is stale, and is never replaced.",
        ("RS-202", "RS-480", "RS-486", "RS-503"),
        _claims_end_well,
    ),
    Property(
        "fenced",
        "A fenced write lands only under the owner of that instant: by lease, by row, or for a transition by both.",
        ("RS-1001", "RS-210", "RS-441"),
        _fenced,
    ),
    Property(
        "revision-grows",
        "Whatever changes a row spends a revision of its own, higher than any before.",
        ("RS-1006",),
        _revision_grows,
    ),
    Property(
        "facts-tell",
        "Facts are only added, and those that tell of a lease with those of a step tell of the lease after it.",
        ("RS-1007",),
        _facts_tell,
    ),
    Property(
        "answers-tell",
        "A grant was written and a refusal writes nothing, but for activate, whose refusal gives up just its claim.",
        ("RS-364", "RS-472", "RS-473"),
        _answers_tell,
    ),
)
"""Every property of one step, in the order in which a step is judged."""
