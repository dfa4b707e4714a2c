"""Tests of streams: history, then what is committed, wakes, polls, losses, ends."""

import threading
from pathlib import Path

import pytest

import tenure
from tests.journal.support import A, World, new_world, refused
from tests.threads import PATIENCE_SECONDS, eventually, in_thread, in_time, join


def seqs_of(entries: list[tenure.Entry]) -> list[int]:
    """The seqs of entries."""
    return [entry.seq for entry in entries]


def waiting_world(path: Path) -> tuple[World, threading.Event]:
    """A world whose streams do not poll, and an event that is set once one of them waits."""
    waiting = threading.Event()

    def wait(condition: threading.Condition, seconds: float) -> object:
        waiting.set()
        return condition.wait(PATIENCE_SECONDS)

    return new_world(path, wait=wait), waiting


def test_history_comes_page_by_page(world: World) -> None:
    """Pages of the batch size; the cursor moves when a page is read (JN-153, JN-255)."""
    small = new_world(batch_size=2)
    small.fill(5)
    stream = small.journal.stream("r")
    pages = [seqs_of(stream.page()) for _ in range(4)]

    assert pages == [[0, 1], [2, 3], [4], []]
    assert stream.cursor == 4
    small.store.close()


def test_a_stream_starts_above_its_cursor(world: World) -> None:
    """``after_sequence`` is exclusive (JN-254)."""
    world.fill(4)

    assert seqs_of(world.journal.stream("r", after_sequence=1).page()) == [2, 3]
    assert seqs_of(world.journal.stream("other").page()) == []


def test_history_then_live_has_no_gap_and_no_duplicate(world: World) -> None:
    """Also for commits during the switch (JN-258)."""
    small = new_world(batch_size=2)
    small.fill(3)
    stream = small.journal.stream("r")
    entries = [in_time(lambda: next(stream))]
    small.durable()
    entries += in_time(lambda: [next(stream) for _ in range(2)])
    small.durable()
    entries += in_time(lambda: [next(stream) for _ in range(2)])
    small.store.close()

    assert seqs_of(entries) == [0, 1, 2, 3, 4]


def test_an_iterator_waits_for_a_commit_of_its_instance(tmp_path: Path) -> None:
    """A commit wakes it; it need not poll (JN-254)."""
    waits = threading.Semaphore(0)

    def wait(condition: threading.Condition, seconds: float) -> object:
        waits.release()
        return condition.wait(PATIENCE_SECONDS)

    world = new_world(tmp_path / "t.db", wait=wait)
    stream = world.journal.stream("r")
    thread, answers = in_thread(lambda: [next(stream), next(stream)])
    assert waits.acquire(timeout=PATIENCE_SECONDS)
    world.durable("first")
    assert waits.acquire(timeout=PATIENCE_SECONDS)
    world.lossy("second")
    world.journal.flush()
    join(thread)
    world.store.close()

    assert [[entry.payload for entry in answer] for answer in answers if isinstance(answer, list)] == [
        ["first", "second"]
    ]


def test_a_stream_sees_other_instances_when_it_polls(on_file: World) -> None:
    """Nothing wakes it, so it looks after the interval (JN-257)."""
    asked: list[float] = []

    def wait(condition: threading.Condition, seconds: float) -> object:
        asked.append(seconds)
        on_file.durable("from another instance")
        return False

    follower = on_file.reopened(wait=wait, poll_ms=250)
    stream = follower.journal.stream("r")
    entry = in_time(lambda: next(stream))
    follower.store.close()

    assert entry.payload == "from another instance"
    assert asked == [0.25]


def test_the_poll_interval_is_a_second_unless_told_otherwise(on_file: World) -> None:
    """JN-254."""
    assert on_file.instance.timing.poll_seconds == 1


def test_a_wake_between_page_and_wait_is_not_lost(tmp_path: Path) -> None:
    """A commit after the empty page was read makes the stream read again instead of wait."""

    def wait(condition: threading.Condition, seconds: float) -> object:
        raise AssertionError("it should not wait")

    eager = new_world(tmp_path / "t.db", wait=wait)
    stream = eager.journal.stream("r")
    reads = iter([True])

    def before(sql: str) -> None:
        if "flows_journal_checkpoints" in sql and next(reads, False):
            # The page has been read and was empty.
            eager.durable()

    eager.faults.before = before

    assert next(stream).seq == 0
    eager.store.close()


