"""Tests of the subscription to what this instance commits."""

import threading
from pathlib import Path

import tenure
from tenure.journal.publication import Publication
from tests.journal.support import World, new_world, rolled_back
from tests.threads import PATIENCE_SECONDS, in_thread, in_time


def payloads(entries: list[tenure.Entry]) -> list[object]:
    """The payloads of entries."""
    return [entry.payload for entry in entries]


def test_entries_of_all_runs_and_both_channels_arrive(world: World) -> None:
    """From the subscription on, as they read back (JN-260)."""
    world.durable("before")
    changes = world.journal.changes()
    world.durable("durable")
    world.lossy("lossy", run_id="other")
    world.journal.flush()
    arrived = changes.take()

    assert payloads(arrived) == ["durable", "lossy"]
    assert arrived[0] == world.journal.entries("r", limit=1, after=0).entries[0]
    assert changes.take() == []


def test_duplicates_are_not_published(world: World) -> None:
    """Neither durable ones nor queued ones that collapse (JN-215)."""
    world.durable(1, source_seq=0)
    changes = world.journal.changes()
    world.durable(1, source_seq=0)
    world.journal.forget(["r"])
    world.lossy(1, source_seq=0)
    world.journal.flush()

    assert changes.take() == []


def test_other_instances_commits_are_not_published(on_file: World) -> None:
    """Only what this instance inserted (JN-260, HZ-13)."""
    changes = on_file.journal.changes()
    other = on_file.reopened()
    other.durable()
    other.store.close()

    assert changes.take() == []


def test_publication_waits_for_the_outermost_commit(world: World) -> None:
    """A subscriber never sees what may still roll back (JN-311)."""
    changes = world.journal.changes()
    with world.journal.transact():
        world.durable("outer")
        with world.journal.transact():
            world.durable("inner")
        inside = changes.take()
    after = changes.take()

    assert inside == []
    assert payloads(after) == ["outer", "inner"]


def test_a_rollback_publishes_nothing(world: World) -> None:
    """Of a savepoint that failed nothing either, though the outer transaction commits (JN-313)."""
    changes = world.journal.changes()
    with world.journal.transact():
        world.durable("kept")
        with rolled_back(world.journal.transact()):
            world.durable("undone")
    with rolled_back(world.store.transaction()):
        world.durable("undone")

    assert payloads(changes.take()) == ["kept"]


def test_a_slow_subscriber_loses_the_oldest() -> None:
    """The buffer has the capacity of the journal (JN-260)."""
    world = new_world(capacity=3)
    slow, quick = world.journal.changes(), world.journal.changes()
    world.fill(2)
    first = payloads(quick.take())
    world.fill(0)
    for number in (2, 3, 4):
        world.durable(number)

    assert payloads(slow.take()) == [2, 3, 4]
    assert first + payloads(quick.take()) == [0, 1, 2, 3, 4]
    world.store.close()


def test_subscribers_share_no_values(world: World) -> None:
    """What one does to a payload the other does not see."""
    first, second = world.journal.changes(), world.journal.changes()
    world.durable({"a": []})
    payload = first.take()[0].payload
    assert isinstance(payload, dict)
    payload["a"].append(1)

    assert payloads(second.take()) == [{"a": []}]


def test_an_iterator_waits_and_is_closed_from_another_thread(world: World) -> None:
    """It gives each entry as it comes, then stops."""
    threaded = new_world(writer="thread")
    changes = threaded.journal.changes()
    seen = threading.Semaphore(0)
    arrived: list[object] = []

    def follow() -> None:
        for entry in changes:
            arrived.append(entry.payload)
            seen.release()

    thread, answers = in_thread(follow)
    threaded.durable("first")
    assert seen.acquire(timeout=PATIENCE_SECONDS)
    threaded.lossy("second")
    assert seen.acquire(timeout=PATIENCE_SECONDS)
    changes.close()
    thread.join(PATIENCE_SECONDS)
    threaded.durable("third")
    threaded.store.close()

    assert answers == [None]
    assert arrived == ["first", "second"]
    assert changes.take() == []


