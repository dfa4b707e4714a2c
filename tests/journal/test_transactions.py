"""Tests of transact and when_committed."""

import contextvars
from contextlib import nullcontext
from pathlib import Path

import pytest

import tenure
from tenure.database.engine import DatabaseError, UsageError
from tests.journal.support import NOW, A, World, event, new_world, refused, rolled_back


def test_state_and_entry_commit_together(world: World) -> None:
    """The fenced append stands before the transition that ends the ownership (JN-086, JN-310)."""
    world.store.runs.create("r", "{}")
    world.store.runs.claim_and_own("r", tenure.PENDING, A, NOW)

    def finish() -> tenure.DurableReceipt:
        receipt = world.journal.emit_durable(event("finished"), A)
        assert isinstance(world.store.runs.transition_owned("r", A, "completed"), tenure.Transitioned)
        return receipt

    assert world.journal.transact(finish) == tenure.Accepted(0, 0)
    assert world.store.runs.get("r").status == "completed"
    assert refused(lambda: world.journal.emit_durable(event(), A)).code == "fence_lost"


def test_a_rejected_transition_takes_the_entry_with_it(world: World) -> None:
    """All or nothing (JN-310)."""
    world.store.runs.create("r", "{}")
    world.store.runs.claim_and_own("r", tenure.PENDING, A, NOW)
    with rolled_back(world.journal.transact()):
        world.journal.emit_durable(event("finished"), A)

    assert world.seqs() == []
    assert world.store.runs.get("r").status == "running"


@pytest.mark.parametrize("form", ["body", "block"])
def test_other_errors_pass_as_they_are(world: World, form: str) -> None:
    """Journal errors and the program's own (JN-310)."""

    def conflict() -> None:
        world.durable(1, source_seq=0)
        world.durable(2, source_seq=0)

    def user() -> None:
        world.durable()
        raise LookupError

    def run(body: object) -> None:
        if form == "body":
            world.journal.transact(body)  # type: ignore[call-overload]  # a body
        else:
            with world.journal.transact():
                body()  # type: ignore[operator]  # a body

    assert refused(lambda: run(conflict)).code == "idempotency_conflict"
    with pytest.raises(LookupError):
        run(user)
    assert world.seqs() == []


@pytest.mark.parametrize("form", ["body", "block", "commit", "begin"])
def test_failing_storage_is_a_failed_transaction(world: World, form: str) -> None:
    """A DatabaseError becomes sink_failed with its cause (JN-310)."""

    def insert() -> None:
        world.store.database.rows("INSERT INTO nowhere VALUES (1)")

    def block() -> None:
        with world.journal.transact():
            if form == "block":
                insert()
            world.durable()

    if form in ("commit", "begin"):
        world.fail("io", on=form.upper())
    error = refused((lambda: world.journal.transact(insert)) if form == "body" else block)
    world.mend()

    assert (error.code, error.text) == ("sink_failed", "journal transaction failed")
    assert isinstance(error.cause, DatabaseError)
    assert world.seqs() == []


def test_a_commit_in_doubt_is_reported_as_that(on_file: World) -> None:
    """Nobody can know."""

    def lose_the_answer(connection: object) -> None:
        connection.commit()  # type: ignore[attr-defined]  # a connection
        raise tenure.CommitUnknownError("io", "COMMIT failed; its outcome is unknown")

    on_file.faults.instead_of_commit = lose_the_answer
    error = refused(lambda: on_file.journal.transact(on_file.durable))
    on_file.faults.instead_of_commit = None

    assert isinstance(error, tenure.JournalOutcomeUnknown)


def test_a_body_is_repeated_as_a_whole_while_the_database_is_busy() -> None:
    """Even where the busy failure surfaces as a journal error inside (JN-142, JN-314)."""
    world = new_world(retry=tenure.RetryPolicy(attempts=4))
    failures = iter([False, True, False, True])
    receipts: list[tenure.DurableReceipt] = []

    def before(sql: str) -> None:
        if "INSERT INTO flows_journal_events" in sql and next(failures, False):
            raise DatabaseError("busy")

    def body() -> None:
        receipts.append(world.durable("first"))
        receipts.append(world.durable("second"))

    world.faults.before = before
    world.journal.transact(body)

    assert receipts == [
        tenure.Accepted(0, 0),
        tenure.Accepted(2, 2),
        tenure.Accepted(4, 4),
        tenure.Accepted(5, 5),
    ]
    assert world.seqs() == [4, 5]
    world.store.close()


def test_a_block_runs_once(world: World) -> None:
    """A context manager cannot be repeated; the failure reaches the caller."""
    runs: list[int] = []
    world.fail("busy")

    def block() -> None:
        with world.journal.transact():
            runs.append(1)
            world.durable()

    error = refused(block)

    assert error.code == "sink_failed"
    assert runs == [1]


