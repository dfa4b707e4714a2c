"""Tests of storage that fails under the operations: what is told, and that nothing is half-written."""

from collections.abc import Callable
from pathlib import Path

import pytest

import tenure
from tenure.database.engine import DatabaseError
from tests.database.support import Faults, FaultyEngine, commit_then_fail, contents, raw
from tests.runs.support import (
    ACTIVATED,
    NOW,
    UPDATED,
    A,
    B,
    World,
    evidence,
    new_world,
    refused,
    running,
)
from tests.worlds import error_of, shown_by

OLD = NOW - 30_001


def writes(world: World) -> dict[str, Callable[[], object]]:
    """Every operation that writes, on a run of its own on which it succeeds."""
    for name in ("activate", "abandon", "recover"):
        world.claimed(name, at=OLD)
    for name in ("steal", "seize", "retake", "settle", "keep", "heartbeat", "reconfirm", "acknowledge"):
        world.owned(name, at=OLD)
    for name in ("claim", "own", "cancel", "lineage"):
        world.runs.create(name, "{}")
    world.runs.request_cancel("acknowledge", 5)
    runs, stale = world.runs, running(A, OLD)
    return {
        "create": lambda: runs.create("new", "{}"),
        "requestCancel": lambda: runs.request_cancel("cancel", 5),
        "requestCancelLineage": lambda: runs.request_cancel_lineage("lineage", 5),
        "acknowledgeCancel": lambda: runs.acknowledge_cancel("acknowledge", A, 5),
        "claim": lambda: runs.claim("claim", tenure.PENDING, A, NOW),
        "claimAndOwn": lambda: runs.claim_and_own("own", tenure.PENDING, A, NOW),
        "claimAndOwn again": lambda: runs.claim_and_own("retake", stale, A, NOW),
        "claimAndOwn another's": lambda: runs.claim_and_own("seize", stale, B, NOW, evidence()),
        "activate": lambda: runs.activate("activate", A, OLD, tenure.PENDING),
        "abandonClaim": lambda: runs.abandon_claim("abandon", A, OLD),
        "recoverClaim": lambda: runs.recover_claim("recover", A, OLD, B, NOW, evidence()),
        "heartbeat": lambda: runs.heartbeat("heartbeat", A, NOW),
        "reconfirm": lambda: runs.reconfirm("reconfirm", A, NOW),
        "transitionOwned": lambda: runs.transition_owned("settle", A, "completed"),
        "transitionOwned to running": lambda: runs.transition_owned("keep", A, "running", "[]"),
        "steal": lambda: runs.steal("steal", stale, B, NOW, evidence()),
    }


NAMES = (
    "create",
    "requestCancel",
    "requestCancelLineage",
    "acknowledgeCancel",
    "claim",
    "claimAndOwn",
    "claimAndOwn again",
    "claimAndOwn another's",
    "activate",
    "abandonClaim",
    "recoverClaim",
    "heartbeat",
    "reconfirm",
    "transitionOwned",
    "transitionOwned to running",
    "steal",
)
EVERY_WRITE = pytest.mark.parametrize("name", NAMES)


@EVERY_WRITE
def test_failure_at_any_statement(tmp_path: Path, name: str) -> None:
    """Whichever statement of an operation fails, from BEGIN to COMMIT, nothing of it stays (RS-363, RS-393)."""
    faults = Faults()
    world = new_world(FaultyEngine(tmp_path / "runs.db", faults))
    call = writes(world)[name]
    before = contents(tmp_path / "runs.db")
    method = name.split()[0]

    for failing in range(100):
        countdown = [failing]

        def before_statement(sql: str, countdown: list[int] = countdown) -> None:
            countdown[0] -= 1
            if countdown[0] == -1:
                raise DatabaseError("io")

        faults.before = before_statement
        failure = error_of(tenure.RunStoreError, call)
        faults.before = lambda sql: None
        if failure is None:
            break
        assert (failure.code, failure.method, failure.text) == (
            "persistence_failed",
            method,
            "database operation failed",
        )
        assert failure.cause == {"category": "persistence_failed", "cause": {"code": "io"}}
        assert contents(tmp_path / "runs.db") == before

    assert failing >= 3
    assert contents(tmp_path / "runs.db") != before


