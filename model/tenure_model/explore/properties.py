"""What must hold of every step that can be taken, each stated once, in plain words, with the rules it comes from.

A property judges what one step did to one run: the world before, the call, and what the model made of it. That is
enough for histories too: what a step leaves behind is what the next one starts from. The worlds before a step are those
that ``canonical.decode`` writes down, where what a situation does not keep has a fixed value. So a property that speaks
of such a thing compares both sides of the step or, like the token that an ownership grew from, looks where it is set.
What one property demands is taken for granted by the others. Every property can fail: the tests have, for each, a wrong
model that breaks it.
"""

from typing import Final

import attrs

from tenure_model.explore.judging import Property, Transition, says_written
from tenure_model.semantics.commands import Command
from tenure_model.semantics.predicates import is_stale, matches_evidence
from tenure_model.semantics.wellformed import Standing, replay_facts
from tenure_model.semantics.world import Claim, Lease
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.outcomes import (
    Activated,
)
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import TransitionGuard
from tenure_model.vocabulary.statuses import is_terminal_run_status


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


def _rows_stay(taken: Transition) -> bool:
    if taken.row_before is None:
        return taken.row_after is None or taken.command.operation == "run.create"
    return taken.row_after is not None or taken.command.operation == "row.delete"


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
    return taken.command.operation == "run.activate"


def _written_once(taken: Transition) -> bool:
    old, new = taken.row_before, taken.row_after
    if old is None or new is None:
        return True
    return (old.cancel_requested_at_ms is None or old.cancel_requested_at_ms == new.cancel_requested_at_ms) and (
        old.acknowledgement is None or old.acknowledgement == new.acknowledgement
    )


def _owners_come_in(taken: Transition) -> bool:
    old, new, command = taken.row_before, taken.row_after, taken.command
    if not isinstance(taken.step.outcome, Activated) and (
        new is None or new.owner is None or (old is not None and new.owner == old.owner)
    ):
        return True
    match command.operation:
        case "run.activate":
            stood, token_ms = taken.lease_before, command.arguments.get("claimedAtMs")
            if old is None or not _is_claim(old.claim, taken.caller, token_ms):
                return False
            if stood is None or not _is_claim(stood.claim, taken.caller, token_ms):
                return False
        case "run.claimAndOwn":
            token_ms = command.arguments.get("nowMs")
        case _:
            return False
    held = None if taken.lease_after is None else taken.lease_after.ownership
    return (
        new is not None
        and (new.owner, new.claim) == (taken.caller, None)
        and (held is None or held.granted_at_ms == token_ms)
    )


def _no_theft(taken: Transition) -> bool:
    old, new, command = taken.row_before, taken.row_after, taken.command
    if old is None or new is None or old.owner is None:
        return True
    if new.claim is not None and new.claim != old.claim:
        return is_stale(old.heartbeat_at_ms, _reading(command))
    if new.owner == old.owner:
        return True
    if new.owner is None:
        return command.operation == "run.transitionOwned"
    # The claim that an owner comes in by was judged when it was made, and the stamp may have moved since (RS-475).
    return old.claim is not None or is_stale(old.heartbeat_at_ms, _reading(command))


def _claims_begin_well(taken: Transition) -> bool:
    old, new, command = taken.row_before, taken.row_after, taken.command
    if new is None or new.claim is None or (old is not None and new.claim == old.claim):
        return True
    return command.operation in ("run.claim", "run.steal") and _is_claim(
        new.claim, taken.caller, command.arguments.get("nowMs")
    )


def _claims_end_well(taken: Transition) -> bool:
    old, new, command = taken.row_before, taken.row_after, taken.command
    if old is None or new is None or old.claim is None or new.claim == old.claim:
        return True
    token_ms = command.arguments.get("claimedAtMs")
    match command.operation:
        case "run.activate" | "run.abandonClaim":
            return _is_claim(old.claim, taken.caller, token_ms)
        case "run.recoverClaim":
            return _is_claim(old.claim, command.arguments.get("staleClaimant"), token_ms) and is_stale(
                old.claim.claimed_at_ms, _reading(command)
            )
        case "run.transitionOwned":
            return new.status != "running"
        case _:
            return False


def _is_claim(claim: Claim | None, claimant: object, token_ms: object) -> bool:
    return claim is not None and (claim.claimant, claim.claimed_at_ms) == (claimant, token_ms)