def test_a_stream_in_a_transaction_is_woken_by_the_outer_commit(world: World) -> None:
    """Not by the savepoint (JN-311)."""
    stream = world.journal.stream("r")
    with world.journal.transact():
        world.durable()
        inside = stream._is_woken
    after = stream._is_woken

    assert (inside, after) == (False, True)


def test_a_loss_of_any_run_ends_every_live_stream(world: World) -> None:
    """Reported before its next page (JN-256, HZ-22)."""
    stream = world.journal.stream("r")
    world.lossy(run_id="other")
    world.fail()
    world.writer.drain()
    world.mend()
    world.fill(1)
    error = refused(stream.page)

    assert error.text == "journal sink failed"
    assert stream.is_ended
    assert in_time(lambda: list(stream)) == []
    assert seqs_of(world.journal.stream("r").page()) == [0]
    assert refused(world.journal.flush) == error


def test_a_loss_wakes_a_stream_that_waits(tmp_path: Path) -> None:
    """It need not poll to learn of it (JN-223)."""
    world, waiting = waiting_world(tmp_path / "t.db")
    stream = world.journal.stream("r")
    thread, answers = in_thread(lambda: next(stream))
    assert waiting.wait(PATIENCE_SECONDS)
    world.lossy(run_id="other")
    world.fail()
    world.writer.drain()
    world.mend()
    join(thread)
    world.store.close()

    assert [getattr(answer, "code", None) for answer in answers] == ["sink_failed"]


def test_page_failures_end_a_stream(world: World) -> None:
    """compacted, read_failed and decode_failed (JN-257)."""
    world.own()
    world.fill(3)
    streams = [world.journal.stream("r", after_sequence=1) for _ in range(3)]
    world.fail(on="SELECT run_id, seq")
    failed = refused(streams[0].page)
    world.mend()
    world.corrupt("UPDATE flows_journal_events SET payload_json = '{' WHERE seq = 2")
    corrupt = refused(streams[1].page)
    world.sql("UPDATE flows_journal_events SET payload_json = '1' WHERE seq = 2")
    world.journal.checkpoint("r", 2, None, A)
    world.journal.compact("r", A)

    assert (failed.code, corrupt.code) == ("read_failed", "decode_failed")
    assert seqs_of(streams[2].page()) == [2]
    assert refused(world.journal.stream("r").page).code == "compacted"
    assert [stream.is_ended for stream in streams] == [True, True, False]


def test_a_closed_stream_ends(world: World) -> None:
    """It reads no more, and what was read ahead is dropped (JN-255)."""
    world.fill(3)
    with world.journal.stream("r") as stream:
        first = next(stream)

    assert first.seq == 0
    assert in_time(lambda: list(stream)) == []
    assert stream.page() == []


def test_closing_from_another_thread_ends_the_wait(tmp_path: Path) -> None:
    """Who waits for the next entry stops."""
    world, waiting = waiting_world(tmp_path / "t.db")
    stream = world.journal.stream("r")
    thread, answers = in_thread(lambda: list(stream))
    assert waiting.wait(PATIENCE_SECONDS)
    stream.close()
    join(thread)
    world.store.close()

    assert answers == [[]]


def test_closing_the_journal_ends_streams_without_an_error(world: World) -> None:
    """Live ones, and those opened afterwards (JN-233)."""
    world.fill(2)
    live = world.journal.stream("r")
    first = next(live)
    world.journal.close()

    assert first.seq == 0
    assert seqs_of(in_time(lambda: list(live))) == [1]
    assert in_time(lambda: list(world.journal.stream("r"))) == []
    assert world.journal.stream("r").page() == []
    assert world.journal.entries("r", limit=9).has_more is False


def test_closing_the_store_ends_a_stream_that_waits(tmp_path: Path) -> None:
    """Whatever it was doing, it ends quietly."""
    for _ in range(20):
        world = new_world(tmp_path / "t.db", poll_ms=0.1)
        stream = world.journal.stream("r", after_sequence=10_000)
        thread, answers = in_thread(lambda stream=stream: list(stream))  # type: ignore[misc]  # bound for the thread
        world.store.close()
        join(thread)

        assert answers == [[]]


