"""What a well-formed row is, and what holds in every world and between any two of them.

Two questions, one subject: a row that the CHECKs admit is half of the promise that no run is ever half-owned, the
invariants over rows, leases and change rows are the other half.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from tenure_model.semantics.storage_classes import (
    Stored,
    in_integer_column,
    in_text_column,
    is_bindable,
    sql_length,
)
from tenure_model.semantics.world import Claim, Run, World
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.statuses import RUN_STATUSES, is_terminal_run_status


def is_well_formed_row(
    status: object,
    owner_host_id: object,
    owner_pid: object,
    owner_nonce: object,
    heartbeat_at_ms: object,
    claim_host_id: object,
    claim_pid: object,
    claim_nonce: object,
    claimed_at_ms: object,
) -> bool:
    """Whether the schema admits a row with these column values, of any type, the rest of the row being in order.

    The status is one of six (RS-100). Running rows have a whole owner and a heartbeat, other rows neither (RS-101). The
    claim is whole or null, whatever the status (RS-102). Values are judged as ``storage_classes`` says SQLite stores
    them: a pid of ``"7"`` is an integer, a host of ``b"h"`` has a length, a nonce that begins with NUL has none.
    Neither pid has an upper bound here and no text has one: input admission sets those, and decoding looks again
    (RS-406).
    """
    values = (
        status,
        owner_host_id,
        owner_pid,
        owner_nonce,
        heartbeat_at_ms,
        claim_host_id,
        claim_pid,
        claim_nonce,
        claimed_at_ms,
    )
    if not all(is_bindable(value) for value in values):
        return False
    stored_status = in_text_column(status)
    owner = _identity(owner_host_id, owner_pid, owner_nonce, heartbeat_at_ms)
    claim = _identity(claim_host_id, claim_pid, claim_nonce, claimed_at_ms)
    if stored_status not in RUN_STATUSES:
        return False
    has_right_owner = _is_whole(owner) if stored_status == "running" else _is_null(owner)
    return has_right_owner and (_is_whole(claim) or _is_null(claim))


def are_well_formed_waiting_columns(reason: object, wake_at_ms: object, token: object) -> bool:
    """Whether the schema admits these waiting columns: no wake time and no token without a reason (RS-100, RS-103).

    No operation reads or writes them (RS-107), so no world holds them. A request stands outside this CHECK.
    """
    if not all(is_bindable(value) for value in (reason, wake_at_ms, token)):
        return False
    texts = (in_text_column(reason), in_text_column(token))
    wake = in_integer_column(wake_at_ms)
    return (
        all(text is None or sql_length(text) > 0 for text in texts)
        and is_time_or_null(wake)
        and (texts[0] is not None or (wake is None and texts[1] is None))
    )


def is_time_or_null(value: Stored) -> bool:
    """Whether a time column takes the value: null, or storage class integer in 0..2**53-1 (RS-100)."""
    return value is None or (isinstance(value, int) and 0 <= value <= MAX_SAFE_INTEGER)


def _identity(host_id: object, pid: object, nonce: object, at_ms: object) -> tuple[Stored, Stored, Stored, Stored]:
    return in_text_column(host_id), in_integer_column(pid), in_text_column(nonce), in_integer_column(at_ms)


def _is_null(columns: tuple[Stored, ...]) -> bool:
    return all(value is None for value in columns)


def _is_whole(columns: tuple[Stored, Stored, Stored, Stored]) -> bool:
    host_id, pid, nonce, at_ms = columns
    return (
        host_id is not None
        and sql_length(host_id) > 0
        and isinstance(pid, int)
        and pid >= 0
        and nonce is not None
        and sql_length(nonce) > 0
        and at_ms is not None
        and is_time_or_null(at_ms)
    )


@attrs.frozen
class Violation:
    """A broken invariant: the rule that states it, and the run it is broken for (none: the world as a whole)."""

    rule_id: str
    run_id: str | None


def violated_invariants(world: World) -> tuple[Violation, ...]:
    """Every invariant of one world that this world breaks.

    RS-1000: running iff owned iff a heartbeat. RS-213: a lease row stands iff the row is running or claimed, and its
    owner, claim and heartbeat are the row's; ``original`` breaks it by H-01 and H-03, raw writes break it in any
    profile. RS-1006: change rows have distinct revisions of at most the source's, and name exactly the living as not
    deleted.
    """
    return tuple(_violated(world))


def _violated(world: World) -> Iterator[Violation]:
    for run_id, run in world.runs.items():
        if not (run.status == "running") == (run.owner is not None) == (run.heartbeat_at_ms is not None):
            yield Violation("RS-1000", run_id)
    for run_id in {**world.runs, **world.leases}:
        if not _agree(world, run_id):
            yield Violation("RS-213", run_id)
    for run_id in {**world.runs, **world.changes}:
        change = world.changes.get(run_id)
        if change is None or change.revision > world.revision or change.deleted == (run_id in world.runs):
            yield Violation("RS-1006", run_id)
    if len({change.revision for change in world.changes.values()}) != len(world.changes):
        yield Violation("RS-1006", None)


def _agree(world: World, run_id: str) -> bool:
    run, lease = world.runs.get(run_id), world.leases.get(run_id)
    if run is None or lease is None:
        return lease is None and (run is None or (run.owner is None and run.claim is None))
    ownership = lease.ownership
    if ownership is None and lease.claim is None:
        return False
    held = (None, None) if ownership is None else (ownership.owner, ownership.heartbeat_at_ms)
    return held == (run.owner, run.heartbeat_at_ms) and lease.claim == run.claim


def violated_between(before: World, after: World) -> tuple[Violation, ...]:
    """Every invariant that one operation leading from ``before`` to ``after`` breaks.

    RS-1003: under one continuous ownership the heartbeat does not go back, unless the owner activates a claim on its
    own run. RS-1004: a cancellation request and an acknowledgement, once there, stay as they are. RS-1005: a settled
    run keeps status, finish and state. RS-1006: a change of any row is a higher revision, for the source and for that
    run. Only rows that are in both worlds are compared, and raw writes may break all but the last.
    """
    violations = [
        Violation(rule_id, run_id)
        for run_id, old in before.runs.items()
        if (new := after.runs.get(run_id)) is not None
        for rule_id in _violated_by(old, new)
    ]
    for run_id in {**before.runs, **after.runs}:
        if before.runs.get(run_id) == after.runs.get(run_id):
            continue
        old_change, new_change = before.changes.get(run_id), after.changes.get(run_id)
        floor = before.revision if old_change is None else max(before.revision, old_change.revision)
        if new_change is None or new_change.revision <= floor:
            violations.append(Violation("RS-1006", run_id))
    if after.revision < before.revision:
        violations.append(Violation("RS-1006", None))
    return tuple(violations)


def _violated_by(old: Run, new: Run) -> Iterator[str]:
    if (
        old.owner is not None
        and old.owner == new.owner
        and old.heartbeat_at_ms is not None
        and new.heartbeat_at_ms is not None
        and new.heartbeat_at_ms < old.heartbeat_at_ms
        and not _activates_own_claim(old, new)
    ):
        yield "RS-1003"
    if _moved(old.cancel_requested_at_ms, new.cancel_requested_at_ms) or _moved(
        old.acknowledgement, new.acknowledgement
    ):
        yield "RS-1004"
    settled = (old.status, old.finished_at_ms, old.state_json)
    if is_terminal_run_status(old.status) and settled != (new.status, new.finished_at_ms, new.state_json):
        yield "RS-1005"


def _activates_own_claim(old: Run, new: Run) -> bool:
    return old.claim is not None and old.claim.claimant == old.owner and new.claim is None


def _moved(then: object, now: object) -> bool:
    return then is not None and then != now


@attrs.frozen
class Standing:
    """Who owns and who claims, as told by facts alone."""

    owner: OwnerId | None
    claim: Claim | None


NOBODY: Final = Standing(owner=None, claim=None)
"""The standing before the first fact."""


def replay_facts(facts: Iterable[OwnershipFact]) -> Standing:
    """The owner and the claim of a run's row, folded from its facts, oldest first (RS-1007).

    ``claimed`` and ``stolen`` set the claim; ``activated`` sets the owner and ends the claim; ``expired``, and
    ``released`` with a token, end the claim; ``released`` without one ends ownership and any claim. Under ``reference``
    the lease says the same. Under ``original`` the lease follows ``replay_lease_facts``, and the row leaves this fold
    after RS-473 and after the release kept by RS-463. Deleting a run is no fact, so a re-created run needs its facts
    from then on.
    """
    standing = NOBODY
    for fact in facts:
        if fact.transition == "released" and fact.granted_at_ms is None:
            standing = NOBODY
        elif fact.transition == "released":
            standing = Standing(standing.owner, None)
        else:
            standing = _after(standing, fact)
    return standing


def replay_lease_facts(facts: Iterable[OwnershipFact]) -> Standing:
    """The owner and the claim of a run's lease under ``original``: ``released`` ends whatever its owner holds
    (RS-1007).
    """
    standing = NOBODY
    for fact in facts:
        if fact.transition == "released":
            held = standing.claim
            standing = Standing(
                None if standing.owner == fact.owner else standing.owner,
                None if held is not None and held.claimant == fact.owner else held,
            )
        else:
            standing = _after(standing, fact)
    return standing


def _after(standing: Standing, fact: OwnershipFact) -> Standing:
    """The standing after a fact that is no release. A grant always has a token."""
    match fact.transition:
        case "activated":
            return Standing(fact.owner, None)
        case "claimed" | "stolen" if fact.granted_at_ms is not None:
            return Standing(standing.owner, Claim(fact.owner, fact.granted_at_ms))
        case _:
            return Standing(standing.owner, None)
