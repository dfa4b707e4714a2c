"""Tests of storage that fails under the operations: what is told, and that nothing is half-written."""

from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

import tenure
from tenure.database.engine import DatabaseError
from tests.attempts.support import FULL, INSERTED, KEY, PATCHED, PLAIN, beat, ended, like, refused
from tests.database.support import Faults, FaultyEngine, commit_then_fail, contents, raw
from tests.runs.support import NOW, UPDATED, A, World, new_world
from tests.worlds import error_of, shown_by

EVERY_WRITE = pytest.mark.parametrize("name", ["put", "put over", "heartbeat", "finish", "patch"])


def writes(world: World) -> dict[str, Callable[[], object]]:
    """Every operation that writes, on an attempt of its own on which it succeeds."""
    world.owned()
    attempts = world.store.attempts
    for number in range(1, 5):
        attempts.put(like(FULL, attempt=number), A)
    key = attrs.evolve(KEY, attempt=3)
    return {
        "put": lambda: attempts.put(PLAIN, A),
        "put over": lambda: attempts.put(like(PLAIN, attempt=4), A),
        "heartbeat": lambda: beat(world, key=attrs.evolve(KEY, attempt=1)),
        "finish": lambda: attempts.finish(ended(attempt=2), A),
        "patch": lambda: attempts.patch(key, tenure.AttemptPatch(meta=1), A),
    }


@EVERY_WRITE
def test_failure_at_any_statement(tmp_path: Path, name: str) -> None:
    """Whichever statement of an operation fails, from BEGIN to COMMIT, nothing of it stays (RS-365, RS-390)."""
    faults = Faults()
    world = new_world(FaultyEngine(tmp_path / "runs.db", faults), attempts=tenure.AttemptOptions(put_mode="upsert"))
    call = writes(world)[name]
    before = contents(tmp_path / "runs.db")
    statements: list[str] = []
    failing = 0
    while True:
        statements.clear()

        def fail_at(sql: str, number: int = failing) -> None:
            statements.append(sql)
            if len(statements) == number + 1:
                raise DatabaseError("io")

        faults.before = fail_at
        failure = error_of(tenure.AttemptStoreError, call)
        faults.before = lambda sql: None
        if failure is None:
            break
        assert failure == tenure.AttemptStoreError(
            "persistence_failed",
            name.split()[0],
            "attempt persistence failed",
            {"category": "persistence_failed", "reason": "io", "cause": {"code": "io"}},
        )
        assert contents(tmp_path / "runs.db") == before
        failing += 1

    # One statement decides; only an overwriting put tries to insert first.
    assert failing == (4 if name == "put over" else 3)
    assert contents(tmp_path / "runs.db") != before


@EVERY_WRITE
def test_busy_is_repeated(tmp_path: Path, name: str) -> None:
    """A busy database has the whole write run again with what was admitted (RS-391)."""
    faults = Faults()
    world = new_world(FaultyEngine(tmp_path / "runs.db", faults), attempts=tenure.AttemptOptions(put_mode="upsert"))
    call = writes(world)[name]
    begun: list[str] = []

    def busy_at_first(sql: str) -> None:
        if sql == "BEGIN":
            begun.append(sql)
        elif len(begun) < 3:
            raise DatabaseError("busy")

    faults.before = busy_at_first

    assert call() in (INSERTED, tenure.Upserted(), UPDATED, tenure.Finished(), PATCHED)
    assert len(begun) == 3


@EVERY_WRITE
def test_locked_file(tmp_path: Path, name: str) -> None:
    """A file locked for longer than all attempts is ``persistence_failed``, its reason ``busy`` (RS-391, RS-365)."""
    path = tmp_path / "runs.db"
    world = new_world(str(path), busy_timeout_ms=0, attempts={"putMode": "upsert"})
    call = writes(world)[name]
    before = contents(path)
    holder = raw(path)
    holder.execute("BEGIN IMMEDIATE")

    error = refused(call)

    holder.execute("ROLLBACK")
    assert (error.code, error.text) == ("persistence_failed", "attempt persistence failed")
    assert error.cause == {"category": "persistence_failed", "reason": "busy", "cause": {"code": "busy"}}
    assert contents(path) == before
    call()
    assert contents(path) != before


def test_busy_inside_ones_own_transaction(tmp_path: Path) -> None:
    """Inside a transaction nothing is repeated alone, but the whole of it may be: the code is still found (RS-363)."""
    faults = Faults()
    world = new_world(FaultyEngine(tmp_path / "runs.db", faults), attempts=tenure.AttemptOptions(put_mode="upsert"))
    world.owned()
    tries: list[int] = []

    def busy_once(sql: str) -> None:
        if "INSERT INTO flows_attempts" in sql and len(tries) == 1:
            raise DatabaseError("busy")

    def put() -> object:
        tries.append(len(tries))
        return world.store.attempts.put(PLAIN, A)

    faults.before = busy_once

    assert world.store.write(put) == INSERTED
    assert tries == [0, 1]


