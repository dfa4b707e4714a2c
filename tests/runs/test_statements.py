"""Tests of how the statements find their rows."""

from pathlib import Path

import apsw
import pytest

import tenure
from tenure.consensus import database as consensus
from tenure.runs import statements
from tests.database.plans import SCAN, migrated, plan, statements_in
from tests.runs.support import NOW, A, World


@pytest.fixture
def connection(tmp_path: Path) -> apsw.Connection:
    """A raw connection to an empty, migrated database."""
    return migrated(tmp_path / "runs.db")


@pytest.mark.parametrize("sql", [*statements.STATEMENTS, *consensus.STATEMENTS])
def test_no_statement_scans_a_table(connection: apsw.Connection, sql: str) -> None:
    """Every statement searches by a key or an index, so that its cost does not grow with the number of runs."""
    steps = plan(connection, sql)

    assert [step for step in steps if SCAN.search(step)] == []
    assert [step for step in steps if "TEMP B-TREE" in step and "ORDER BY" not in sql] == []


def test_scan_would_be_seen(connection: apsw.Connection) -> None:
    """The test above can fail: a statement without a usable index is reported as a scan."""
    assert any(SCAN.search(step) for step in plan(connection, "SELECT * FROM flows_runs WHERE status = ?1"))


def test_every_statement_is_listed() -> None:
    """A statement added to a module is in the list that the tests above go through."""
    for module in (statements, consensus):
        assert statements_in(module) == set(module.STATEMENTS)


def test_latest_round_reads_one_member(connection: apsw.Connection) -> None:
    """The newest round comes off the end of the index, without sorting the lineage."""
    steps = plan(connection, statements.LATEST_ROUND)

    assert any("flows_runs_lineage_idx (lineage_id=?)" in step for step in steps)
    assert [step for step in steps if "TEMP B-TREE" in step] == []


@pytest.mark.parametrize(
    "sql", [statements.LINEAGE, statements.REQUEST_CANCEL_LINEAGE, statements.CANCELLATION_LINEAGE]
)
def test_lineage_is_found_by_its_index(connection: apsw.Connection, sql: str) -> None:
    """Members are found by lineage and the root by its key."""
    steps = plan(connection, sql)

    assert any("flows_runs_lineage_idx (lineage_id=?)" in step for step in steps)


def steps_of(world: World, call: str) -> int:
    """How many virtual machine instructions SQLite takes for the operation."""
    connection = world.store.database._connection._connection  # type: ignore[attr-defined]  # the driver counts
    count = 0

    def tick() -> bool:
        nonlocal count
        count += 1
        return False

    connection.set_progress_handler(tick, 1)
    if call == "heartbeat":
        world.runs.heartbeat("r", A, NOW)
    elif call == "cycle":
        world.runs.create("cycle", "{}")
        world.runs.claim_and_own("cycle", tenure.PENDING, A, NOW)
        world.runs.transition_owned("cycle", A, "completed")
        world.sql("DELETE FROM flows_runs WHERE run_id = 'cycle'")
    elif call == "latest round":
        world.runs.latest_round("r/1")
    else:
        world.runs.lineage("r/1")
    connection.set_progress_handler(None)
    return count


@pytest.mark.parametrize("call", ["heartbeat", "cycle", "latest round", "lineage"])
def test_cost_does_not_grow_with_the_number_of_runs(world: World, call: str) -> None:
    """SQLite takes as many instructions among a thousand runs as among a handful."""
    world.owned()
    world.runs.create("r/1", "{}", tenure.CreateOptions(lineage_id="r", round_ordinal=1))
    steps_of(world, call)
    few = steps_of(world, call)
    with world.store.transaction():
        for number in range(1_000):
            options = tenure.CreateOptions(lineage_id=f"L{number % 7}", round_ordinal=number)
            world.runs.create(f"other-{number}", "{}", options)
    many = steps_of(world, call)

    # A scan would take several instructions a run; a few either way depend on where in its page a row lies.
    assert abs(many - few) < 20


def test_latest_round_does_not_grow_with_the_lineage(world: World) -> None:
    """The newest round of a long lineage costs what that of a short one costs."""
    world.owned()
    world.runs.create("r/1", "{}", tenure.CreateOptions(lineage_id="r", round_ordinal=1))
    few = steps_of(world, "latest round")
    with world.store.transaction():
        for number in range(2, 1_000):
            world.runs.create(f"r/{number}", "{}", tenure.CreateOptions(lineage_id="r", round_ordinal=number))

    assert abs(steps_of(world, "latest round") - few) < 20
    assert world.runs.latest_round("r").run_id == "r/999"
