"""A journal with a clock to set and a writer that runs only when told to, and what tests ask of it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import attrs

import tenure
from tenure.database.engine import DatabaseError, Engine, SqlRow
from tenure.journal.driving import ManualDriver
from tenure.journal.instance import Instance
from tenure.journal.writer import LossyWriter
from tests.database.support import Faults, FaultyEngine
from tests.worlds import NOW, A, Clock, StoreWorld, raised

B = tenure.OwnerId("h2", 2, "b")

MAX = 2**53 - 1


@attrs.frozen
class World(StoreWorld):
    """One store with a journal, and everything that is injected into it."""

    TABLES: ClassVar = (
        "flows_journal_events",
        "flows_journal_checkpoints",
        "flows_journal_dedup",
        "flows_consensus_leases",
    )

    store: tenure.Store
    clock: Clock
    faults: Faults

    @property
    def journal(self) -> tenure.Journal:
        return self.store.journal

    @property
    def instance(self) -> Instance:
        return self.journal.instance

    @property
    def writer(self) -> LossyWriter:
        """The writer of a journal that is driven by hand."""
        driver = self.instance.driver
        assert isinstance(driver, ManualDriver)
        return driver.writer

    def own(self, run_id: str = "r", owner: tenure.OwnerId = A) -> None:
        """Make ``owner`` the owner of the run's lease, by hand (JN-423)."""
        self.sql(
            "INSERT OR REPLACE INTO flows_consensus_leases"
            " (run_id, owner_host_id, owner_pid, owner_nonce, granted_at_ms, heartbeat_at_ms)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            run_id,
            owner.host_id,
            owner.pid,
            owner.nonce,
            NOW,
            NOW,
        )

    def seqs(self, run_id: str = "r") -> list[int]:
        """The seqs that the run's rows have."""
        return [row[0] for row in self.rows("SELECT seq FROM flows_journal_events WHERE run_id = ? ORDER BY 1", run_id)]

    def rows(self, statement: str, *bindings: str | int | None) -> list[SqlRow]:
        """What a SELECT answers."""
        return self.store.database.read(statement, bindings)

    def fill(self, count: int, run_id: str = "r") -> list[int]:
        """Append ``count`` events of producer ``p``; answers their seqs."""
        return [self.durable(index, run_id=run_id).seq for index in range(count)]

    def durable(self, payload: object = None, **fields: object) -> tenure.DurableReceipt:
        """Append one event durably, unfenced."""
        return self.journal.emit_durable_unfenced(event(payload, **fields))

    def lossy(self, payload: object = None, **fields: object) -> tenure.EmitReceipt:
        """Queue one event."""
        return self.journal.emit_lossy(event(payload, **fields))

    def fail(self, code: str = "io", *, on: str = "INSERT INTO flows_journal_events") -> None:
        """From now on, fail every statement that contains ``on``."""

        def before(sql: str) -> None:
            if on in sql:
                raise DatabaseError(code)  # type: ignore[arg-type]  # tests pass codes as text

        self.faults.before = before

    def mend(self) -> None:
        """Fail no more."""
        self.faults.before = lambda sql: None

    def reopened(self, **options: Any) -> "World":
        """Another store on the same file, with an instance of its own."""
        return new_world(self.path, **options)

    @property
    def path(self) -> str:
        """The file."""
        return str(self.rows("SELECT file FROM pragma_database_list WHERE name = 'main'")[0][0])


def event(payload: object = None, **fields: object) -> Mapping[str, object]:
    """An input in wire form: run ``r``, producer ``p``, type ``e`` unless told otherwise, by Python's names."""
    wire: dict[str, object] = {"runId": "r", "sourceId": "p", "eventType": "e", "payload": payload}
    names = {"run_id": "runId", "source_id": "sourceId", "source_seq": "sourceSeq", "event_type": "eventType"}
    return {**wire, **{names.get(name, name): value for name, value in fields.items()}}


def new_world(path: str | Path = ":memory:", *, writer: str = "manual", **options: Any) -> World:
    """A store with a journal on a database; ``options`` are the journal's, by Python's names.

    Of ``retry``, ``poll_ms``, ``capture_timeout_ms`` and ``wait`` the store and the set-up make use instead.
    """
    clock, faults = Clock(), Faults()
    setup = {name: options.pop(name) for name in ("poll_ms", "capture_timeout_ms", "wait") if name in options}
    retry = options.pop("retry", tenure.RetryPolicy(attempts=1))
    engine: Engine = FaultyEngine(path, faults, busy_timeout_ms=5_000)
    journal = tenure.JournalSetup(
        tenure.JournalOptions(**{"capacity": 64, "overflow": "reject", **options}),
        writer,  # type: ignore[arg-type]  # one of two words
        **setup,
    )
    store = tenure.open(engine, clock=clock, sleep=lambda seconds: None, journal=journal, retry=retry)
    return World(store, clock, faults)


def refused(call: Callable[[], object]) -> tenure.JournalError:
    """The journal error that a call raises."""
    return raised(tenure.JournalError, call)


class _RolledBack(Exception):
    """What a block ends with that is to roll back."""


@contextmanager
def rolled_back(transaction: AbstractContextManager[None]) -> Iterator[None]:
    """Run a block inside ``transaction`` and roll it back at the end."""
    with suppress(_RolledBack), transaction:
        yield
        raise _RolledBack


@contextmanager
def unchanged(world: World) -> Iterator[None]:
    """Every row, floor and remembered identity is afterwards what it was before."""
    before, memory = world.digest(), memory_of(world)
    yield
    assert world.digest() == before
    assert memory_of(world) == memory


@contextmanager
def unchanged_memory(world: World) -> Iterator[None]:
    """As ``unchanged``, where the database cannot be read."""
    before = memory_of(world)
    yield
    assert memory_of(world) == before


def memory_of(world: World) -> object:
    """What the instance keeps in memory."""
    instance = world.instance
    return (
        dict(instance.floors.seq),
        dict(instance.floors.source),
        set(instance.floors.warm),
        [(identity, found.seq, found.payload_json, status) for identity, found, status in instance.cache.items()],
        [queued.identity for queued in instance.backlog.queue],
        instance.backlog.losses,
    )