def test_constraint(world: World) -> None:
    """What a constraint of the database refuses is ``constraint`` (RS-365)."""
    world.sql("CREATE TRIGGER no BEFORE INSERT ON flows_attempts BEGIN SELECT RAISE(ABORT, 's3cr3t'); END")

    error = refused(lambda: world.store.attempts.put(PLAIN, A))

    assert error == tenure.AttemptStoreError(
        "constraint",
        "put",
        "attempt persistence failed",
        {"category": "constraint", "reason": "constraint", "cause": {"code": "constraint"}},
    )
    assert error.message == "constraint: AttemptStore.put: attempt persistence failed"


def test_what_is_no_failure_of_the_database(tmp_path: Path) -> None:
    """Anything else that goes wrong inside has no code of the database to tell (RS-365)."""
    faults = Faults()
    world = new_world(FaultyEngine(tmp_path / "runs.db", faults), attempts=tenure.AttemptOptions(put_mode="upsert"))
    call = writes(world)["put"]

    def fail(sql: str) -> None:
        raise ZeroDivisionError("s3cr3t")

    faults.before = fail
    error = refused(call)

    assert error == tenure.AttemptStoreError(
        "persistence_failed",
        "put",
        "attempt persistence failed",
        {"category": "persistence_failed", "reason": "unknown"},
    )


def test_full_disk(tmp_path: Path) -> None:
    """A disk without room fails the write and undoes it; afterwards the store goes on (RS-365)."""
    path = tmp_path / "runs.db"
    world = new_world(str(path))
    world.owned()
    world.store.attempts.put(PLAIN, A)
    before = contents(path)
    world.store.database.rows(f"PRAGMA max_page_count = {world.sql('PRAGMA page_count')[0][0] + 2}", ())

    error = refused(lambda: world.store.attempts.patch(KEY, tenure.AttemptPatch(meta="x" * 100_000), A))

    assert error.cause == {"category": "persistence_failed", "reason": "io", "cause": {"code": "io"}}
    assert contents(path) == before
    assert beat(world) == UPDATED


@pytest.mark.parametrize("name", ["put", "heartbeat", "finish", "patch", "get"])
def test_missing_table(name: str) -> None:
    """Without its table a store fails under the name of the operation (RS-365)."""
    world = new_world(attempts={"putMode": "upsert"})
    calls = {**writes(world), "get": lambda: world.store.attempts.get(KEY)}
    world.sql("ALTER TABLE flows_attempts RENAME TO gone")

    error = refused(calls[name])

    assert (error.code, error.method) == ("persistence_failed", name)
    assert error.cause == {"category": "persistence_failed", "reason": "schema", "cause": {"code": "schema"}}


@EVERY_WRITE
def test_unknown_commit(tmp_path: Path, name: str) -> None:
    """A failure of COMMIT itself is told apart from a failure before it: the write may be there."""
    faults = Faults()
    world = new_world(FaultyEngine(tmp_path / "runs.db", faults), attempts=tenure.AttemptOptions(put_mode="upsert"))
    call = writes(world)[name]
    before = contents(tmp_path / "runs.db")
    faults.instead_of_commit = commit_then_fail

    error = refused(call)

    assert type(error) is tenure.AttemptCommitOutcomeUnknown
    assert (error.code, error.method) == ("persistence_failed", name.split()[0])
    assert error.text == "the outcome of the commit is unknown"
    assert contents(tmp_path / "runs.db") != before


@pytest.mark.parametrize("name", ["put", "heartbeat", "finish", "patch", "get"])
def test_closed_store(name: str) -> None:
    """A closed store says so, under the name of the operation."""
    world = new_world(attempts={"putMode": "upsert"})
    calls = {**writes(world), "get": lambda: world.store.attempts.get(KEY)}
    world.store.close()

    error = refused(calls[name])

    assert error.message == f"persistence_failed: AttemptStore.{name}: the store is closed"


def test_errors_quote_nothing(world: World) -> None:
    """Neither text nor cause nor the chain behind an error shows SQL, a driver's text or a value (RS-365)."""
    secret = "s3cr3t"
    world.sql("CREATE UNIQUE INDEX only_one ON flows_attempts (meta_json)")
    world.store.attempts.put(like(PLAIN, meta=secret), A)

    error = refused(lambda: world.store.attempts.put(like(PLAIN, attempt=1, meta=secret), A))

    assert error.code == "constraint"
    shown = shown_by(error)
    assert secret not in shown
    assert "UNIQUE" not in shown
    assert "flows_attempts" not in shown


def test_a_run_with_attempts_is_not_deleted(world: World) -> None:
    """The attempts of a run keep its row (RS-106, RS-110)."""
    world.store.attempts.put(PLAIN, A)

    with pytest.raises(DatabaseError) as caught:
        world.sql("DELETE FROM flows_runs WHERE run_id = 'r'")

    assert caught.value.code == "constraint"
    assert beat(world, now_ms=NOW) == UPDATED
