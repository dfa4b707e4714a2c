"""The subjects of the cases, model and store, driven by the same calls; and engines that are wrong on purpose."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, TypeAlias

import tenure
from tenure.consensus.strategy import ConsensusStrategy
from tenure.database.engine import Bindings, Connection, Engine, SqlRow
from tenure.database.sqlite import SqliteEngine
from tenure.database.writer import Database
from tenure_model.conform.model_system import ModelSystem
from tenure_model.semantics.profiles import REFERENCE
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.operations import RUN_OPERATIONS, OperationSignature

T0: Final = 1_000_000
"""Where every clock starts, in ms."""
STALE: Final = tenure.HEARTBEAT_STALE_AFTER_MS

A: Final = tenure.OwnerId("host-1", 41, "first")
A2: Final = tenure.OwnerId("host-1", 41, "second")
"""The same process name on the same host, started again."""
B: Final = tenure.OwnerId("host-2", 7, "other")

OPERATIONS: Final = {signature.python_name: signature for signature in RUN_OPERATIONS.values()}


class SetupError(RuntimeError):
    """A check did not get as far as what it checks: no mutant counts as killed by that."""


def must(outcome: Any, kind: type) -> Any:
    """The outcome of a preparing call, which has to be of this kind."""
    if not isinstance(outcome, kind):
        raise SetupError(f"{outcome!r} is no {kind.__name__}")
    return outcome


class Subject:
    """One run store with a clock of its own: ``subject.claim(...)`` calls, and answers errors as values."""

    clock_ms: int = T0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in OPERATIONS:
            raise AttributeError(name)
        return partial(self._call_positionally, OPERATIONS[name])

    def _call_positionally(self, signature: OperationSignature, *values: object, **named: object) -> object:
        arguments = dict(zip(signature.parameters, values, strict=False))
        wire_names = {python: wire for wire, python in signature.parameters.items()}
        return self.call(signature.wire_name, arguments | {wire_names[name]: value for name, value in named.items()})

    def call(self, operation: str, arguments: Mapping[str, object]) -> object:
        """One operation by its wire names."""
        raise NotImplementedError

    def state(self) -> object:
        """Everything that is stored, comparable."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of what the subject holds."""

    def lease(self, run_id: str = "r") -> tuple[Any, ...]:
        """The lease's columns in the order of ``LEASE_COLUMNS``; empty without a lease."""
        raise NotImplementedError

    def revision(self) -> int:
        """The source revision: what every write of a run row consumes."""
        raise NotImplementedError


class ModelSubject(Subject):
    """The pure model, or a wrong one."""

    def __init__(self, system: ModelSystem | None = None) -> None:
        self.system = ModelSystem(REFERENCE, ("s0",)) if system is None else system

    def call(self, operation: str, arguments: Mapping[str, object]) -> object:
        return self.system.call("s0", operation, arguments, self.clock_ms)

    def state(self) -> object:
        return self.system.state("s0")

    def lease(self, run_id: str = "r") -> tuple[Any, ...]:
        return self.system.state("s0").leases.get(run_id, ())

    def revision(self) -> int:
        return self.system.state("s0").source


class FactTable:
    """Keeps ownership facts beside the runs, inside their transactions."""

    def __init__(self, database: Database) -> None:
        self._rows = database.rows
        database.write(self._rows, "CREATE TABLE IF NOT EXISTS kept_facts (id INTEGER PRIMARY KEY, fact TEXT)")

    def record(self, fact: OwnershipFact) -> None:
        self._rows("INSERT INTO kept_facts (fact) VALUES (?)", (repr(fact),))


class StoreSubject(Subject):
    """The real store over an engine that may be wrong, with a strategy that may be."""

    def __init__(
        self,
        engine: Engine | str = ":memory:",
        *,
        consensus: ConsensusStrategy | None = None,
        sleep: Callable[[float], object] = lambda seconds: None,
        retry: tenure.RetryPolicy | None = None,
    ) -> None:
        self.store = tenure.open(
            engine,
            clock=lambda: self.clock_ms,
            sleep=sleep,
            random=lambda: 0.5,
            consensus="database" if consensus is None else consensus,
            facts=FactTable,
            retry=retry,
        )

    def call(self, operation: str, arguments: Mapping[str, object]) -> object:
        signature = RUN_OPERATIONS[operation]
        named = {signature.parameters[wire]: value for wire, value in arguments.items()}
        try:
            return getattr(self.store.runs, signature.python_name)(**named)
        except tenure.RunStoreError as error:
            return error

    def state(self) -> object:
        return digest(self.store.database.read)

    def lease(self, run_id: str = "r") -> tuple[Any, ...]:
        rows = self.store.database.read("SELECT * FROM flows_consensus_leases WHERE run_id = ?", (run_id,))
        return tuple(rows[0]) if rows else ()

    def revision(self) -> int:
        return int(self.store.database.read("SELECT revision FROM flows_run_source")[0][0])

    def alter(self, sql: str) -> None:
        """Raw SQL, past every operation."""
        self.store.database.write(self.store.database.rows, sql)

    def close(self) -> None:
        self.store.close()


