"""The identity cache: what an instance remembers of recent producer identities (JN-162, JN-163).

It changes receipts, never what is durable: the keys of the tables decide that.
"""

from collections.abc import Mapping
from typing import TypeAlias

from tenure_model.semantics.journal.instance import Collapsed, Inserted, Remembered
from tenure_model.semantics.journal.state import NO_REPAIRS
from tenure_model.semantics.journal.tables import Content, Draft, Event, Identity, JournalTables, content_matches
from tenure_model.semantics.profiles import Profile
from tenure_model.vocabulary.journal import Dedupe, Duplicate
from tenure_model.vocabulary.journal_errors import JournalError, idempotency_conflict

Cache: TypeAlias = Mapping[Identity, Remembered]


def recall(cache: Cache, identity: Identity, content: Content, dedupe: Dedupe) -> Duplicate | JournalError | None:
    """What the cache says of a repeated identity: a duplicate, a conflict, or nothing where it is not remembered.

    Under ``identity`` the content is not compared (JN-047, JN-191).
    """
    remembered = cache.get(identity)
    if remembered is None:
        return None
    run_id, source_id, source_seq = identity
    if dedupe == "content" and remembered.content != content:
        return idempotency_conflict(run_id, source_id, source_seq)
    return Duplicate(remembered.seq, source_seq, remembered.status)


def remember(cache: Cache, bound: int, identity: Identity, remembered: Remembered) -> Cache:
    """The cache with the identity in the newest place.

    Past ``bound`` the oldest committed identity but this one leaves; pending ones never do, so that there may be more
    of them (JN-162).
    """
    renewed = {other: held for other, held in cache.items() if other != identity}
    renewed[identity] = remembered
    if len(renewed) > bound:
        oldest = next((other for other, held in renewed.items() if held.status == "committed"), identity)
        if oldest != identity:
            del renewed[oldest]
    return renewed


def forget(cache: Cache, identities: frozenset[Identity]) -> Cache:
    """The cache without these identities."""
    if cache.keys().isdisjoint(identities):
        return cache
    return {identity: held for identity, held in cache.items() if identity not in identities}


def settle(
    cache: Cache, bound: int, draft: Draft, result: Inserted | Collapsed, profile: Profile
) -> tuple[Cache, frozenset[str]]:
    """The cache once an event is committed or has collapsed (JN-179, JN-214), and ``R-7`` where that differs.

    ``original`` remembers the caller's bytes with the ``seq`` that stands, also after an ``identity`` duplicate whose
    bytes are others (HZ-07). R-7 then remembers the content of the row that stands; of a tombstone, whose content is
    gone, it keeps a committed identity of the same fingerprint as it is, or else forgets the identity.
    """
    if isinstance(result, Inserted):
        return remember(
            cache, bound, draft.identity, Remembered(result.event.seq, draft.content, "committed")
        ), NO_REPAIRS
    standing = result.standing
    recorded = remember(cache, bound, draft.identity, Remembered(standing.seq, draft.content, "committed"))
    if draft.dedupe == "content" or "R-7" not in profile.repairs:
        return recorded, NO_REPAIRS
    if isinstance(standing, Event):
        remembered = Remembered(standing.seq, standing.content, "committed")
        repaired = remember(cache, bound, draft.identity, remembered)
    else:
        held = cache.get(draft.identity)
        keeps = held is not None and held.status == "committed" and content_matches(held.content, standing)
        repaired = cache if keeps else forget(cache, frozenset({draft.identity}))
    differs = tuple(repaired.items()) != tuple(recorded.items())
    return repaired, frozenset({"R-7"}) if differs else NO_REPAIRS


def seeded(tables: JournalTables, bound: int) -> Cache:
    """The cache of a new instance: the newest ``bound`` events as committed, oldest first (JN-152).

    Newest is by emission time, then run id, then ``seq``.
    """
    events = [event for rows in tables.events.values() for event in rows]
    events.sort(key=_start_order)
    return {
        event.identity: Remembered(event.seq, event.content, "committed")
        for event in events[max(0, len(events) - bound) :]
    }


def _start_order(event: Event) -> tuple[int, str, int]:
    return event.emitted_at_ms, event.run_id, event.seq