@pytest.mark.parametrize("options", [{"after_sequence": -1}, {"after_sequence": None}, {"after_sequence": 1.0}])
def test_bad_options_are_refused_at_the_call(world: World, options: dict[str, int]) -> None:
    """And register no reader (JN-254)."""
    error = refused(lambda: world.journal.stream("r", **options))

    assert (error.code, error.text) == ("invalid_event", "stream options violate the journal read contract")
    assert len(world.instance.streams) == 0


def test_a_follower_in_another_thread_sees_everything_in_order(tmp_path: Path) -> None:
    """While several threads append on both channels (JN-241, JN-258, BR-43)."""
    world = new_world(tmp_path / "t.db", writer="thread", capacity=10_000, batch_size=7)
    stream = world.journal.stream("r")
    thread, answers = in_thread(lambda: [next(stream).seq for _ in range(400)])

    def produce(name: str, lossy: bool) -> None:
        for number in range(100):
            (world.lossy if lossy else world.durable)(number, source_id=name)

    producers = [in_thread(lambda n=number: produce(f"p{n}", n % 2 == 0))[0] for number in range(4)]  # type: ignore[misc]  # bound for the thread
    for producer in producers:
        join(producer)
    world.journal.flush()
    eventually(lambda: not thread.is_alive())
    committed = world.seqs()
    world.store.close()

    assert answers == [committed]
    assert len(committed) == 400


def test_a_stream_shows_no_uncommitted_entry_of_its_own_transaction(tmp_path: Path) -> None:
    """Inside a transaction a stream reads what is committed: a seq rolled back may come again (JN-241)."""
    event = {"runId": "r", "sourceId": "p", "eventType": "e", "payload": 1}
    with tenure.open(tmp_path / "runs.db", journal={"capacity": 8, "overflow": "reject"}) as store:
        stream = store.journal.stream("r")
        with store.transaction():
            store.journal.emit_durable_unfenced(event)
            inside = stream.page()
            own = store.journal.entries("r", limit=9)
        after = stream.page()

    assert inside == []
    assert len(own.entries) == len(after) == 1


def test_a_memory_database_cannot_stream_inside_its_transaction() -> None:
    """Its one connection sees the transaction and nothing else; the stream lives on."""
    event = {"runId": "r", "sourceId": "p", "eventType": "e", "payload": 1}
    with tenure.open(":memory:", journal={"capacity": 8, "overflow": "reject"}) as store:
        stream = store.journal.stream("r")
        with store.transaction():
            store.journal.emit_durable_unfenced(event)
            with pytest.raises(tenure.UsageError):
                stream.page()
        after = stream.page()

    assert len(after) == 1


def test_threads_that_share_a_stream_share_its_entries(tmp_path: Path) -> None:
    """Each entry goes to one of them, and each gets its own in order (JN-258)."""
    world = new_world(tmp_path / "t.db", batch_size=1, poll_ms=1)
    world.fill(300)
    stream = world.journal.stream("r")
    threads = [in_thread(lambda: seqs_of(list(stream))) for _ in range(3)]
    eventually(lambda: stream.cursor == 299)
    stream.close()
    for thread, _ in threads:
        join(thread)
    world.store.close()
    shares = [share for _, answers in threads for share in answers if isinstance(share, list)]

    assert [share == sorted(set(share)) for share in shares] == [True] * 3
    # Closing drops what was read and not handed over: a page, of one entry.
    assert sorted(seq for share in shares for seq in share) in (list(range(300)), list(range(299)))


def test_a_page_read_twice_at_once_is_given_once(on_file: World) -> None:
    """Whoever is second gets nothing, and knows that there may be more (JN-258)."""
    on_file.fill(3)
    stream = on_file.journal.stream("r")
    inner: list[list[int]] = []

    def read_in_between(sql: str) -> None:
        if "SELECT run_id, seq" in sql and not inner:
            inner.append([])
            inner[0] = seqs_of(stream.page())

    on_file.faults.before = read_in_between
    outer = stream.page()

    assert inner == [[0, 1, 2]]
    assert outer == []
    assert stream.cursor == 2
