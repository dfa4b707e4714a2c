"""One node a situation: what is on disk, in the open transaction and in each memory, as small tuples of numbers.

Two states are the same situation when a renaming of interchangeable sessions, runs and producers carries one into the
other, and nothing that a rule or an invariant looks at later tells them apart. What none reads is not kept: times of
checkpoints, event ids (they follow from the identity), texts but for which is which, the numbers of tokens and tickets
but for their order, the ends of entries that have one, how many losses there were but for who has yet to hear of one,
the text of an error, and what the program's own updates did. Sequence numbers are kept as they are: a producer may name
a number by itself, and 0 is where a run without rows begins, so shifting them would change what happens next.
"""

from collections.abc import Iterable, Mapping
from itertools import permutations, product
from typing import Final, TypeAlias

import attrs

from tenure_model.admission.event_identity import companion_run_id
from tenure_model.admission.preparation import Prepared
from tenure_model.explore.canonical import encode as encode_run
from tenure_model.explore.journal.scope import OWNERS, START_MS, JournalScope, Move
from tenure_model.semantics.journal.instance import (
    Batch,
    Collapsed,
    Failed,
    Flush,
    Inserted,
    InsertResult,
    Instance,
    Producer,
    Queued,
    pending,
)
from tenure_model.semantics.journal.run_operations import FACT_SOURCE
from tenure_model.semantics.journal.state import Publish, Settle, Store, Transaction, Update
from tenure_model.semantics.journal.tables import Content, Draft, Event, Tombstone, drafted
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.constants import COMPANION_STREAM
from tenure_model.vocabulary.journal_errors import JournalError

Code: TypeAlias = tuple[object, ...]

NONE: Final = -1
"""No number, in a place for one."""

_OWNERS: Final = tuple(OWNERS.values())


@attrs.frozen
class Names:
    """The number of each session, run (its companion included) and producer; and the new place of each move."""

    sessions: Mapping[str, int]
    runs: Mapping[str, int]
    sources: Mapping[str, int]
    moves: tuple[int, ...]

    def producer(self, producer: Producer) -> tuple[int, int]:
        """The numbers of a producer: its run's and its own."""
        return self.runs[producer[0]], self.sources[producer[1]]


def renamings(scope: JournalScope) -> tuple[Names, ...]:
    """Every naming under which the moves of the scope are the same, the identity first. Whether the start is so too is
    for the system to see.

    Runs keep their names where something reads the names themselves: an instance that opens orders what it remembers by
    them (JN-152), and a fact names its run.
    """
    reads_names = any(move.operation.startswith(("journal.open", "run.")) for move in scope.moves)
    runs = permutations(scope.runs) if scope.symmetric and not reads_names else [scope.runs]
    sources = permutations(scope.sources) if scope.symmetric else [scope.sources]
    sessions = permutations(scope.sessions) if scope.symmetric else [scope.sessions]
    found = []
    for chosen in product(sessions, runs, sources):
        to = tuple(dict(zip(old, new, strict=True)) for old, new in zip(_names(scope), chosen, strict=True))
        moves = _permutation(scope.moves, to)
        if moves is not None and _same_owners(scope, to):
            found.append(_numbered(chosen, moves))
    return tuple(found)


def _names(scope: JournalScope) -> tuple[tuple[str, ...], ...]:
    return scope.sessions, scope.runs, scope.sources


def _same_owners(scope: JournalScope, to: tuple[dict[str, str], ...]) -> bool:
    """Owners are never renamed, so sessions that act as owners stay who they are."""
    acting = {move.session for move in scope.moves if "owner" in move.arguments or "nowMs" in move.arguments}
    return all(to[0][session] == session for session in acting)


def _numbered(chosen: Iterable[tuple[str, ...]], moves: tuple[int, ...]) -> Names:
    sessions, runs, sources = chosen
    everywhere = (*runs, *(companion_run_id(COMPANION_STREAM, run_id) for run_id in runs))
    return Names(
        {name: number for number, name in enumerate(sessions)},
        {name: number for number, name in enumerate(everywhere)},
        {name: number for number, name in enumerate((*sources, FACT_SOURCE))},
        moves,
    )


