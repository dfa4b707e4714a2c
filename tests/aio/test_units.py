"""Units of work: whole or not at all, whenever they are cancelled, and never two in one transaction."""

import asyncio
import threading
from random import Random

import anyio
import anyio.from_thread
import pytest

import tenure
import tenure.aio
from tests.aio.support import JOURNAL, PATIENCE_SECONDS, A, Started, Stop, ids, settle
from tests.database.support import Faults, FaultyEngine

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store(anyio_backend, tmp_path):
    """A store on a file, with one thread for writes."""
    with anyio.fail_after(PATIENCE_SECONDS):
        async with tenure.aio.open(tmp_path / "runs.db", threads=1) as store:
            yield store


@pytest.fixture
async def wide(anyio_backend, tmp_path):
    """A store on a file, with threads enough."""
    with anyio.fail_after(PATIENCE_SECONDS):
        async with tenure.aio.open(tmp_path / "runs.db") as store:
            yield store


def creating(store, run_id, stop=lambda: None, failure=None):
    """A unit of work that creates a run, stops, and then fails, if told to, or answers the run's id."""

    def body():
        store.sync.runs.create(run_id, "{}")
        stop()
        if failure is not None:
            raise failure
        return run_id

    return body


async def test_what_waits_for_a_thread_is_dropped(store):
    """Cancelled before it began: the caller sees the cancellation, and the unit never runs."""
    stop = Stop()
    async with anyio.create_task_group() as tasks:
        first = Started(tasks, lambda: store.write(creating(store, "first", stop)))
        await stop.reached()
        second = Started(tasks, lambda: store.write(creating(store, "second")))
        await settle()
        second.scope.cancel()
        await second.ended.wait()
        stop.release()

    assert (first.result, second.scope.cancelled_caught) == ("first", True)
    assert ids(store) == ["first"]


async def test_what_is_cancelled_already_does_not_begin(store):
    """A call inside a cancelled scope does nothing."""
    with anyio.CancelScope() as scope:
        scope.cancel()
        await store.runs.create("r", "{}")

    assert scope.cancelled_caught
    assert ids(store) == []


async def test_what_has_begun_goes_on_to_its_end(store):
    """Cancelled in the middle: the caller waits, gets the answer, and the cancellation comes with its next wait."""
    stop = Stop()
    seen = []

    async def call():
        seen.append(await store.write(creating(store, "r", stop)))
        await anyio.lowlevel.checkpoint()
        seen.append("went on")

    async with anyio.create_task_group() as tasks:
        task = Started(tasks, call)
        await stop.reached()
        task.scope.cancel()
        await settle()
        assert not task.ended.is_set()
        stop.release()

    assert (seen, task.scope.cancelled_caught) == (["r"], True)
    assert ids(store) == ["r"]


async def test_what_has_begun_and_fails_is_rolled_back(store):
    """Cancelled in the middle of a unit that fails then: its error is seen, and nothing is kept."""
    stop = Stop()
    async with anyio.create_task_group() as tasks:
        task = Started(tasks, lambda: store.write(creating(store, "r", stop, KeyError("no"))))
        await stop.reached()
        task.scope.cancel()
        stop.release()

    assert isinstance(task.error, KeyError)
    assert ids(store) == []


