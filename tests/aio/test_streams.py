"""Streams, subscriptions and projections as asynchronous iterators: ends, cancellation, threads."""

import asyncio
from contextlib import suppress

import anyio
import pytest

import tenure
import tenure.aio
from tenure.journal import statements
from tests.aio.support import JOURNAL, PATIENCE_SECONDS, A, Started, Stop, settle
from tests.database.support import Faults, FaultyEngine
from tests.metrics.support import collected

pytestmark = pytest.mark.anyio

FOLLOWERS = {
    "stream": lambda store: store.journal.stream("r"),
    "changes": lambda store: store.journal.changes(),
    "project": lambda store: store.journal.project(COUNT, "r"),
}
COUNT = tenure.Projection("count", -1, lambda count, entry: entry.seq)
# No poll comes in the way.
SETUP = tenure.JournalSetup(JOURNAL, poll_ms=PATIENCE_SECONDS * 1_000)


@pytest.fixture(params=["runs.db", ":memory:"])
async def store(request, anyio_backend, tmp_path):
    """A store with a journal and two threads for reads."""
    path = request.param if request.param == ":memory:" else tmp_path / request.param
    with anyio.fail_after(PATIENCE_SECONDS):
        async with tenure.aio.open(path, journal=SETUP, threads=2) as store:
            yield store


@pytest.fixture(params=sorted(FOLLOWERS))
def follow(request):
    """How something that follows run r is opened; a projection is past its initial state."""

    async def open_follower(store):
        follower = FOLLOWERS[request.param](store)
        if request.param == "project":
            assert await anext(follower) == -1
        return follower

    return open_follower


async def emit(store, count=1, run_id="r"):
    """So many durable entries."""
    for _ in range(count):
        await store.journal.emit_durable_unfenced({"runId": run_id, "sourceId": "s", "eventType": "e", "payload": None})


def seq_of(item):
    """An entry's seq; the state of the projection is one already."""
    return item if isinstance(item, int) else item.seq


async def test_it_gives_what_is_committed(store, follow):
    """Entries come in order, whoever commits them, without an end."""
    async with await follow(store) as follower:
        await emit(store, 2)
        await store.journal.emit_lossy({"runId": "r", "sourceId": "s", "eventType": "e", "payload": None})
        seqs = []
        async for item in follower:
            seqs.append(seq_of(item))
            if len(seqs) == 3:
                break

    assert seqs == [0, 1, 2]


async def test_a_stream_begins_with_history(store):
    """Page by page, above the cursor, and then with what comes."""
    await emit(store, 150)
    async with store.journal.stream("r", after_sequence=9) as stream:
        seqs = [(await anext(stream)).seq for _ in range(140)]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(emit, store)
            seqs.append((await anext(stream)).seq)

        assert (stream.run_id, stream.cursor, stream.is_ended) == ("r", 150, False)
    assert seqs == list(range(10, 151))
    assert stream.is_ended


async def test_a_wait_is_woken(store, follow):
    """A commit rings: nobody waits for a poll."""
    follower = await follow(store)
    async with anyio.create_task_group() as tasks:
        task = Started(tasks, lambda: anext(follower))
        await settle()
        await emit(store)

    assert seq_of(task.result) == 0


async def test_a_wait_that_is_cancelled_loses_nothing(store, follow):
    """It ends at once, and the next gets what came after."""
    follower = await follow(store)
    for seq in range(3):
        with anyio.move_on_after(0.01) as scope:
            await anext(follower)
        assert scope.cancelled_caught
        await emit(store)
        assert seq_of(await anext(follower)) == seq