Make: TypeAlias = Callable[[], Subject]
Check: TypeAlias = Callable[[Make], object]
TABLES: Final = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"


def digest(read: Callable[[str], Sequence[SqlRow]]) -> dict[str, list[SqlRow]]:
    """Every row of every table, and the schema: the whole database."""
    found = {name: list(read(f"SELECT * FROM {name} ORDER BY 1")) for (name,) in read(TABLES)}
    found["schema"] = list(read("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2"))
    return found


@contextmanager
def unchanged(subject: Subject) -> Iterator[None]:
    """Nothing that is stored may differ afterwards."""
    before = subject.state()
    yield
    assert subject.state() == before


def expired(owner: tenure.OwnerId, now_ms: int) -> tenure.LivenessEvidence:
    """Evidence that needs nothing but an old stamp."""
    return tenure.LivenessEvidence(owner, now_ms, "lease-expired")


def owned(make: Make, owner: tenure.OwnerId = A, now_ms: int = T0) -> Subject:
    """A subject with run ``r`` running under ``owner`` since ``now_ms``."""
    subject = make()
    must(subject.create("r", '{"at":0}'), type(None))
    must(subject.claim_and_own("r", tenure.PENDING, owner, now_ms), tenure.Activated)
    return subject


def stolen(subject: Subject, thief: tenure.OwnerId, now_ms: int) -> tuple[Any, tenure.RunRow]:
    """``thief`` has claimed the stale run; its token, and the snapshot to activate with."""
    subject.clock_ms = now_ms
    row = subject.get("r")
    claimed = must(subject.steal("r", row, thief, now_ms, expired(row.owner, now_ms)), tenure.Claimed)
    return claimed.claimed_at_ms, row


def taken_over(make: Make, taker: tenure.OwnerId, *, at_once: bool = False) -> Subject:
    """A owned ``r``, went silent, and ``taker`` owns it now: by steal and activate, or by ``claim_and_own``."""
    subject = owned(make)
    now_ms = T0 + STALE + 1
    if at_once:
        subject.clock_ms = now_ms
        must(subject.claim_and_own("r", subject.get("r"), taker, now_ms, expired(A, now_ms)), tenure.Activated)
    else:
        token, row = stolen(subject, taker, now_ms)
        must(subject.activate("r", taker, token, row), tenure.Activated)
    return subject


class PassThrough:
    """A connection that does what the real one does; mutants override one method."""

    def __init__(self, inner: Connection) -> None:
        self.inner = inner

    def rows(self, sql: str, bindings: Bindings = (), /) -> list[SqlRow]:
        return self.inner.rows(sql, bindings)

    def begin(self) -> None:
        self.inner.begin()

    def commit(self) -> None:
        self.inner.commit()

    def rollback(self) -> None:
        self.inner.rollback()

    def savepoint(self) -> None:
        self.inner.savepoint()

    def release(self) -> None:
        self.inner.release()

    def rollback_to_savepoint(self) -> None:
        self.inner.rollback_to_savepoint()

    @property
    def in_transaction(self) -> bool:
        return self.inner.in_transaction

    def close(self) -> None:
        self.inner.close()


class WrappedEngine:
    """An engine whose connections are wrapped."""

    def __init__(self, engine: Engine, wrap: Callable[[Connection], Connection]) -> None:
        self._engine = engine
        self._wrap = wrap

    @property
    def concurrent_reads(self) -> bool:
        return self._engine.concurrent_reads

    def connect(self, *, read_only: bool = False) -> Connection:
        return self._wrap(self._engine.connect(read_only=read_only))


class Rewriter:
    """Turns statements into wrong ones; ``used`` holds the patterns that were found in any statement run."""

    def __init__(self, *rewrites: tuple[str, str]) -> None:
        self.patterns = [(re.compile(pattern), replacement) for pattern, replacement in rewrites]
        self.used: set[str] = set()

    def __call__(self, connection: Connection) -> Connection:
        rewrite = self._rewrite

        class Rewriting(PassThrough):
            def rows(self, sql: str, bindings: Bindings = (), /) -> list[SqlRow]:
                return self.inner.rows(rewrite(sql), bindings)

        return Rewriting(connection)

    def _rewrite(self, sql: str) -> str:
        if "flows_" not in sql or sql.lstrip().startswith("CREATE"):
            return sql
        for pattern, replacement in self.patterns:
            sql, count = pattern.subn(replacement, sql)
            if count:
                self.used.add(pattern.pattern)
        return sql


def memory_engine(wrap: Callable[[Connection], Connection]) -> WrappedEngine:
    """A private database behind wrapped connections."""
    return WrappedEngine(SqliteEngine(":memory:"), wrap)