@EVERY_WRITE
def test_statements_of_a_success(tmp_path: Path, name: str) -> None:
    """A success costs as few statements as its decisions need, BEGIN and COMMIT included."""
    faults = Faults()
    world = new_world(FaultyEngine(tmp_path / "runs.db", faults))
    call = writes(world)[name]
    seen: list[str] = []
    faults.before = seen.append

    call()

    one_decision = ("create", "requestCancel", "requestCancelLineage", "acknowledgeCancel")
    assert len(seen) == (3 if name in one_decision else 5 if name == "activate" else 4)


@EVERY_WRITE
def test_locked_file(tmp_path: Path, name: str) -> None:
    """A file locked for longer than all attempts is ``persistence_failed``, its cause ``busy`` (RS-391, RS-363)."""
    path = tmp_path / "runs.db"
    world = new_world(str(path), busy_timeout_ms=0)
    call = writes(world)[name]
    before = contents(path)
    holder = raw(path)
    holder.execute("BEGIN IMMEDIATE")

    error = refused(call)

    holder.execute("ROLLBACK")
    assert (error.code, error.text) == ("persistence_failed", "database operation failed")
    assert error.cause == {"category": "persistence_failed", "cause": {"code": "busy"}}
    assert contents(path) == before
    call()
    assert contents(path) != before


@pytest.mark.parametrize("read", ["get", "lineage", "latest_round"])
def test_locked_file_is_read(tmp_path: Path, read: str) -> None:
    """Reads go on while somebody else writes."""
    path = tmp_path / "runs.db"
    world = new_world(str(path), busy_timeout_ms=0)
    world.runs.create("r", "{}")
    holder = raw(path)
    holder.execute("BEGIN IMMEDIATE")

    assert getattr(world.runs, read)("r")


def test_full_disk(tmp_path: Path) -> None:
    """A disk without room fails the write and undoes it; with room again the store goes on (RS-363)."""
    path = tmp_path / "runs.db"
    world = new_world(str(path))
    world.owned()
    before = contents(path)
    world.store.database.rows(f"PRAGMA max_page_count = {world.sql('PRAGMA page_count')[0][0] + 2}", ())
    large = '"' + "x" * 100_000 + '"'

    creation = refused(lambda: world.runs.create("new", large))
    transition = refused(lambda: world.runs.transition_owned("r", A, "completed", large))

    for error, method in ((creation, "create"), (transition, "transitionOwned")):
        assert (error.code, error.method) == ("persistence_failed", method)
        assert error.cause == {"category": "persistence_failed", "cause": {"code": "io"}}
    assert contents(path) == before
    assert world.runs.heartbeat("r", A, NOW) == UPDATED


def test_full_disk_inside_a_transaction(tmp_path: Path) -> None:
    """Inside a transaction the write that found no room is undone alone, and the others commit."""
    path = tmp_path / "runs.db"
    world = new_world(str(path))
    world.owned()
    world.store.database.rows(f"PRAGMA max_page_count = {world.sql('PRAGMA page_count')[0][0] + 2}", ())

    with world.store.transaction():
        world.runs.request_cancel("r", 5)
        error = refused(lambda: world.runs.create("new", '"' + "x" * 100_000 + '"'))
        world.runs.heartbeat("r", A, NOW + 1)

    assert error.cause == {"category": "persistence_failed", "cause": {"code": "io"}}
    assert (world.row().cancel_requested_at_ms, world.row().heartbeat_at_ms) == (5, NOW + 1)
    assert refused(lambda: world.runs.get("new")).code == "not_found_row"


