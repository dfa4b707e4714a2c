"""Tests of transactions around attempts, and of threads and stores that share them."""

import contextvars
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import tenure
from tenure.attempts import statements
from tests.attempts.support import (
    CONFLICT,
    EXISTING_SAME,
    FINISHED,
    FULL,
    INSERTED,
    KEY,
    PLAIN,
    STATE_CHANGED,
    beat,
    ended,
    like,
)
from tests.database.support import Faults, FaultyEngine
from tests.runs.support import FENCE_LOST, NOW, TRANSITIONED, UPDATED, A, B, World, new_world, unchanged
from tests.threads import PATIENCE_SECONDS


@pytest.fixture(params=["file", "memory"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    """A world with a run of ``A``, once on file and once in memory."""
    world = new_world(str(tmp_path / "runs.db") if request.param == "file" else ":memory:")
    world.owned()
    return world


def at_once(*calls: Callable[[], object]) -> list[object]:
    """What the calls answer, each made by a thread of its own, all of them started together."""
    barrier = threading.Barrier(len(calls))
    answers: list[object] = [None] * len(calls)

    def run(number: int) -> None:
        barrier.wait(PATIENCE_SECONDS)
        try:
            answers[number] = calls[number]()
        except tenure.AttemptStoreError as error:
            answers[number] = error

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    return answers


def kinds(answers: list[object]) -> list[str]:
    """The names of the outcomes, sorted."""
    return sorted(type(answer).__name__ for answer in answers)


def test_same_put_of_two_threads(shared: World) -> None:
    """One of two equal puts inserts, the other finds it there (RS-822)."""
    put = shared.store.attempts.put
    for number in range(50):
        attempt = like(FULL, attempt=number)

        answers = at_once(partial(put, attempt, A), partial(put, attempt, A))

        assert kinds(answers) == ["ExistingSame", "Inserted"]


def test_different_puts_of_two_threads(shared: World) -> None:
    """One of two different puts inserts, the other conflicts, and the first stands (RS-822)."""
    put = shared.store.attempts.put
    for number in range(50):
        one, other = like(PLAIN, attempt=number, meta=1), like(PLAIN, attempt=number, meta=2)

        answers = at_once(partial(put, one, A), partial(put, other, A))

        assert kinds(answers) == ["Conflict", "Inserted"]
        assert shared.store.attempts.get(one) == (one if answers[0] == INSERTED else other)


def test_two_threads_finish(shared: World) -> None:
    """One of two finishes ends the attempt, and what it says stands (RS-851)."""
    attempts = shared.store.attempts
    for number in range(50):
        attempts.put(like(PLAIN, attempt=number), A)
        one, other = ended(attempt=number, state="one", error=1), ended(attempt=number, state="other", outcome=2)

        answers = at_once(
            partial(attempts.finish, one, A),
            partial(attempts.finish, other, A),
        )

        assert kinds(answers) == ["Finished", "StateChanged"]
        found = attempts.get(one)
        assert found is not None
        won = ("one", 1, tenure.ABSENT) if answers[0] == FINISHED else ("other", tenure.ABSENT, 2)
        assert (found.state, found.error, found.outcome) == won


def test_settling_against_writing(shared: World) -> None:
    """Of a put and a settlement at once the put comes before or is fenced off; it is never half there (RS-1001)."""
    for number in range(25):
        run_id = f"run-{number}"
        shared.owned(run_id)
        attempt = like(FULL, run_id=run_id)

        put, settled = at_once(
            partial(shared.store.attempts.put, attempt, A),
            partial(shared.runs.transition_owned, run_id, A, "completed"),
        )

        assert settled == TRANSITIONED
        assert shared.store.attempts.get(attempt) == (attempt if put == INSERTED else None)
        assert put in (INSERTED, FENCE_LOST)
        assert shared.store.attempts.put(attempt, A) == FENCE_LOST


def test_two_stores_on_one_file(tmp_path: Path) -> None:
    """Two connections to a file decide as one does (RS-390)."""
    path = str(tmp_path / "runs.db")
    first, second = new_world(path), new_world(path)
    first.owned()
    for number in range(25):
        attempt = like(FULL, attempt=number)

        answers = at_once(
            partial(first.store.attempts.put, attempt, A),
            partial(second.store.attempts.put, attempt, A),
        )

        assert kinds(answers) == ["ExistingSame", "Inserted"]


def test_beats_of_two_threads(shared: World) -> None:
    """Whichever comes last, the latest stamp stays (RS-841)."""
    shared.store.attempts.put(PLAIN, A)

    answers = at_once(*(partial(beat, shared, now_ms=now_ms) for now_ms in range(1, 9)))

    assert answers == [UPDATED] * 8
    assert shared.store.attempts.get(KEY) == like(PLAIN, heartbeat_at_ms=8)


def test_everything_of_a_transaction_or_nothing(shared: World) -> None:
    """A transaction holds runs and attempts alike, and takes both along when it fails (RS-390)."""
    attempts = shared.store.attempts

    def work() -> None:
        assert attempts.put(PLAIN, A) == INSERTED
        assert attempts.finish(ended(), A) == FINISHED
        assert shared.runs.transition_owned("r", A, "completed") == TRANSITIONED
        raise RuntimeError("undo")

    with unchanged(shared):
        with pytest.raises(RuntimeError, match="undo"):
            shared.store.write(work)
        shared.recorder.drain()

    with shared.store.transaction():
        attempts.put(PLAIN, A)
        attempts.finish(ended(), A)
        shared.runs.transition_owned("r", A, "completed")

    assert attempts.get(KEY) == like(PLAIN, state="done", finished_at_ms=30)
    assert shared.row().status == "completed"


def test_fence_inside_a_transaction(shared: World) -> None:
    """The fence is what the transaction itself has made of the run (RS-810)."""
    shared.runs.create("new", "{}")
    attempt = like(PLAIN, run_id="new")

    with shared.store.transaction():
        before = shared.store.attempts.put(attempt, B)
        shared.runs.claim_and_own("new", tenure.PENDING, B, NOW)
        during = shared.store.attempts.put(attempt, B)
        shared.runs.transition_owned("new", B, "suspended")
        after = shared.store.attempts.put(attempt, B)

    assert (before, during, after) == (FENCE_LOST, INSERTED, FENCE_LOST)


def test_refusal_inside_a_transaction_undoes_itself_alone(shared: World) -> None:
    """A loss or an error inside a transaction leaves what came before (RS-390)."""
    attempts = shared.store.attempts
    with shared.store.transaction():
        attempts.put(PLAIN, A)
        losses = [attempts.put(FULL, A), attempts.finish(ended(), B)]
        with pytest.raises(tenure.AttemptStoreError):
            attempts.put(like(PLAIN, state=""), A)
        again = attempts.put(PLAIN, A)

    assert [*losses, again] == [CONFLICT, FENCE_LOST, EXISTING_SAME]
    assert attempts.get(KEY) == PLAIN


def test_work_after_the_commit_that_fails(tmp_path: Path) -> None:
    """Work that waited for a commit and failed is no failure of storage (JN-147)."""
    faults = Faults()
    store = tenure.open(FaultyEngine(tmp_path / "runs.db", faults), clock=lambda: NOW)
    store.runs.create("r", "{}")
    store.runs.claim_and_own("r", tenure.PENDING, A, NOW)

    def fail() -> None:
        raise ValueError("work")

    def register(sql: str) -> None:
        if sql == statements.INSERT:
            store.after_commit(fail)

    faults.before = register

    with pytest.raises(tenure.AfterCommitError):
        store.attempts.put(PLAIN, A)
    assert store.attempts.get(KEY) == PLAIN


def test_misuse_is_no_storage_failure(world: World) -> None:
    """Another task of the thread that has a transaction open is refused as what it is, writing and reading."""
    with world.store.transaction():
        stranger = contextvars.Context()

        with pytest.raises(tenure.UsageError):
            stranger.run(world.store.attempts.put, PLAIN, A)
        with pytest.raises(tenure.UsageError):
            stranger.run(world.store.attempts.get, KEY)


def test_reopened_store(tmp_path: Path) -> None:
    """Attempts are there after closing and opening again."""
    path = str(tmp_path / "runs.db")
    first = new_world(path)
    first.owned()
    first.store.attempts.put(FULL, A)
    first.store.attempts.finish(ended(), A)
    first.store.close()
    second = new_world(path)

    assert second.store.attempts.get(KEY) == like(FULL, state="done", finished_at_ms=30)
    assert second.store.attempts.finish(ended(), A) == STATE_CHANGED
