"""Journal steps that reach every corner: small queues, small caches, few producers, numbers given and left out."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from tenure_model.conform.journal_view import JournalView
from tenure_model.conform.systems import LEASE_COLUMNS, RUN_COLUMNS, SystemState
from tenure_model.vocabulary.owners import OwnerId
from tests.differential.choice import Chooser, chance, pick
from tests.differential.generator import OWNERS, CommandGenerator

RUN_IDS: Final = ("r0", "r1")
SOURCES: Final = ("p", "q")
EVENT_TYPES: Final = ("e.a", "e.b")
PAYLOADS: Final = (
    1,
    "x",
    None,
    {"v": 1},
    {"b": 1, "a": [1, None]},
    {"a": [1, None], "b": 1.0},
    {"apiKey": "k", "n": 1},
)
METAS: Final = (None, {"m": 1})
STATES: Final = ({"s": 1}, [1, "two"], "text", None)

LABELS: Final = ("u", "v", "w")

BAD_INPUTS: Final = (
    None,
    [],
    {"runId": "r0"},
    {"runId": "", "sourceId": "p", "eventType": "e.a", "payload": 1},
    {"runId": "r0", "sourceId": "p", "eventType": "e.a"},
    {"runId": "r0", "sourceId": "p", "eventType": "e.a", "payload": 1, "sourceSeq": -1},
    {"runId": "r0", "sourceId": "p", "eventType": "e.a", "payload": 1, "sourceSeq": True},
    {"runId": "r0", "sourceId": "p", "eventType": "e.a", "payload": 2**60},
    {"runId": "r0", "sourceId": "p", "eventType": "e.a", "payload": "\ud800"},
    {"runId": "r0", "sourceId": "p", "eventType": "e.a", "payload": "x" * 200},
    {"runId": "r0", "sourceId": "p", "eventType": "e.a", "payload": 1, "dedupe": "other"},
)

OVERFLOWS: Final = ("reject", "drop-newest", "drop-oldest")

WEIGHTS: Final = (
    ("journal.emitLossy", 20),
    ("journal.emitDurable", 11),
    ("journal.emitDurableUnfenced", 12),
    ("lossy.begin", 5),
    ("lossy.read", 4),
    ("lossy.finish", 5),
    ("writer.take", 6),
    ("writer.write", 7),
    ("writer.settle", 6),
    ("writer.drain", 3),
    ("maintenance.step", 9),
    ("maintenance.finish", 1),
    ("flush.begin", 5),
    ("flush.poll", 3),
    ("journal.flush", 4),
    ("journal.entries", 4),
    ("journal.checkpoint", 7),
    ("journal.latestCheckpoint", 2),
    ("journal.compact", 6),
    ("compact.begin", 5),
    ("compact.poll", 9),
    ("journal.generation", 1),
    ("journal.forget", 1),
    ("journal.transact", 4),
    ("stream.open", 2),
    ("stream.page", 4),
    ("stream.close", 1),
    ("changes.open", 2),
    ("changes.take", 3),
    ("changes.close", 1),
    ("event.write", 3),
    ("generation.write", 1),
    ("journal.whenCommitted", 2),
    ("journal.afterCommit", 1),
    ("journal.close", 1),
    ("close.begin", 1),
    ("close.poll", 5),
    ("journal.open", 1),
    ("run", 14),
)
_DECK: Final = tuple(operation for operation, weight in WEIGHTS for _ in range(weight))

_RUN_DECK: Final = ("run.claimAndOwn",) * 5 + ("run.transitionOwned",) * 3 + ("run.create", "run.steal", "run.activate")

_LEASE_OWNER: Final = tuple(LEASE_COLUMNS.index(f"owner_{part}") for part in ("host_id", "pid", "nonce"))
_STATUS: Final = RUN_COLUMNS.index("status")


BURSTS: Final = (8, 8, 8, 9, 17, 64)
"""How many entries come at once where queues are wide: as many as a store may well insert by one statement."""


def draw_options(chooser: Chooser, *, is_wide: bool = False) -> dict[str, Any]:
    """Options of an instance: small bounds or wide, any overflow, sometimes a byte bound or automatic compaction."""
    options: dict[str, Any] = {
        "capacity": 2 * max(BURSTS) if is_wide else 1 + chooser.below(5),
        "overflow": pick(chooser, OVERFLOWS),
        "batchSize": pick(chooser, (8, 64, 100)) if is_wide else 1 + chooser.below(3),
        "sourceEventCache": pick(chooser, (4_096, 1, 2, 4)),
    }
    if chance(chooser, 15):
        options["maxEntryBytes"] = 24
    if chance(chooser, 35):
        options["compaction"] = {
            "entryThreshold": 2 + chooser.below(4),
            "capture": pick(chooser, ("tail", "tail", "tail", "fail", "flush")),
        }
    return options


class JournalGenerator:
    """Draws one step at a time for a session, from what it sees of runs and journal and from the tickets it holds.

    In one history of a dozen queues are wide, and many entries come at once.
    """

    def __init__(self, chooser: Chooser, runs: CommandGenerator) -> None:
        self._chooser = chooser
        self._runs = runs
        self._is_wide = chance(chooser, 8)

    def redirect(self, chooser: Chooser) -> None:
        """Take the next decisions from another source."""
        self._chooser = chooser

    def step(
        self, state: SystemState, journal: JournalView, held: Mapping[str, list[int]], clock_ms: float
    ) -> tuple[str, dict[str, object]]:
        """As ``drawn``, sometimes with storage that fails where the step reads it."""
        operation, arguments = self.drawn(state, journal, held, clock_ms)
        if operation in _READS and chance(self._chooser, 25 if operation == "lossy.read" else 6):
            faults = ("read", "newest") if operation == "journal.open" else ("read",)
            arguments["fault"] = pick(self._chooser, faults)
        elif operation == "compact.poll" and chance(self._chooser, 25):
            arguments["fault"] = "delete"
        return operation, arguments

    def drawn(
        self, state: SystemState, journal: JournalView, held: Mapping[str, list[int]], clock_ms: float
    ) -> tuple[str, dict[str, object]]:
        """An operation and its arguments. ``held`` has the numbers of what the session has begun, by its kind."""
        chooser = self._chooser
        if not state.runs:
            return "run.create", {"runId": "r0", "stateJson": "{}"}
        if (journal.memory is None or journal.memory.status == "closed") and not chance(chooser, 20):
            return self._open(state, journal)
        operation = _DECK[chooser.below(len(_DECK))]
        if operation == "run":
            return self._run_step(state, clock_ms)
        numbered = _NUMBERED.get(operation)
        if numbered is not None:
            kind, name = numbered
            numbers = held.get(kind, [])
            if not numbers:
                return self._emit_lossy()
            return operation, {name: pick(chooser, numbers[-3:])}
        if operation == "maintenance.step" and (journal.memory is None or not journal.memory.maintenance):
            return self._emit_lossy()
        draw = _DRAWS.get(operation)
        return (operation, {}) if draw is None else draw(self, state, journal)

    def _run_step(self, state: SystemState, clock_ms: float) -> tuple[str, dict[str, object]]:
        operation = _RUN_DECK[self._chooser.below(len(_RUN_DECK))]
        return operation, dict(self._runs.arguments(operation, state, clock_ms))

    def _maintenance_step(self, _: SystemState, journal: JournalView) -> tuple[str, dict[str, object]]:
        tasks = 0 if journal.memory is None else len(journal.memory.maintenance)
        return "maintenance.step", {"place": self._chooser.below(tasks)} if tasks > 1 else {}

    def _emit_lossy(self) -> tuple[str, dict[str, object]]:
        return "journal.emitLossy", {"input": self.event()}

    def event(self) -> object:
        """An input: mostly good, with a number in half the cases, sometimes one that was used before."""
        chooser = self._chooser
        if chance(chooser, 5):
            return pick(chooser, BAD_INPUTS)
        event: dict[str, object] = {
            "runId": pick(chooser, RUN_IDS),
            "sourceId": pick(chooser, SOURCES),
            "eventType": pick(chooser, EVENT_TYPES),
            "payload": pick(chooser, PAYLOADS),
        }
        if chance(chooser, 45):
            event["sourceSeq"] = chooser.below(10)
        if chance(chooser, 15):
            event["dedupe"] = "identity"
        if chance(chooser, 25):
            event["meta"] = pick(chooser, METAS)
        return event

    def owner(self, state: SystemState, run_id: object) -> object:
        """Mostly whoever holds the lease."""
        chooser = self._chooser
        lease = state.leases.get(str(run_id))
        if lease is not None and not chance(chooser, 20):
            host_id, pid, nonce = (lease[index] for index in _LEASE_OWNER)
            if isinstance(host_id, str) and isinstance(pid, int) and isinstance(nonce, str):
                return OwnerId(host_id, pid, nonce)
        return pick(chooser, (*OWNERS, None, {"hostId": "h1"}))

    def _write_event(self, _: SystemState, journal: JournalView) -> tuple[str, dict[str, object]]:
        """A row by hand, above the tail; now and then one that no reader can decode."""
        chooser = self._chooser
        run_id = pick(chooser, RUN_IDS)
        events = journal.events.get(run_id, ())
        columns: dict[str, object] = {
            "run_id": run_id,
            "seq": (events[-1][0] + 1 if events else 0) + pick(chooser, (0, 0, 0, 1, 3)),
            "source_id": pick(chooser, SOURCES),
            "source_seq": chooser.below(12),
            "emitted_at_ms": 5,
            "event_type": "e.\0" if chance(chooser, 4) else pick(chooser, EVENT_TYPES),
            "payload_json": pick(chooser, ("1", '"x"', '{"v":1}')),
            "meta_json": "null",
        }
        return "event.write", {"columns": columns}

    def _write_generation(self, _: SystemState, __: JournalView) -> tuple[str, dict[str, object]]:
        chooser = self._chooser
        return "generation.write", {
            "runId": pick(chooser, RUN_IDS),
            "generation": chooser.below(3),
            "afterSeq": chooser.below(5) - 1,
        }

    def _when_committed(self, _: SystemState, __: JournalView) -> tuple[str, dict[str, object]]:
        return "journal.whenCommitted", {"label": pick(self._chooser, LABELS)}

    def _after_commit(self, _: SystemState, __: JournalView) -> tuple[str, dict[str, object]]:
        return "journal.afterCommit", {"label": pick(self._chooser, LABELS)}

    def _owned_run(self, state: SystemState) -> str:
        """Mostly a run that somebody owns, if there is one."""
        chooser = self._chooser
        owned = [run_id for run_id in RUN_IDS if run_id in state.leases and state.leases[run_id][_LEASE_OWNER[0]]]
        return pick(chooser, owned if owned and not chance(chooser, 25) else RUN_IDS)

    def _seq(self, journal: JournalView, run_id: str) -> int:
        chooser = self._chooser
        events = journal.events.get(run_id, ())
        if events and not chance(chooser, 20):
            return pick(chooser, events)[0]
        return chooser.below(12)

    def _emit_durable(self, state: SystemState, _: JournalView) -> tuple[str, dict[str, object]]:
        event = self.event()
        run_id = event.get("runId") if isinstance(event, dict) else None
        return "journal.emitDurable", {"input": event, "owner": self.owner(state, run_id)}

    def _emit_unfenced(self, _: SystemState, __: JournalView) -> tuple[str, dict[str, object]]:
        return "journal.emitDurableUnfenced", {"input": self.event()}

    def _emit_lossy_drawn(self, _: SystemState, __: JournalView) -> tuple[str, dict[str, object]]:
        return self._emit_lossy()

    def _begin_lossy(self, _: SystemState, __: JournalView) -> tuple[str, dict[str, object]]:
        return "lossy.begin", {"input": self.event()}

    def _write(self, _: SystemState, __: JournalView) -> tuple[str, dict[str, object]]:
        return "writer.write", {"fault": "sink"} if chance(self._chooser, 15) else {}

    def _entries(self, _: SystemState, journal: JournalView) -> tuple[str, dict[str, object]]:
        chooser = self._chooser
        run_id = pick(chooser, RUN_IDS)
        arguments: dict[str, object] = {"runId": run_id, "limit": pick(chooser, (1, 2, 10_000, 0, 10_001))}
        if chance(chooser, 60):
            arguments["after"] = self._seq(journal, run_id)
        if chance(chooser, 25):
            arguments["eventTypes"] = pick(chooser, (["e.a"], ["e.b", "e.b"], [], ["none"]))
        return "journal.entries", arguments

    def _checkpoint(self, state: SystemState, journal: JournalView) -> tuple[str, dict[str, object]]:
        chooser = self._chooser
        run_id = self._owned_run(state)
        return "journal.checkpoint", {
            "runId": run_id,
            "seq": self._seq(journal, run_id),
            "state": pick(chooser, STATES) if not chance(chooser, 4) else 2**60,
            "owner": self.owner(state, run_id),
        }

    def _latest(self, _: SystemState, __: JournalView) -> tuple[str, dict[str, object]]:
        return "journal.latestCheckpoint", {"runId": pick(self._chooser, (*RUN_IDS, ""))}

    def _compact(self, state: SystemState, journal: JournalView) -> tuple[str, dict[str, object]]:
        return "journal.compact", self._compact_arguments(state, journal)

    def _begin_compact(self, state: SystemState, journal: JournalView) -> tuple[str, dict[str, object]]:
        return "compact.begin", self._compact_arguments(state, journal)

    def _compact_arguments(self, state: SystemState, journal: JournalView) -> dict[str, object]:
        chooser = self._chooser
        run_id = self._owned_run(state)
        arguments: dict[str, object] = {"runId": run_id, "owner": self.owner(state, run_id)}
        checkpoints = journal.checkpoints.get(run_id, ())
        if chance(chooser, 35):
            arguments["upTo"] = pick(chooser, checkpoints)[0] if checkpoints else chooser.below(8)
        return arguments

    def _generation(self, _: SystemState, __: JournalView) -> tuple[str, dict[str, object]]:
        return "journal.generation", {"runId": pick(self._chooser, RUN_IDS)}

    def _forget(self, _: SystemState, __: JournalView) -> tuple[str, dict[str, object]]:
        return "journal.forget", {"runIds": [pick(self._chooser, RUN_IDS)]}

    def _open(self, _: SystemState, __: JournalView) -> tuple[str, dict[str, object]]:
        return "journal.open", {"options": draw_options(self._chooser, is_wide=self._is_wide)}

    def _open_stream(self, _: SystemState, journal: JournalView) -> tuple[str, dict[str, object]]:
        chooser = self._chooser
        run_id = pick(chooser, RUN_IDS)
        arguments: dict[str, object] = {"runId": run_id}
        if chance(chooser, 50):
            arguments["afterSequence"] = self._seq(journal, run_id)
        return "stream.open", arguments

    def _burst(self) -> list[dict[str, object]]:
        """Entries that are new, of one run or of both, so that no row stands in their way."""
        chooser = self._chooser
        run_ids = pick(chooser, (RUN_IDS[:1], RUN_IDS[1:], RUN_IDS))
        same = {"sourceId": pick(chooser, SOURCES), "eventType": pick(chooser, EVENT_TYPES)}
        events = (
            {"runId": run_ids[number % len(run_ids)], **same, "payload": number}
            for number in range(pick(chooser, BURSTS))
        )
        return [{"op": "journal.emitLossy", "args": {"input": event}} for event in events]

    def _transact(self, state: SystemState, journal: JournalView) -> tuple[str, dict[str, object]]:
        chooser = self._chooser
        draws = (
            self._emit_lossy_drawn,
            self._emit_unfenced,
            self._emit_durable,
            self._checkpoint,
            self._compact,
            self._when_committed,
        )
        operations: list[dict[str, object]] = []
        if self._is_wide and chance(chooser, 50):
            operations += self._burst()
        for _ in range(1 + chooser.below(4)):
            operation, arguments = pick(chooser, draws)(state, journal)
            operations.append({"op": operation, "args": arguments})
        if chance(chooser, 20):
            operations.append({"op": "fail", "args": {}})
        return "journal.transact", {"ops": operations}


_READS: Final = frozenset(
    {
        *("journal.open", "journal.entries", "journal.latestCheckpoint", "journal.generation", "stream.page"),
        *("lossy.read", "maintenance.step"),
    }
)
"""Steps that read outside of a write, so that their reads can fail by themselves."""

_Draw = Callable[[JournalGenerator, SystemState, JournalView], tuple[str, dict[str, object]]]

_NUMBERED: Final = {
    "lossy.read": ("token", "token"),
    "lossy.finish": ("token", "token"),
    "flush.poll": ("flush", "ticket"),
    "compact.poll": ("compaction", "ticket"),
    "close.poll": ("close", "ticket"),
    "stream.page": ("stream", "stream"),
    "stream.close": ("stream", "stream"),
    "changes.take": ("changes", "changes"),
    "changes.close": ("changes", "changes"),
}
"""Steps that go on with something begun: what kind of thing, and the argument that names it."""

_DRAWS: Final[Mapping[str, _Draw]] = {
    "journal.emitDurable": JournalGenerator._emit_durable,
    "journal.emitDurableUnfenced": JournalGenerator._emit_unfenced,
    "journal.emitLossy": JournalGenerator._emit_lossy_drawn,
    "lossy.begin": JournalGenerator._begin_lossy,
    "writer.write": JournalGenerator._write,
    "maintenance.step": JournalGenerator._maintenance_step,
    "journal.entries": JournalGenerator._entries,
    "journal.checkpoint": JournalGenerator._checkpoint,
    "journal.latestCheckpoint": JournalGenerator._latest,
    "journal.compact": JournalGenerator._compact,
    "compact.begin": JournalGenerator._begin_compact,
    "journal.generation": JournalGenerator._generation,
    "journal.forget": JournalGenerator._forget,
    "journal.open": JournalGenerator._open,
    "journal.whenCommitted": JournalGenerator._when_committed,
    "journal.afterCommit": JournalGenerator._after_commit,
    "event.write": JournalGenerator._write_event,
    "generation.write": JournalGenerator._write_generation,
    "journal.transact": JournalGenerator._transact,
    "stream.open": JournalGenerator._open_stream,
}