def _evidence_first(taken: Transition) -> bool:
    about, evidence = _set_aside(taken), taken.command.arguments.get("evidence")
    return about is None or (
        isinstance(evidence, LivenessEvidence)
        and matches_evidence(about, taken.caller, _reading(taken.command), evidence)
    )


def _set_aside(taken: Transition) -> OwnerId | None:
    """Who is claimed against or replaced as an owner, or cleared away as a claimant, other than by a claim that stood.

    A thief needs evidence about its own stale run as well; who takes its own over at once does not (RS-466, RS-513).
    """
    old, new = taken.row_before, taken.row_after
    if old is None or new is None:
        return None
    if old.claim is not None:
        cleared = new.claim is None and taken.command.operation == "run.recoverClaim"
        return old.claim.claimant if cleared else None
    return old.owner if new.claim is not None or new.owner not in (None, old.owner) else None


def _guarded(taken: Transition) -> bool:
    old, guard = taken.row_before, taken.command.arguments.get("guard")
    if old is None or taken.row_after == old or not isinstance(guard, TransitionGuard):
        return True
    return guard.cancel_requested == ("absent" if old.cancel_requested_at_ms is None else "present")


def _reading(command: Command) -> int:
    """The reading that a call brought, a time before any stamp where it brought none."""
    now_ms = command.arguments.get("nowMs")
    return now_ms if isinstance(now_ms, int) else 0


def _fenced(taken: Transition) -> bool:
    """Attempt writes, which RS-1001 names too, are in no scope: ``tests/differential`` holds them to the fence."""
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
    if after.revision < before.revision:
        return False
    changed = [run_id for run_id in {**before.runs, **after.runs} if before.runs.get(run_id) != after.runs.get(run_id)]
    spent = [change.revision for run_id in changed if (change := after.changes.get(run_id)) is not None]
    return len(set(spent)) == len(changed) and all(before.revision < revision <= after.revision for revision in spent)


def _facts_tell(taken: Transition) -> bool:
    if taken.command.operation.startswith("row."):
        return True
    told, tells = (world.facts.get(taken.run_id, ()) for world in (taken.before, taken.step.world))
    met, new = _as_facts(taken.run_id, taken.lease_before), tells[len(told) :]
    if tells[: len(told)] != told or replay_facts((*met, *new)) != _standing(taken.lease_after):
        return False
    lease = taken.lease_after
    held = None if lease is None else lease.ownership
    for place, fact in enumerate(new):
        if fact.transition == "activated":
            spent = replay_facts((*met, *new[:place])).claim
            if not _is_claim(spent, fact.owner, fact.granted_at_ms):
                return False
            if held is not None and held.granted_at_ms != fact.granted_at_ms:
                return False
    return True


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
        and _is_claim(old.claim, taken.caller, command.arguments.get("claimedAtMs"))
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
        "rows-stay",
        "Only create makes a row, and no operation of the store removes one.",
        ("RS-401", "RS-520"),
        _rows_stay,
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
        "owners-come-in",
        "An owner comes in by its own claim, that stood on row and lease and is spent, or claims at that reading.",
        ("RS-203", "RS-465", "RS-471", "RS-1002"),
        _owners_come_in,
    ),
    Property(
        "no-theft",
        "No owner is replaced without a release, or a stamp that the taker's reading found stale when it claimed.",
        ("RS-1002",),
        _no_theft,
    ),
    Property(
        "claims-begin-well",
        "A claim begins by claim or steal, as the caller's own, with the caller's reading as its token.",
        ("RS-454", "RS-512"),
        _claims_begin_well,
    ),
    Property(
        "claims-end-well",
        "A claim ends by its claimant who presents it, by the owner who stops the run, or once stale to whom names it.",
        ("RS-202", "RS-471", "RS-480", "RS-486", "RS-503"),
        _claims_end_well,
    ),
    Property(
        "evidence-first",
        "Nobody is replaced or cleared away without evidence about them, at the reading of the call.",
        ("RS-207", "RS-461", "RS-486", "RS-511"),
        _evidence_first,
    ),
    Property(
        "guarded",
        "A guarded transition lands only where its guard held.",
        ("RS-501",),
        _guarded,
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
        "Facts are only added, those that tell of a lease with those of a step tell of the lease after it, and whoever "
        "is activated spends its claim.",
        ("RS-465", "RS-1007"),
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