def test_after_a_rollback_an_identity_can_be_emitted_again(world: World) -> None:
    """It is Accepted and no phantom duplicate, on both channels; numbers have moved on (JN-312, JN-174)."""
    with rolled_back(world.journal.transact()):
        world.durable(1, source_seq=0)

    assert world.durable(1, source_seq=0) == tenure.Accepted(1, 0)
    with rolled_back(world.journal.transact()):
        world.durable(2, source_seq=1)
    assert world.lossy(2, source_seq=1) == tenure.Accepted(3, 1)


def test_a_caught_inner_failure_discards_the_inner_rows_alone(world: World) -> None:
    """Nested, it is a savepoint (JN-313)."""
    with world.journal.transact():
        world.durable("outer")
        with rolled_back(world.journal.transact()):
            world.durable("inner")
        conflict = refused(lambda: world.durable("other", source_seq=0))
        world.durable("last")

    assert conflict.code == "idempotency_conflict"
    assert [row[0] for row in world.rows("SELECT payload_json FROM flows_journal_events ORDER BY seq")] == [
        '"outer"',
        '"last"',
    ]


def test_another_store_may_open_the_outer_transaction(world: World) -> None:
    """The store's own transactions are the same (JN-313)."""
    with world.store.transaction():
        world.journal.transact(world.durable)
        with world.journal.transact():
            world.durable()
    with rolled_back(world.store.transaction()):
        world.journal.transact(world.durable)

    assert world.seqs() == [0, 1]


def test_the_cache_learns_of_a_row_at_the_outermost_commit(world: World) -> None:
    """Inside, a lossy repetition is admitted on trust (JN-311)."""
    with world.journal.transact():
        world.durable(1, source_seq=0)
        inside = world.lossy(1, source_seq=0)
    after = world.lossy(1, source_seq=0)
    world.journal.flush()

    assert inside == tenure.Accepted(1, 0)
    assert after == tenure.Duplicate(0, 0, "committed")
    assert world.seqs() == [0]


def test_updates_run_now_or_after_the_outermost_commit(world: World) -> None:
    """Registered in a scope that fails, they never run (JN-315, JN-146)."""
    log: list[str] = []
    now = world.journal.when_committed(lambda: log.append("now"))
    with world.journal.transact():
        registered = world.journal.when_committed(lambda: log.append("outer"))
        with world.journal.transact():
            world.journal.when_committed(lambda: log.append("inner"))
        with rolled_back(world.journal.transact()):
            world.journal.when_committed(lambda: log.append("failed"))
        inside = list(log)
    world.store.write(lambda: world.journal.when_committed(lambda: log.append("write")))

    assert (now, registered) == (True, True)
    assert inside == ["now"]
    assert log == ["now", "outer", "inner", "write"]


def test_an_update_of_another_task_of_the_thread_is_refused(world: World) -> None:
    """Its transaction is not this one's: nobody would know what the update belongs to (JN-315)."""
    log: list[str] = []
    elsewhere = contextvars.copy_context()
    with world.journal.transact():
        answer = elsewhere.run(world.journal.when_committed, lambda: log.append("ran"))
        with pytest.raises(UsageError):
            elsewhere.run(world.durable)

    assert answer is False
    assert log == []


@pytest.mark.parametrize("inside", [False, True])
def test_what_cannot_be_called_is_refused_at_once(world: World, inside: bool) -> None:
    """A body or an update that is no function is named, before a transaction or in one, which goes on."""
    with world.store.transaction() if inside else nullcontext():
        with pytest.raises(tenure.JournalUsageError, match=r"^body must be callable"):
            world.journal.transact(3)  # type: ignore[call-overload]  # what the test is about
        with pytest.raises(tenure.JournalUsageError, match=r"^update must be callable"):
            world.journal.when_committed(3)  # type: ignore[arg-type]  # the same
        world.durable()

    assert world.seqs() == [0]


def test_transactions_still_work_on_a_closed_journal(world: World) -> None:
    """With what runs in them that is no emit (JN-233)."""
    world.journal.close()
    log: list[str] = []

    assert world.journal.transact(lambda: 1) == 1
    assert world.journal.when_committed(lambda: log.append("now"))
    assert log == ["now"]
    assert refused(lambda: world.journal.transact(world.durable)).code == "journal_closed"


def test_stores_of_different_files_do_not_mix(tmp_path: Path) -> None:
    """A transaction of one database says nothing about another's."""
    first, second = new_world(tmp_path / "1.db"), new_world(tmp_path / "2.db")
    log: list[str] = []
    with rolled_back(first.journal.transact()):
        first.durable()
        second.durable()
        second.journal.when_committed(lambda: log.append("second"))

    assert (first.seqs(), second.seqs(), log) == ([], [0], ["second"])
    first.store.close()
    second.store.close()
