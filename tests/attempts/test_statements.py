"""Tests of how the statements find their rows."""

from pathlib import Path

import apsw
import pytest

import tenure
from tenure.attempts import statements
from tests.attempts.support import PLAIN, beat, ended, like
from tests.database.plans import SCAN, migrated, plan, statements_in
from tests.runs.support import A, World


@pytest.fixture
def connection(tmp_path: Path) -> apsw.Connection:
    """A raw connection to an empty, migrated database."""
    return migrated(tmp_path / "runs.db")


@pytest.mark.parametrize("sql", statements.STATEMENTS)
def test_no_statement_scans_a_table(connection: apsw.Connection, sql: str) -> None:
    """Runs are found by their id and attempts by their whole key."""
    steps = [step for step in plan(connection, sql) if "flows_" in step]

    assert [step for step in steps if SCAN.search(step)] == []
    for step in steps:
        key = "(run_id=? AND step_key_digest=? AND attempt=?)" if "flows_attempts" in step else "(run_id=?)"
        assert key in step


def test_scan_would_be_seen(connection: apsw.Connection) -> None:
    """The test above can fail: a statement without a usable index is reported as a scan."""
    assert any(SCAN.search(step) for step in plan(connection, "SELECT * FROM flows_attempts WHERE state = ?1"))


def test_every_statement_is_listed() -> None:
    """A statement added to the module is in the list that the tests above go through."""
    assert statements_in(statements) == set(statements.STATEMENTS)


def steps_of(world: World) -> int:
    """How many virtual machine instructions SQLite takes for a life of an attempt and a loss of every kind."""
    connection = world.store.database._connection._connection  # type: ignore[attr-defined]  # the driver counts
    count = 0

    def tick() -> bool:
        nonlocal count
        count += 1
        return False

    connection.set_progress_handler(tick, 1)
    attempts = world.store.attempts
    attempts.put(PLAIN, A)
    attempts.put(PLAIN, A)
    beat(world)
    attempts.patch(PLAIN, tenure.AttemptPatch(), A)
    attempts.finish(ended(), A)
    attempts.finish(ended(), A)
    attempts.get(PLAIN)
    world.sql("DELETE FROM flows_attempts WHERE run_id = 'r' AND step_key_digest = 'step' AND attempt = 0")
    connection.set_progress_handler(None)
    return count


def test_cost_does_not_grow_with_the_number_of_attempts(world: World) -> None:
    """SQLite takes as many instructions among a thousand attempts as alone."""
    steps_of(world)
    few = steps_of(world)
    with world.store.transaction():
        for number in range(1_000):
            world.store.attempts.put(like(PLAIN, step_key_digest=f"step{number % 7}", attempt=number), A)
    many = steps_of(world)

    # A scan would take several instructions an attempt; a few either way depend on where in its page a row lies.
    assert abs(many - few) < 60