async def test_a_page_that_is_cancelled_while_it_is_read(anyio_backend, tmp_path):
    """The read goes on to its end: its entry is given out, the rest kept, and the cancellation comes afterwards."""
    faults = Faults()
    stop = Stop()
    async with tenure.aio.open(FaultyEngine(tmp_path / "runs.db", faults), journal=SETUP) as store:
        await emit(store, 2)
        stream = store.journal.stream("r")
        seen = []

        def before(sql):
            if sql == statements.PAGE:
                stop()

        async def read():
            async for entry in stream:
                seen.append(entry.seq)
                await anyio.lowlevel.checkpoint()

        faults.before = before
        async with anyio.create_task_group() as tasks:
            task = Started(tasks, read)
            await stop.reached()
            task.scope.cancel()
            await settle()
            stop.release()

        assert task.scope.cancelled_caught
        assert seen == [0]
        assert (await anext(stream)).seq == 1


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("failure", [None, tenure.DatabaseError("io", "disk")])
async def test_a_page_that_asyncio_cancels_while_it_is_read(anyio_backend, tmp_path, failure):
    """``asyncio.wait_for`` drops what a cancelled call answers: the page is kept for the next call, or its error."""
    faults = Faults()
    stop = Stop()
    async with tenure.aio.open(FaultyEngine(tmp_path / "runs.db", faults), journal=SETUP) as store:
        await emit(store, 2)
        stream = store.journal.stream("r")

        def before(sql):
            if sql == statements.PAGE:
                stop()
                if failure is not None:
                    raise failure

        faults.before = before
        task = asyncio.create_task(stream.__anext__())
        await stop.reached()
        task.cancel()
        stop.release()
        await asyncio.wait([task])
        assert task.cancelled()

        with anyio.fail_after(PATIENCE_SECONDS):
            if failure is None:
                assert (await anext(stream)).seq == 0
                assert (await anext(stream)).seq == 1
            else:
                with pytest.raises(tenure.JournalError) as raised:
                    await anext(stream)
                assert raised.value.code == "read_failed"
                assert await anext(stream, None) is None


async def test_closing_it_ends_a_wait(store, follow):
    """Another task's ``aclose``, also one that is cancelled."""
    follower = await follow(store)
    async with anyio.create_task_group() as tasks:
        task = Started(tasks, lambda: anext(follower, None))
        await settle()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await follower.aclose()
        await task.ended.wait()

    assert (task.result, task.error) == (None, None)
    assert await anext(follower, None) is None
    await follower.aclose()


async def test_closing_the_store_ends_a_wait(store, follow):
    """What was published before can still be taken."""
    follower, behind = await follow(store), await follow(store)
    async with anyio.create_task_group() as tasks:
        await emit(store)
        assert seq_of(await anext(follower)) == 0
        task = Started(tasks, lambda: anext(follower, None))
        if isinstance(behind, tenure.aio.EntryStream):
            await emit(store)
            assert (await anext(behind)).seq == 0
            task = Started(tasks, lambda: anext(follower, None))
        await settle()
        await store.close()
        await task.ended.wait()
        rest = [seq_of(item) async for item in behind]

    assert task.result is None or seq_of(task.result) == 1
    assert rest in ([], [0], [1])


async def test_who_waits_holds_no_thread(store, follow):
    """Fifty wait, and two threads are enough for everything else."""
    followers = [await follow(store) for _ in range(50)]
    with anyio.fail_after(PATIENCE_SECONDS):
        async with anyio.create_task_group() as tasks:
            waiting = [Started(tasks, lambda each=each: anext(each)) for each in followers]
            await store.journal.entries("r", limit=1)
            while store._workers._reads.borrowed_tokens:
                await anyio.sleep(0.01)
            await emit(store)

    assert [seq_of(each.result) for each in waiting] == [0] * 50


async def test_two_tasks_share_a_stream(store):
    """Each entry goes to one of them."""
    await emit(store, 100)
    stream = store.journal.stream("r")
    seqs = []

    async def take():
        for _ in range(50):
            seqs.append((await anext(stream)).seq)
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take)
        tasks.start_soon(take)

    assert sorted(seqs) == list(range(100))


async def test_other_instances_are_seen_by_polling(anyio_backend, tmp_path):
    """What another store commits comes after the poll interval."""
    path = tmp_path / "runs.db"
    setup = tenure.JournalSetup(JOURNAL, poll_ms=10)
    async with tenure.aio.open(path, journal=setup) as store, tenure.aio.open(path, journal=JOURNAL) as other:
        stream = store.journal.stream("r")
        async with anyio.create_task_group() as tasks:
            task = Started(tasks, lambda: anext(stream))
            await settle()
            await emit(other)

    assert task.result.seq == 0