async def test_what_waits_for_the_writers_turn_has_begun(wide):
    """Two units: the second has a thread, waits in it, is cancelled, and is committed after the first all the same."""
    stop = Stop()
    arrived = Stop()

    def second():
        arrived()
        return wide.sync.runs.create("second", "{}")

    async with anyio.create_task_group() as tasks:
        Started(tasks, lambda: wide.write(creating(wide, "first", stop)))
        await stop.reached()
        waiting = Started(tasks, lambda: wide._workers.write(second))
        await arrived.reached()
        waiting.scope.cancel()
        arrived.release()
        await settle()
        assert not waiting.ended.is_set()
        stop.release()

    assert ids(wide) == ["first", "second"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("cancellations", [1, 3])
async def test_a_task_that_asyncio_cancels_outlasts_its_unit(store, cancellations):
    """No scope shields from ``task.cancel()``: it is raised once the unit is over, and committed."""
    stop = Stop()
    seen = []

    async def call():
        try:
            await store.write(creating(store, "r", stop))
        except asyncio.CancelledError as cancellation:
            seen.append((cancellation.args, asyncio.current_task().cancelling(), ids(store)))
            await asyncio.sleep(0)
            raise

    task = asyncio.create_task(call())
    await stop.reached()
    for number in range(cancellations):
        task.cancel(f"cancellation {number + 1}")
        await settle()
        assert not task.done()
    stop.release()
    await asyncio.wait([task])

    assert task.cancelled()
    assert seen == [(("cancellation 1",), cancellations, ["r"])]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_unit_that_fails_while_asyncio_cancels_it(store):
    """The cancellation is raised, so that nobody who handles the error swallows it; the error is its cause."""
    stop = Stop()
    task = asyncio.create_task(store.write(creating(store, "r", stop, KeyError("no"))))
    await stop.reached()
    task.cancel()
    stop.release()
    with pytest.raises(asyncio.CancelledError) as raised:
        await task

    assert isinstance(raised.value.__cause__, KeyError)
    assert ids(store) == []


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_timeout_of_asyncio_comes_after_the_unit(store):
    """The call is the last wait in its block: that raises ``TimeoutError``, and leaves no cancellation behind."""
    stop = Stop()
    timeouts = []

    async def write():
        async with asyncio.timeout(None) as timeout:
            timeouts.append(timeout)
            await store.write(creating(store, "r", stop))

    async def call():
        with pytest.raises(TimeoutError):
            await write()
        await asyncio.sleep(0)
        return asyncio.current_task().cancelling()

    task = asyncio.create_task(call())
    await stop.reached()
    timeouts[0].reschedule(0)
    await settle()
    assert not task.done()
    stop.release()

    assert await task == 0
    assert ids(store) == ["r"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_group_of_asyncio_that_fails_ends_after_the_unit(store):
    """The call is the last wait in its block: that raises what another task raised, and leaves no cancellation."""
    stop = Stop()
    failing = asyncio.Event()

    async def fail():
        await failing.wait()
        raise KeyError("no")

    async def write():
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())
            await store.write(creating(store, "r", stop))

    async def call():
        with pytest.raises(ExceptionGroup):
            await write()
        await asyncio.sleep(0)
        return asyncio.current_task().cancelling()

    task = asyncio.create_task(call())
    await stop.reached()
    failing.set()
    await settle()
    assert not task.done()
    stop.release()

    assert await task == 0
    assert ids(store) == ["r"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_units_that_asyncio_cancelled_keep_their_threads(store):
    """One thread: what was cancelled has it until it is over, and nothing else begins."""
    stop = Stop()
    first = asyncio.create_task(store.write(creating(store, "first", stop)))
    await stop.reached()
    first.cancel()
    second = asyncio.create_task(store._workers.write(store.sync.now))
    await settle()
    waiting = store._workers._writes.statistics().tasks_waiting
    stop.release()
    await asyncio.wait([first, second])

    assert (first.cancelled(), waiting, second.cancelled()) == (True, 1, False)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_task_that_asyncio_cancels_in_the_queue_does_nothing(store):
    """Waiting for a thread it is dropped."""
    stop = Stop()
    async with anyio.create_task_group() as tasks:
        Started(tasks, lambda: store.write(creating(store, "first", stop)))
        await stop.reached()
        task = asyncio.create_task(store.write(creating(store, "second")))
        await settle()
        task.cancel()
        await asyncio.wait([task])
        stop.release()

    assert task.cancelled()
    assert ids(store) == ["first"]


async def test_a_second_tasks_write_is_no_savepoint_of_the_first(wide):
    """The second is written while the first's transaction is open, and stays when that is rolled back."""
    stop = Stop()
    async with anyio.create_task_group() as tasks:
        first = Started(tasks, lambda: wide.write(creating(wide, "first", stop, KeyError("no"))))
        await stop.reached()
        second = Started(tasks, lambda: wide.runs.create("second", "{}"))
        await settle()
        assert not second.ended.is_set()
        stop.release()

    assert isinstance(first.error, KeyError)
    assert second.error is None
    assert ids(wide) == ["second"]


async def test_a_task_with_the_context_of_a_transaction_is_not_in_it(wide):
    """A task started from inside an open transaction inherits its marks, and writes beside it all the same."""
    stop = Stop()
    over = anyio.Event()
    inherited = []

    async def second():
        await over.wait()
        await wide.runs.create("second", "{}")

    def first():
        with wide.sync.transaction():
            wide.sync.runs.create("first", "{}")
            inherited.append(anyio.from_thread.run_sync(Started, tasks, second))
            stop()
            raise KeyError("no")

    async with anyio.create_task_group() as tasks:
        outer = Started(tasks, lambda: wide._workers.write(first))
        await stop.reached()
        stop.release()
        await outer.ended.wait()
        over.set()

    assert (inherited[0].error, type(outer.error)) == (None, KeyError)
    assert ids(wide) == ["second"]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("path", ["runs.db", ":memory:"])
async def test_more_tasks_than_threads(anyio_backend, tmp_path, threads, path):
    """Every task gets through: writes, reads, lossy entries and flushes that wait for another thread's turn."""
    where = path if path == ":memory:" else tmp_path / path
    async with tenure.aio.open(
        where, threads=threads, journal=tenure.JournalOptions(1_000, "reject", batch_size=2)
    ) as store:

        async def work(number):
            run_id = f"run-{number:02}"
            await store.runs.create(run_id, "{}")
            await store.write(lambda: store.sync.runs.claim_and_own(run_id, tenure.PENDING, A, 0))
            await store.journal.emit_lossy({"runId": run_id, "sourceId": "s", "eventType": "e", "payload": {}})
            await store.journal.flush()
            assert (await store.runs.get(run_id)).owner == A

        with anyio.fail_after(PATIENCE_SECONDS):
            async with anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(work, number)

        assert len(ids(store)) == 20


async def test_a_transaction_in_the_loops_thread_is_not_waited_for(wide):
    """Whoever waits for it in the loop would hang: the same task, and, as nobody can tell them apart, any other.

    It is refused before the first wait, so the test makes no more than that step: one that waited could not be ended.
    """
    with wide.sync.transaction():
        wide.sync.runs.create("first", "{}")
        with pytest.raises(tenure.UsageError, match="thread of this loop has a transaction open"):
            wide.runs.create("second", "{}").send(None)
        async with anyio.create_task_group() as tasks:
            other = Started(tasks, lambda: wide.runs.get("first"))
    await wide.runs.create("third", "{}")

    assert isinstance(other.error, tenure.UsageError)
    assert ids(wide) == ["first", "third"]


async def test_a_task_started_in_a_transaction_of_the_loops_thread_is_refused(wide):
    """What it writes through the synchronous store would go with the first task's transaction."""

    async def write():
        wide.sync.runs.create("second", "{}")

    with wide.sync.transaction():
        wide.sync.runs.create("first", "{}")
        async with anyio.create_task_group() as tasks:
            other = Started(tasks, write)
        wide.sync.runs.create("third", "{}")

    assert isinstance(other.error, tenure.UsageError)
    assert ids(wide) == ["first", "third"]


async def test_a_unit_does_not_wait_for_another(store):
    """From inside a unit, back through the loop: it would need a thread that it keeps itself."""

    def body():
        anyio.from_thread.run(store.runs.create, "inner", "{}")

    with pytest.raises(tenure.UsageError, match="a unit of work uses the synchronous store"):
        await store.write(body)

    assert ids(store) == []


async def test_a_unit_of_another_store_may_be_waited_for(store, anyio_backend):
    """Two stores have threads of their own each."""
    async with tenure.aio.open(":memory:") as other:
        await store.write(lambda: anyio.from_thread.run(other.runs.create, "inner", "{}"))

        assert ids(other) == ["inner"]


async def test_an_unknown_outcome_gets_through(anyio_backend, tmp_path):
    """A COMMIT that fails is ``CommitOutcomeUnknown`` for the task, as for a thread."""
    faults = Faults()
    engine = FaultyEngine(tmp_path / "runs.db", faults)
    async with tenure.aio.open(engine) as store:
        await store.runs.create("r", "{}")

        def fail(connection):
            connection.commit()
            raise tenure.CommitUnknownError("io")

        faults.instead_of_commit = fail
        with pytest.raises(tenure.CommitOutcomeUnknown) as raised:
            await store.runs.request_cancel("r", 1)
        faults.instead_of_commit = None

        assert raised.value.method == "requestCancel"


async def test_closing_goes_through_though_it_is_cancelled(anyio_backend, tmp_path):
    """It waits for the unit that has begun, and what waits for a thread finds the store closed."""
    stop = Stop()
    opened = tenure.open(tmp_path / "runs.db")
    store = tenure.aio.wrap(opened, threads=1)
    async with anyio.create_task_group() as tasks:
        first = Started(tasks, lambda: store.write(creating(store, "first", stop)))
        await stop.reached()
        closing = Started(tasks, store.close)
        while not opened.database._turns.waiting:
            await anyio.sleep(0.001)
        closing.scope.cancel()
        await settle()
        assert not closing.ended.is_set()
        late = Started(tasks, lambda: store.runs.create("late", "{}"))
        stop.release()
    await store.close()

    assert (first.result, type(late.error)) == ("first", tenure.RunStoreError)
    with pytest.raises(tenure.RunStoreError, match="closed"):
        opened.runs.get("first")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("begun", [True, False])
async def test_closing_goes_through_though_asyncio_cancels_it(tmp_path, begun):
    """Before it has a thread or after: the store is closed, and then the cancellation raised."""
    stop = Stop()
    opened = tenure.open(tmp_path / "runs.db")
    store = tenure.aio.wrap(opened)
    first = asyncio.create_task(store.write(creating(store, "first", stop)))
    await stop.reached()
    closing = asyncio.create_task(store.close())
    await (settle() if begun else asyncio.sleep(0))
    closing.cancel()
    await settle()
    assert not closing.done()
    stop.release()
    await asyncio.wait([first, closing])

    assert closing.cancelled()
    with pytest.raises(tenure.RunStoreError, match="closed"):
        opened.runs.get("first")


async def test_a_store_whose_opening_is_cancelled_is_closed(anyio_backend, tmp_path):
    """It is opened to its end, and closed at the first wait of the block."""
    stop = Stop()
    entered = []

    def clock():
        stop()
        return 0

    async def use():
        async with tenure.aio.open(tmp_path / "runs.db", clock=clock) as store:
            entered.append(store)
            await anyio.lowlevel.checkpoint()
            entered.append("went on")

    async with anyio.create_task_group() as tasks:
        task = Started(tasks, use)
        await stop.reached()
        task.scope.cancel()
        stop.release()

    assert task.scope.cancelled_caught
    assert len(entered) == 1
    assert not (tmp_path / "runs.db-wal").exists()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_store_whose_opening_asyncio_cancels_is_closed(tmp_path):
    """It is opened to its end and closed, and the block never entered."""
    stop = Stop()

    def clock():
        stop()
        return 0

    async def use():
        async with tenure.aio.open(tmp_path / "runs.db", clock=clock):
            raise AssertionError("entered")

    task = asyncio.create_task(use())
    await stop.reached()
    task.cancel()
    stop.release()
    await asyncio.wait([task])

    assert task.cancelled()
    assert (tmp_path / "runs.db").exists()
    assert not (tmp_path / "runs.db-wal").exists()


async def test_a_call_that_answers_is_there_and_a_cancelled_one_is_not(anyio_backend, tmp_path):
    """Many tasks, cancelled at any time: what was answered is committed, and nothing else."""
    random = Random(20)
    answered, cancelled = [], []
    async with tenure.aio.open(tmp_path / "runs.db", threads=3) as store:

        async def create(run_id, seconds):
            with anyio.move_on_after(seconds) as scope:
                await store.runs.create(run_id, "{}")
                answered.append(run_id)
            if scope.cancelled_caught:
                cancelled.append(run_id)

        async with anyio.create_task_group() as tasks:
            for number in range(200):
                tasks.start_soon(create, f"run-{number:03}", random.choice([0, 0.01, 0.05, 60]))

        assert ids(store) == sorted(answered)
    assert len(answered) + len(cancelled) == 200
    assert cancelled


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_call_that_asyncio_cancels_is_over(tmp_path, anyio_backend):
    """The same, where asyncio cancels the tasks, more than once: what is there then stays so, answered or not."""
    random = Random(20)
    answered, at_the_end = [], {}
    async with tenure.aio.open(tmp_path / "runs.db", threads=3) as store:

        async def create(run_id):
            try:
                await store.runs.create(run_id, "{}")
                answered.append(run_id)
            finally:
                at_the_end[run_id] = run_id in ids(store)

        tasks = [asyncio.create_task(create(f"run-{number:03}")) for number in range(200)]
        for task in random.sample(tasks, 150):
            await asyncio.sleep(random.choice([0, 0.001]))
            for _ in range(random.choice([1, 2])):
                task.cancel()
        await asyncio.wait(tasks)

        there = ids(store)
    assert set(answered) <= set(there)
    assert [run_id for run_id, is_there in sorted(at_the_end.items()) if is_there] == there
    assert [task for task in tasks if task.cancelled()]


def test_no_thread_is_left_behind(anyio_backend):
    """A loop that is over has ended what would keep the program from ending: streams waited in it, some cancelled."""
    before = set(threading.enumerate())

    async def main():
        async with tenure.aio.open(":memory:", journal=JOURNAL) as store:
            await store.journal.emit_lossy({"runId": "r", "sourceId": "s", "eventType": "e", "payload": None})
            async with anyio.create_task_group() as tasks:
                for _ in range(5):
                    Started(tasks, lambda: anext(store.journal.stream("r", after_sequence=9)))
                    Started(tasks, lambda: anext(store.journal.changes()))
                await settle()
                tasks.cancel_scope.cancel()

    anyio.run(main, backend=anyio_backend)
    bound = [
        thread
        for thread in set(threading.enumerate()) - before
        if not thread.daemon or thread.name.startswith("tenure")
    ]
    for thread in bound:
        # Told to end, it may not have got there.
        thread.join(PATIENCE_SECONDS)

    assert [thread.name for thread in bound if thread.is_alive()] == []


async def test_a_unit_of_work_that_cannot_be_called_is_named(store):
    """As the synchronous store does."""
    with pytest.raises(tenure.UsageError, match=r"^body must be callable$"):
        await store.write(3)


@pytest.mark.parametrize("way", ["write", "transact"])
async def test_a_unit_of_work_that_is_a_coroutine_function_is_refused(anyio_backend, way):
    """Nobody would await what it answers; what it wrote before it answered is not kept."""

    async def wait():
        raise AssertionError("awaited")

    async with tenure.aio.open(":memory:", journal=JOURNAL) as store:

        def body():
            store.sync.runs.create("r", "{}")
            return wait()

        run = store.write if way == "write" else store.journal.transact
        for each in (wait, body):
            with pytest.raises(tenure.UsageError, match=r"^body must not be a coroutine function"):
                await run(each)

        assert ids(store) == []