@pytest.mark.parametrize("name", ["claim", "claimAndOwn", "activate", "heartbeat", "transitionOwned", "steal"])
def test_missing_lease_table(name: str) -> None:
    """Without its lease table a store fails, instead of deciding by the row alone (RS-211, RS-501, JN-124)."""
    world = new_world()
    call = writes(world)[name]
    world.sql("ALTER TABLE flows_consensus_leases RENAME TO gone")

    error = refused(call)

    assert (error.code, error.text) == ("persistence_failed", "database operation failed")
    assert error.cause == {"category": "persistence_failed", "cause": {"code": "schema"}}
    assert isinstance(error.__cause__, tenure.ConsensusError)
    assert str(error.__cause__) == "consensus lease operation failed"


@pytest.mark.parametrize("read", ["get", "lineage", "latest_round"])
def test_failing_read(read: str) -> None:
    """A read that fails says so under its own name (RS-363)."""
    world = new_world()
    world.sql("ALTER TABLE flows_runs RENAME TO gone")

    error = refused(lambda: getattr(world.runs, read)("r"))

    assert (error.code, error.method) == ("persistence_failed", "latestRound" if read == "latest_round" else read)


def test_missing_source_is_constraint() -> None:
    """A database without its source refuses every run write (RS-161, RS-363)."""
    world = new_world()
    world.owned()
    world.sql("DELETE FROM flows_run_source")

    error = refused(lambda: world.runs.heartbeat("r", A, NOW))

    assert error.code == "constraint"


@EVERY_WRITE
def test_unknown_commit(tmp_path: Path, name: str) -> None:
    """A failure of COMMIT itself is told apart from a failure before it: the write may be there."""
    faults = Faults()
    world = new_world(FaultyEngine(tmp_path / "runs.db", faults))
    call = writes(world)[name]
    before = contents(tmp_path / "runs.db")
    faults.instead_of_commit = commit_then_fail

    error = refused(call)

    assert type(error) is tenure.CommitOutcomeUnknown
    assert (error.code, error.method) == ("persistence_failed", name.split()[0])
    assert error.text == "the outcome of the commit is unknown"
    assert contents(tmp_path / "runs.db") != before


def test_errors_quote_nothing() -> None:
    """Neither text nor cause nor the chain behind an error shows SQL, a driver's text or a value (RS-363)."""
    world = new_world()
    world.runs.create("r", "{}")
    secret = "s3cr3t"

    error = refused(lambda: world.runs.create("r", f'"{secret}"'))

    shown = shown_by(error)
    assert secret not in shown
    assert "UNIQUE" not in shown
    assert "flows_runs" not in shown


@EVERY_WRITE
def test_closed_store(name: str) -> None:
    """A closed store says so, under the name of the operation."""
    world = new_world()
    call = writes(world)[name]
    world.store.close()

    error = refused(call)

    assert error.message == f"persistence_failed: RunStore.{name.split()[0]}: the store is closed"


@pytest.mark.parametrize("path", ["file", "memory"])
def test_closed_store_cannot_be_read(tmp_path: Path, path: str) -> None:
    """Nor do reads work on a closed store."""
    world = new_world(str(tmp_path / "runs.db") if path == "file" else ":memory:")
    world.runs.create("r", "{}")
    world.runs.get("r")
    world.store.close()

    error = refused(lambda: world.runs.get("r"))

    assert error.message == "persistence_failed: RunStore.get: the store is closed"


def test_usable_after_every_refusal() -> None:
    """After each refusal, loss and error the next call works."""
    world = new_world()
    refused(lambda: world.runs.create("", "{}"))
    refused(lambda: world.runs.get("missing"))
    world.runs.create("r", "{}")
    refused(lambda: world.runs.create("r", "{}"))
    world.runs.claim("r", tenure.SUSPENDED, A, NOW)

    assert world.runs.claim_and_own("r", tenure.PENDING, A, NOW) == ACTIVATED