async def test_an_error_ends_it(store):
    """A history that was cut off above the cursor; a reducer that fails, under its projection's name."""
    await store.runs.create("r", "{}")
    await store.runs.claim_and_own("r", tenure.PENDING, A, 0)
    await emit(store, 3)
    tail = (await store.journal.entries("r", limit=10)).entries[-1].seq
    await store.journal.checkpoint("r", tail, {}, A)
    await store.journal.compact("r", A)
    stream = store.journal.stream("r")
    with pytest.raises(tenure.JournalError) as cut:
        await anext(stream)
    with pytest.raises(tenure.JournalError) as refused:
        store.journal.stream("")

    async with store.journal.project(
        tenure.Projection("bad", 0, lambda state, entry: 1 // 0), "r", after_sequence=tail - 1
    ) as states:
        assert await anext(states) == 0
        with pytest.raises(tenure.JournalError) as failed:
            await anext(states)

    assert [each.value.code for each in (cut, refused, failed)] == ["compacted", "invalid_event", "projection_failed"]
    assert (await anext(stream, None), await anext(states, None)) == (None, None)


async def test_what_is_no_projection_is_refused_before_a_stream_is_opened(store):
    """The parameter is named, and no compaction waits for a stream that nobody reads."""
    with pytest.raises(tenure.JournalUsageError, match=r"^projection must be a tenure\.Projection$"):
        store.journal.project(3, "r")

    assert list(store.sync.journal.instance.streams) == []


@pytest.mark.parametrize(
    "follow",
    [
        *FOLLOWERS.values(),
        lambda store: store.journal.stream("r", after_sequence=4),
        lambda store: store.journal.stream(""),
        lambda store: store.journal.project(COUNT, ""),
    ],
)
async def test_opening_one_is_a_span(anyio_backend, follow):
    """JN-413: the same as of the synchronous store, a refused one too."""
    seen = [collected(), collected()]
    with tenure.open(":memory:", journal=JOURNAL, telemetry=seen[0].telemetry) as sync:
        with suppress(tenure.JournalError):
            follow(sync)
        async with tenure.aio.open(":memory:", journal=JOURNAL, telemetry=seen[1].telemetry) as store:
            with suppress(tenure.JournalError):
                follow(store)
            theirs, spans = (each.of_operations() for each in seen)

    assert spans == theirs
    assert spans[-1][0] in ("Journal.stream", "Journal.changes", "Journal.project")


async def test_changes_keep_the_newest(anyio_backend):
    """Of all runs, from now on, at most as many as the journal's capacity; ``take`` waits for nothing."""
    async with tenure.aio.open(":memory:", journal=tenure.JournalOptions(3, "reject")) as store:
        await emit(store)
        changes = store.journal.changes()
        assert changes.take() == []
        await emit(store, 2, "a")
        await emit(store, 2, "b")
        taken = [(entry.run_id, entry.seq) for entry in changes.take()]
        await emit(store, 1, "c")

        assert taken == [("a", 1), ("b", 0), ("b", 1)]
        assert (await anext(changes)).run_id == "c"


async def test_changes_that_never_end_let_others_run(store):
    """A task that finds an entry each time gives way all the same."""
    changes = store.journal.changes()
    await emit(store, 50)
    seen = []

    async def take():
        async for entry in changes:
            seen.append(entry.seq)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take)
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        count = len(seen)
        tasks.cancel_scope.cancel()

    assert count < 10


def test_a_loop_that_is_over_disturbs_nobody(anyio_backend):
    """Streams and subscriptions that it left behind are published to without an error."""
    with tenure.open(":memory:", journal=JOURNAL) as sync:
        left = []

        async def main():
            store = tenure.aio.wrap(sync)
            left.extend([store.journal.stream("r"), store.journal.changes()])
            await emit(store)

        anyio.run(main, backend=anyio_backend)
        sync.journal.emit_durable_unfenced({"runId": "r", "sourceId": "s", "eventType": "e", "payload": None})

        assert [entry.seq for entry in sync.journal.stream("r").page()] == [0, 1]
