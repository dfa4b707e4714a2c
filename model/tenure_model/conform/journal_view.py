"""The whole state of a journal, on disk and in one instance's memory, in a form that two systems can be compared in."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

import attrs

from tenure_model.conform.systems import Columns, System

EventColumns: TypeAlias = tuple[int, str, str, int, int, str, str, str]
"""(seq, event id, source id, source seq, emitted at, event type, payload, meta)"""

Identity: TypeAlias = tuple[str, str, int]


@attrs.frozen
class MemoryView:
    """What one instance remembers (JN-160).

    ``run_floors`` and ``producer_floors`` are the next numbers, ``warm`` the producers whose floor covers what is on
    disk (R-5). ``identities`` runs from the oldest to the newest, each (identity, seq, status). ``queue`` and ``batch``
    are the identities of what waits and of what the writer has taken, ``gates`` the runs whose admissions wait for a
    compaction. ``unreported`` is the code of the loss that no flush has told. ``published`` is all that subscribers
    were given, as (run id, seq). ``maintenance`` is every task by its run and next stage, ``losses`` how many losses
    were reported, ``counters`` the rows of each run since it was last compacted (JN-301), none once the instance is
    closed.
    """

    status: str
    run_floors: Mapping[str, int]
    producer_floors: Mapping[tuple[str, str], int]
    warm: frozenset[tuple[str, str]]
    identities: tuple[tuple[Identity, int, str], ...]
    queue: tuple[Identity, ...]
    batch: tuple[Identity, ...]
    gates: frozenset[str]
    unreported: str | None
    published: tuple[tuple[str, int], ...]
    maintenance: tuple[tuple[str, str], ...]
    losses: int
    counters: Mapping[str, int]


@attrs.frozen
class JournalView:
    """The journal's tables by run id as one session sees them, and that session's memory (``None`` without a journal).

    Events and checkpoints ascend in ``seq``, tombstones too. A checkpoint is (seq, state, created at, compacted at), a
    tombstone (source id, source seq, event id, seq, content hash), a generation (generation, after seq). ``ran`` are
    the labels of the program's own work that has run after its commit, ``fates`` what became of each lossy entry that
    was accepted, the first being 0: both of all sessions.
    """

    events: Mapping[str, tuple[EventColumns, ...]]
    checkpoints: Mapping[str, tuple[Columns, ...]]
    tombstones: Mapping[str, tuple[Columns, ...]]
    generations: Mapping[str, tuple[int, int]]
    memory: MemoryView | None
    ran: tuple[str, ...]
    fates: Mapping[int, str]


class JournalSystem(System, Protocol):
    """A system that has a journal beside its runs."""

    def journal(self, session: str) -> JournalView:
        """The journal as the session sees it."""
        ...


def plain(view: Any) -> Any:
    """A view as dictionaries and lists with text keys: to be written, and to find the smallest part that differs."""
    if attrs.has(type(view)):
        return {field.name: plain(getattr(view, field.name)) for field in attrs.fields(type(view))}
    if isinstance(view, Mapping):
        return {str(key): plain(member) for key, member in view.items()}
    if isinstance(view, frozenset):
        return sorted(map(str, view))
    if isinstance(view, tuple | list):
        return [plain(member) for member in view]
    return view


def tables_of(view: JournalView) -> dict[str, Any]:
    """The tables alone, in plain form: how a trace of journal steps ends."""
    tables: dict[str, Any] = plain(attrs.evolve(view, memory=None))
    for apart in ("memory", "ran", "fates"):
        del tables[apart]
    return tables
