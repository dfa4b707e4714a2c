"""Producer identities, what an instance remembers of them, and what the database says (JN-162, JN-163, JN-177, R-7)."""

from collections.abc import Collection, Iterator
from typing import TypeAlias

import attrs

from tenure.database.engine import Statements
from tenure.journal import statements
from tenure_model.admission.event_identity import content_fingerprint
from tenure_model.admission.preparation import Prepared
from tenure_model.vocabulary.journal import DuplicateStatus
from tenure_model.vocabulary.journal_errors import idempotency_conflict

Identity: TypeAlias = tuple[str, str, int]
"""Run id, source id and sourceSeq: it never changes once an event is admitted (JN-027)."""


@attrs.define(eq=False)
class Remembered:
    """An identity's seq and content. ``age`` orders what is remembered, the newest having the highest."""

    seq: int
    event_type: str
    payload_json: str
    meta_json: str
    age: int = 0

    def holds(self, prepared: Prepared) -> bool:
        """Whether the content is the same (JN-046)."""
        return (
            self.payload_json == prepared.payload_json
            and self.event_type == prepared.event_type
            and self.meta_json == prepared.meta_json
        )


class IdentityCache:
    """What an instance remembers, so that most retries need no database. Used under the instance's lock.

    It holds at most ``bound`` identities, and as many more as are pending.
    """

    __slots__ = ("_age", "_bound", "_committed", "_pending")

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._age = 0
        # Each is in order of age, since what is entered becomes the newest.
        self._committed: dict[Identity, Remembered] = {}
        self._pending: dict[Identity, Remembered] = {}

    def __len__(self) -> int:
        return len(self._committed) + len(self._pending)

    def find(self, identity: Identity) -> tuple[Remembered, DuplicateStatus] | None:
        """What is remembered of an identity, and whether it is pending or committed."""
        found = self._committed.get(identity)
        if found is not None:
            return found, "committed"
        found = self._pending.get(identity)
        return None if found is None else (found, "pending")

    def enter(self, identity: Identity, remembered: Remembered, status: DuplicateStatus) -> None:
        """Remember an identity as the newest; beyond the bound one makes room, the oldest committed other (JN-162)."""
        self._age += 1
        remembered.age = self._age
        self.forget(identity)
        (self._committed if status == "committed" else self._pending)[identity] = remembered
        if len(self._committed) + len(self._pending) > self._bound:
            for oldest in self._committed:
                if oldest != identity:
                    del self._committed[oldest]
                break

    def forget(self, identity: Identity) -> None:
        """Remember nothing of an identity."""
        if self._committed.pop(identity, None) is None and self._pending:
            self._pending.pop(identity, None)

    def forget_runs(self, run_ids: Collection[str]) -> None:
        """Remember nothing of these runs (JN-342)."""
        for kept in (self._committed, self._pending):
            for identity in [identity for identity in kept if identity[0] in run_ids]:
                del kept[identity]

    def keep_if(self, identity: Identity, fingerprint: str) -> None:
        """Keep what is remembered as committed if it has this fingerprint, else remember nothing (R-7)."""
        found = self._committed.get(identity)
        if found is None or fingerprint != content_fingerprint(found.event_type, found.payload_json, found.meta_json):
            self.forget(identity)

    def items(self) -> Iterator[tuple[Identity, Remembered, DuplicateStatus]]:
        """Everything, the oldest first."""
        both: list[tuple[Identity, Remembered, DuplicateStatus]] = [
            *((identity, found, "committed") for identity, found in self._committed.items()),
            *((identity, found, "pending") for identity, found in self._pending.items()),
        ]
        return iter(sorted(both, key=lambda item: item[1].age))


@attrs.frozen
class Existing:
    """What the database holds under an identity: a row's content, or the fingerprint that a tombstone keeps of it."""

    seq: int
    event_type: str
    payload_json: str
    meta_json: str
    fingerprint: str | None

    def holds(self, prepared: Prepared) -> bool:
        """Whether the content is the same (JN-177)."""
        if self.fingerprint is not None:
            return self.fingerprint == content_fingerprint(
                prepared.event_type, prepared.payload_json, prepared.meta_json
            )
        return (self.event_type, self.payload_json, self.meta_json) == (
            prepared.event_type,
            prepared.payload_json,
            prepared.meta_json,
        )


def find_existing(rows: Statements, prepared: Prepared, source_seq: int, event_id: str) -> Existing | None:
    """The row or tombstone that has this identity or event id; of several the one with the lowest seq (JN-175)."""
    found = rows(statements.EXISTING, (prepared.run_id, prepared.source_id, source_seq, event_id))
    return Existing(*found[0]) if found else None


def require_same(existing: Existing | Remembered, prepared: Prepared, source_seq: int) -> None:
    """Raise ``idempotency_conflict`` where the content differs and the event asks to compare it (JN-047, JN-177)."""
    if prepared.dedupe == "content" and not existing.holds(prepared):
        raise idempotency_conflict(prepared.run_id, prepared.source_id, source_seq)


def remember_collapse(cache: IdentityCache, identity: Identity, prepared: Prepared, existing: Existing) -> None:
    """Remember what stands under the identity of a duplicate, which may differ from what was repeated (R-7)."""
    if existing.fingerprint is None:
        content = (existing.event_type, existing.payload_json, existing.meta_json)
    elif prepared.dedupe == "content":
        # It was compared with the fingerprint.
        content = (prepared.event_type, prepared.payload_json, prepared.meta_json)
    else:
        cache.keep_if(identity, existing.fingerprint)
        return
    cache.enter(identity, Remembered(existing.seq, *content), "committed")