def test_closing_the_journal_ends_subscriptions(world: World) -> None:
    """What was published can still be taken; one made afterwards is over at once (JN-233)."""
    changes = world.journal.changes()
    world.lossy("drained")
    world.journal.close()

    assert payloads(in_time(lambda: list(changes))) == ["drained"]
    assert in_time(lambda: list(world.journal.changes())) == []


def test_a_dropped_subscription_is_none(world: World) -> None:
    """Nobody collects for it."""
    with world.journal.changes() as changes:
        counted = len(world.instance.changes)
    del changes
    world.journal.changes()
    world.durable()

    assert counted == 1
    assert len(world.instance.changes) == 0


def test_what_was_not_taken_goes_with_the_subscription(world: World) -> None:
    """Who closes it wants no more."""
    changes = world.journal.changes()
    world.durable()
    changes.close()

    assert in_time(lambda: list(changes)) == []
    assert changes.take() == []


def test_threads_are_published_in_the_order_of_their_commits(tmp_path: Path) -> None:
    """Whichever thread comes to publish first: within a run, on both channels, by ascending seq (JN-240, JN-260)."""
    world = new_world(tmp_path / "t.db", writer="thread", capacity=1_000, batch_size=3)
    changes = world.journal.changes()

    def produce(name: str, lossy: bool) -> None:
        for number in range(60):
            (world.lossy if lossy else world.durable)(number, source_id=name)

    producers = [in_thread(lambda n=number: produce(f"p{n}", n % 3 == 0))[0] for number in range(6)]  # type: ignore[misc]  # bound for the thread
    for producer in producers:
        producer.join(PATIENCE_SECONDS)
    world.journal.flush()
    arrived = [entry.seq for entry in changes.take()]
    committed = world.seqs()
    world.store.close()

    assert arrived == committed
    assert len(committed) == 360


def test_a_written_batch_is_published_before_what_is_committed_later(world: World) -> None:
    """And not again when the writer settles it (JN-214, JN-260)."""
    changes = world.journal.changes()
    world.lossy("queued")
    world.writer.take()
    world.writer.write()
    unsettled = changes.take()
    world.durable("later")
    arrived = changes.take()
    world.writer.settle()

    assert unsettled == []
    assert payloads(arrived) == ["queued", "later"]
    assert changes.take() == []


def test_a_batch_that_is_lost_is_not_published(world: World) -> None:
    """Its rows were inserted, and its commit failed (JN-213)."""
    changes = world.journal.changes()
    world.lossy("lost")
    world.writer.take()
    world.fail(on="COMMIT")
    world.writer.write()
    world.mend()
    world.writer.settle()
    world.durable("later")

    assert payloads(changes.take()) == ["later"]


def test_what_a_commit_sets_going_is_published_after_it() -> None:
    """Also where the first of its entries does: here automatic compaction, whose capture appends one (JN-306)."""
    worlds: list[World] = []

    def capture(run_id: str, up_to: int) -> object:
        worlds[0].durable("captured", run_id="other")
        return None

    world = new_world(compaction=tenure.CompactionPolicy(entry_threshold=1, capture=capture))
    worlds.append(world)
    changes = world.journal.changes()
    with world.journal.transact():
        world.durable("first")
        world.durable("second", run_id="other")
    arrived = changes.take()
    world.store.close()

    assert payloads(arrived)[:3] == ["first", "second", "captured"]


def test_an_interruption_after_the_commit_keeps_nothing_from_later_subscribers(world: World) -> None:
    """Where the commit could not be noted, its entries are published by the work that follows it (JN-146)."""
    changes = world.journal.changes()
    publication = Publication(world.instance, [("r", 7, "id", "p", 0, 0, "e", "1", "null")])
    publication()
    publication.committed()
    world.durable("next")

    assert [entry.seq for entry in changes.take()] == [7, 0]
