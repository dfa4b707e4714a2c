"""Tests of the store as a whole: opening, its clock, transactions across operations, revisions."""

import os
from pathlib import Path
from typing import Any

import pytest

import tenure
from tenure.consensus import LocalConsensus
from tests.database.support import query
from tests.runs.support import (
    ACTIVATED,
    ALREADY_CLAIMED,
    NOW,
    SNAPSHOT_CHANGED,
    STALE,
    TRANSITIONED,
    A,
    B,
    World,
    evidence,
    new_world,
    refused,
    running,
)


def test_example(tmp_path: Path) -> None:
    """The shortest useful program, with nothing injected."""
    with tenure.open(tmp_path / "runs.db") as store:
        me = tenure.OwnerId.here()
        store.runs.create("build-42", '{"step": "checkout"}')
        owned = store.runs.claim_and_own("build-42", tenure.PENDING, me, store.now())
        ended = store.runs.transition_owned("build-42", me, "completed")

    assert (owned, ended) == (ACTIVATED, TRANSITIONED)
    assert query(tmp_path / "runs.db", "SELECT status FROM flows_runs") == [("completed",)]


@pytest.mark.parametrize("kind", [str, Path, os.fspath])
def test_path_may_be_text_or_a_path(tmp_path: Path, kind: type) -> None:
    """Both kinds of path are taken."""
    tenure.open(kind(tmp_path / "runs.db")).close()

    assert (tmp_path / "runs.db").exists()


def test_reopened_store_goes_on(tmp_path: Path) -> None:
    """Everything is there after closing and opening again (RS-167)."""
    path = str(tmp_path / "runs.db")
    first = new_world(path)
    first.owned()
    before = first.digest()
    first.store.close()
    second = new_world(path)

    assert second.digest() == before
    assert second.runs.heartbeat("r", A, NOW) == tenure.Updated()


def test_memory_stores_are_private() -> None:
    """Two stores in memory share nothing."""
    first, second = new_world(), new_world()
    first.runs.create("r", "{}")

    assert refused(lambda: second.runs.get("r")).code == "not_found_row"


@pytest.mark.parametrize(("reading", "now"), [(5, 5), (5.0, 5), (5.999, 5), (0.1, 0)])
def test_clock_is_rounded_down(world: World, reading: float, now: int) -> None:
    """The store's clock is in whole milliseconds (RS-003)."""
    world.clock.ms = reading

    assert world.store.now() == now
    assert type(world.store.now()) is int


def test_real_clock() -> None:
    """Without an injected clock it is the time of day."""
    with tenure.open(":memory:") as store:
        assert 1_700_000_000_000 < store.now() < 2**53


@pytest.mark.parametrize("reading", [float("nan"), float("inf"), "noon", None])
def test_a_clock_that_tells_no_time_is_refused(tmp_path: Path, reading: Any) -> None:
    """Opening and migrating name the parameter and what it answered; the file can be opened with a better one."""
    for call in (tenure.open, tenure.migrate):
        with pytest.raises(tenure.UsageError, match=f"^clock must answer milliseconds .*, not {reading!r}$"):
            call(tmp_path / "runs.db", clock=lambda: reading)

    with tenure.open(tmp_path / "runs.db") as store:
        assert store.runs.lineage("r") == ()


@pytest.mark.parametrize("value", [3, None, "call me"])
def test_what_cannot_be_called_is_refused(world: World, value: Any) -> None:
    """Units of work and callbacks are named where they are wrong, inside a transaction and outside."""
    for call, name in ((world.store.write, "body"), (world.store.after_commit, "callback")):
        with pytest.raises(tenure.UsageError, match=f"^{name} must be callable$"):
            call(value)
        with world.store.transaction(), pytest.raises(tenure.UsageError, match=f"^{name} must be callable$"):
            call(value)
    world.runs.create("r", "{}")

    assert world.runs.get("r").status == "pending"


def test_failing_facts_factory_closes_the_file(tmp_path: Path) -> None:
    """A store that cannot be built leaves no open file behind."""

    def fail(database: object) -> tenure.FactRecorder:
        raise LookupError

    with pytest.raises(LookupError):
        tenure.open(tmp_path / "runs.db", facts=fail)

    assert [path.name for path in tmp_path.iterdir()] == ["runs.db"]


def test_consensus_is_a_parameter(tmp_path: Path) -> None:
    """Any strategy may be given in place of the database's own (RS-200)."""
    leases = LocalConsensus()
    with tenure.open(tmp_path / "runs.db", consensus=leases, clock=lambda: NOW) as store:
        store.runs.create("r", "{}")
        store.runs.claim_and_own("r", tenure.PENDING, A, NOW)

    assert leases.holds("r", A)


def test_operations_in_one_transaction_commit_together(world: World) -> None:
    """What several operations wrote rolls back together, facts of the store's own tables included (RS-390)."""
    world.owned("before")
    digest = world.digest()

    def block() -> None:
        with world.store.transaction():
            world.runs.create("r", "{}")
            assert world.runs.claim_and_own("r", tenure.PENDING, A, NOW) == ACTIVATED
            assert world.runs.transition_owned("before", A, "completed") == TRANSITIONED
            assert world.row().owner == A
            raise LookupError

    with pytest.raises(LookupError):
        block()

    assert world.digest() == digest