def _permutation(moves: tuple[Move, ...], to: tuple[dict[str, str], ...]) -> tuple[int, ...] | None:
    """Where each move goes, or nothing if the renamed moves are others."""
    try:
        places = tuple(moves.index(_renamed(move, to)) for move in moves)
    except ValueError:
        return None
    return places if len(set(places)) == len(moves) else None


def _renamed(move: Move, to: tuple[dict[str, str], ...]) -> Move:
    sessions, runs, sources = to
    arguments = dict(move.arguments)
    if isinstance(run_id := arguments.get("runId"), str):
        arguments["runId"] = runs[run_id]
    if isinstance(run_ids := arguments.get("runIds"), tuple):
        arguments["runIds"] = tuple(runs[run_id] for run_id in run_ids)
    if isinstance(event := arguments.get("input"), Mapping):
        arguments["input"] = {**event, "runId": runs[event["runId"]], "sourceId": sources[event["sourceId"]]}
    return attrs.evolve(move, session=sessions[move.session], arguments=arguments)


class Encoder:
    """Encodes the parts of states. Texts get numbers in the order in which they are met."""

    __slots__ = ("_hashes", "_run_ids", "_texts")

    def __init__(self, run_ids: tuple[str, ...]) -> None:
        self._run_ids = run_ids
        self._texts: dict[object, int] = {}
        self._hashes: dict[str, int] = {}

    def store(self, names: Names, store: Store) -> Code:
        """What is on disk: runs and leases, the journal's tables, and what durable receipts were given for."""
        tables = store.journal
        rows = sorted((names.runs[run_id], run_id) for run_id in self._run_ids)
        return (
            tuple(tuple(encode_run(_OWNERS, store.world, run_id, START_MS)) for _, run_id in rows),
            tuple(sorted((names.runs[run], *self._rows(names, events)) for run, events in tables.events.items())),
            tuple(sorted((names.runs[run], *self._graves(names, graves)) for run, graves in tables.tombstones.items())),
            tuple(
                sorted(
                    (names.runs[run], seq, self._text(row.state_json), row.compacted_at_ms is not None)
                    for run, checkpoints in tables.checkpoints.items()
                    for seq, row in checkpoints.items()
                )
            ),
            tuple(sorted((names.runs[run], row.generation, row.after_seq) for run, row in tables.generations.items())),
            tuple(
                sorted(
                    (names.runs[run], names.sources[source], source_seq, seq)
                    for (run, source, source_seq), seq in store.receipts.items()
                )
            ),
        )

    def transaction(self, names: Names, held: Transaction, instance: Instance | None) -> Code:
        """The open transaction: whose, its levels with what each goes back to, and what waits for its commit."""
        ticket = (
            NONE if held.compaction is None or instance is None else list(instance.compactions).index(held.compaction)
        )
        return (
            names.sessions[held.session],
            ticket,
            self.store(names, held.working),
            tuple((self.store(names, level.before), level.updates, level.raw) for level in held.levels[1:]),
            tuple(level.raw for level in held.levels[:1]),
            tuple(self._update(names, update) for update in held.updates),
        )

    def instance(self, names: Names, instance: Instance) -> Code:
        """One memory. Entries are named by their place among the pending, all else by its place among its kind."""
        places = {queued.entry_id: place for place, queued in enumerate(pending(instance))}
        tasks = {number: place for place, number in enumerate(instance.maintenance)}
        losses = instance.losses
        behind = {number: losses.epoch > stream.loss_epoch for number, stream in instance.streams.items()}
        is_untold = losses.epoch > losses.reported_epoch
        last = None if losses.last is None or not (is_untold or any(behind.values())) else losses.last.code
        settings = instance.settings
        policy = settings.compaction
        kind = (settings.capacity, settings.overflow, settings.batch_size, settings.source_event_cache)
        return (
            instance.status,
            (*kind, None if policy is None else (policy.entry_threshold, policy.capture.__name__)),
            tuple(sorted((names.runs[run], floor) for run, floor in instance.floors.run.items())),
            tuple(sorted((*names.producer(producer), floor) for producer, floor in instance.floors.producer.items())),
            tuple(sorted(names.producer(producer) for producer in instance.floors.warm)),
            tuple(
                (names.runs[run], names.sources[source], source_seq, held.seq, self._content(held.content), held.status)
                for (run, source, source_seq), held in instance.cache.items()
            ),
            self._queued(names, instance.queue),
            None if instance.batch is None else self._batch(names, instance.batch),
            (is_untold, last),
            tuple(_flush(flush, places, tasks) for flush in instance.flushes.values()),
            tuple(
                (
                    *self._draft(names, _as_draft(admission.prepared)),
                    admission.has_read,
                    admission.run_floor,
                    admission.producer_floor,
                    admission.needless,
                )
                for admission in instance.admissions.values()
            ),
            tuple(
                (names.runs[stream.run_id], stream.cursor, behind[number], stream.last_read)
                for number, stream in instance.streams.items()
            ),
            tuple(tuple(self._event(names, event) for event in waiting) for waiting in instance.changes.values()),
            tuple(sorted((names.runs[run], seq) for run, seq in instance.published)),
            tuple(
                (
                    names.runs[one.run_id],
                    NONE if one.up_to is ABSENT else one.up_to,
                    _OWNERS.index(one.owner),
                    one.gated,
                )
                for one in instance.compactions.values()
            ),
            tuple(
                (names.runs[task.run_id], task.inserted, task.stage, task.tail, self._text(task.state_json))
                for task in instance.maintenance.values()
            ),
            tuple(sorted((names.runs[run], counter) for run, counter in instance.counters.items())),
        )

    def _rows(self, names: Names, events: tuple[Event, ...]) -> tuple[Code, ...]:
        return tuple(self._event(names, event) for event in events)

    def _graves(self, names: Names, graves: tuple[Tombstone, ...]) -> tuple[Code, ...]:
        return tuple(
            (grave.seq, names.sources[grave.source_id], grave.source_seq, self._hash(grave.content_hash))
            for grave in graves
        )

    def _event(self, names: Names, event: Event) -> Code:
        return (
            names.runs[event.run_id],
            event.seq,
            names.sources[event.source_id],
            event.source_seq,
            event.emitted_at_ms - START_MS,
            self._content(event.content),
        )

    def _draft(self, names: Names, draft: Draft) -> Code:
        return (
            names.runs[draft.run_id],
            draft.seq,
            names.sources[draft.source_id],
            draft.source_seq,
            draft.emitted_at_ms - START_MS,
            self._content(draft.content),
            draft.dedupe == "identity",
        )

    def _queued(self, names: Names, entries: tuple[Queued, ...]) -> Code:
        return tuple(self._draft(names, queued.draft) for queued in entries)

    def _batch(self, names: Names, batch: Batch) -> Code:
        results = None if batch.results is None else tuple(self._result(names, result) for result in batch.results)
        return self._queued(names, batch.entries), results, None if batch.failure is None else batch.failure.code

    def _result(self, names: Names, result: InsertResult) -> Code:
        match result:
            case Inserted(event):
                return "inserted", self._event(names, event)
            case Collapsed(Event() as event):
                return "onto", self._event(names, event)
            case Collapsed(Tombstone() as grave):
                return "onto", self._graves(names, (grave,))
            case JournalError():
                return "refused", result.code
        raise AssertionError(result)

    def _update(self, names: Names, update: Update) -> Code:
        match update:
            case Settle(draft, result):
                return "settle", self._draft(names, draft), self._result(names, result)
            case Publish(events):
                return "publish", self._rows(names, events)
        return ("call",)

    def _content(self, content: Content) -> int:
        number = self._texts.get(content)
        if number is None:
            number = self._texts[content] = self._hash(content.fingerprint())
        return number

    def _hash(self, content_hash: str) -> int:
        return self._hashes.setdefault(content_hash, len(self._hashes))

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))


def _as_draft(prepared: Prepared) -> Draft:
    return drafted(prepared, NONE, NONE if prepared.source_seq is ABSENT else prepared.source_seq)


def _flush(flush: Flush, places: Mapping[int, int], tasks: Mapping[int, int]) -> Code:
    answer = flush.answer
    return (
        tuple(sorted(places[entry_id] for entry_id in flush.covered if entry_id in places)),
        tuple(sorted(tasks[number] for number in flush.tasks if number in tasks)),
        flush.closing,
        None if flush.lost is None else flush.lost.code,
        None if answer is None else answer.error.code if isinstance(answer, Failed) else "well",
    )