def test_refusal_inside_a_transaction_undoes_itself_alone(world: World) -> None:
    """A refusal that had to take back what it wrote leaves the rest of the transaction as it was."""
    world.runs.create("r", "{}")
    world.sql("INSERT INTO flows_consensus_leases (run_id, claim_host_id) VALUES ('r', 'ghost')")
    with world.store.transaction():
        world.runs.create("other", "{}")
        refused_claim = world.runs.claim("r", tenure.PENDING, A, NOW)
        failure = refused(lambda: world.runs.create("r", "{}"))
        world.runs.claim("other", tenure.PENDING, A, NOW)

    assert refused_claim == SNAPSHOT_CHANGED
    assert failure.code == "constraint"
    assert (world.row("r").claim, world.row("other").claim) == (None, A)


def test_write_and_after_commit(world: World) -> None:
    """A body of several operations runs as one write, and waiting work after it."""
    ran: list[str] = []

    def body(run_id: str) -> tenure.ClaimOutcome:
        world.runs.create(run_id, "{}")
        world.store.after_commit(lambda: ran.append(world.row(run_id).status))
        return world.runs.claim(run_id, tenure.PENDING, A, NOW)

    assert world.store.write(body, "r") == tenure.Claimed(NOW)
    assert ran == ["pending"]
    assert world.store.after_commit(lambda: None) is False


def test_busy_inside_an_operation_repeats_the_whole_write() -> None:
    """The error of a nested operation still tells the outermost write that the database was busy (RS-363, RS-391)."""
    attempts: list[str] = []

    class BusyOnce:
        def record(self, fact: tenure.OwnershipFact) -> None:
            attempts.append(fact.transition)
            if len(attempts) == 1:
                raise tenure.DatabaseError("busy")

    def body() -> None:
        store.runs.create("r", "{}")
        store.runs.claim("r", tenure.PENDING, A, NOW)

    store = tenure.open(":memory:", clock=lambda: NOW, facts=lambda database: BusyOnce(), sleep=lambda seconds: None)
    store.write(body)

    assert attempts == ["claimed", "claimed"]
    assert store.runs.get("r").claim == A


def test_waiting_work_that_fails_is_no_failure_of_the_operation(world: World) -> None:
    """The write is committed, and the error says that it is (JN-147)."""

    class Waiting:
        def record(self, fact: tenure.OwnershipFact) -> None:
            store.after_commit(lambda: 1 // 0)

    store = tenure.open(":memory:", clock=lambda: NOW, facts=lambda database: Waiting())
    store.runs.create("r", "{}")

    with pytest.raises(tenure.AfterCommitError):
        store.runs.claim("r", tenure.PENDING, A, NOW)

    assert store.runs.claim("r", tenure.PENDING, B, NOW) == ALREADY_CLAIMED


def test_misuse_inside_a_transaction_is_no_storage_failure(world: World) -> None:
    """A store cannot be closed inside its own transaction."""
    with world.store.transaction(), pytest.raises(tenure.UsageError):
        world.store.close()


def test_revisions_of_a_life(world: World) -> None:
    """The check of RS-166: what each successful call costs, and what a deletion leaves."""
    world.runs.create("a", "{}")
    world.runs.create("b", "{}")
    costs = [world.source_revision()]
    world.runs.claim_and_own("a", tenure.PENDING, A, NOW)
    costs.append(world.source_revision())
    world.runs.request_cancel("a", 5)
    costs.append(world.source_revision())
    for _ in range(2):
        world.runs.acknowledge_cancel("a", A, 6)
        costs.append(world.source_revision())
    world.runs.transition_owned("a", A, "cancelled")
    costs.append(world.source_revision())
    world.sql("DELETE FROM flows_runs WHERE run_id = 'a'")

    assert costs == [2, 3, 4, 5, 6, 7]
    assert world.sql("SELECT * FROM flows_run_changes WHERE run_id = 'a'") == [("a", 8, 1)]
    assert world.source_revision() == 8


def test_revision_of_every_success(world: World) -> None:
    """Each of the remaining operations costs exactly one (RS-166)."""
    old = NOW - STALE - 1

    def cost(call: object) -> int:
        before = world.source_revision()
        call()  # type: ignore[operator]  # a call
        return world.source_revision() - before

    for name in ("claim", "own"):
        world.runs.create(name, "{}")
    for name in ("activate", "changed", "abandon", "recover"):
        world.claimed(name, at=old)
    for name in ("steal", "seize", "retake", "keep"):
        world.owned(name, at=old)
    runs, stale = world.runs, running(A, old)

    assert cost(lambda: runs.claim("claim", tenure.PENDING, A, NOW)) == 1
    assert cost(lambda: runs.claim_and_own("own", tenure.PENDING, A, NOW)) == 1
    assert cost(lambda: runs.claim_and_own("retake", stale, A, NOW)) == 1
    assert cost(lambda: runs.claim_and_own("seize", stale, B, NOW, evidence())) == 1
    assert cost(lambda: runs.activate("activate", A, old, tenure.PENDING)) == 1
    assert cost(lambda: runs.activate("changed", A, old, tenure.SUSPENDED)) == 1
    assert cost(lambda: runs.abandon_claim("abandon", A, old)) == 1
    assert cost(lambda: runs.recover_claim("recover", A, old, B, NOW, evidence())) == 1
    assert cost(lambda: runs.steal("steal", stale, B, NOW, evidence())) == 1
    assert cost(lambda: runs.transition_owned("keep", A, "running")) == 1


def test_recreated_run_starts_afresh(world: World) -> None:
    """A deleted run can be created and claimed again, whoever held its lease (R-3, H-03, RS-165)."""
    world.owned()
    world.sql("DELETE FROM flows_runs")
    tombstone = world.revision()
    world.runs.create("r", "{}")

    assert world.runs.claim("r", tenure.PENDING, B, NOW) == tenure.Claimed(NOW)
    assert world.revision() > tombstone
