"""Tests of flush: what a ticket covers, whom a loss reaches, and where waiting is refused."""

import pytest

import tenure
from tests.journal.support import World, event, new_world, refused
from tests.threads import in_thread, join


def lose(world: World, **fields: object) -> None:
    """Queue one event and lose it."""
    world.lossy(**fields)
    world.fail()
    world.writer.drain()
    world.mend()


def test_flush_with_nothing_outstanding_succeeds_at_once(world: World) -> None:
    """Durable writes are none of its business (JN-220)."""
    world.durable()

    assert world.journal.begin_flush().ended


def test_a_ticket_covers_what_was_admitted_before_it_and_nothing_later(world: World) -> None:
    """Later admissions do not prolong the wait (R-8, JN-222)."""
    small = new_world(batch_size=1)
    small.lossy()
    ticket = small.journal.begin_flush()
    small.lossy()
    small.writer.take()
    small.writer.write()
    written = ticket.ended
    small.writer.settle()

    assert not written
    assert ticket.ended
    ticket.answer()
    assert small.instance.backlog.pending == 1
    small.store.close()


def test_a_later_loss_does_not_reach_a_ticket_that_does_not_cover_it(world: World) -> None:
    """The covered entry settled first, so the flush had ended (JN-222)."""
    small = new_world(batch_size=1)
    small.lossy()
    ticket = small.journal.begin_flush()
    small.writer.take()
    small.writer.write()
    small.writer.settle()
    lose(small)

    ticket.answer()
    assert refused(small.journal.flush).code == "sink_failed"
    small.store.close()


def test_an_unreported_loss_does_not_end_the_wait(world: World) -> None:
    """The flush is a barrier all the same, and then fails with it (R-8, HZ-40)."""
    lose(world, source_seq=0)
    world.lossy(source_seq=1)
    ticket = world.journal.begin_flush()
    waits = not ticket.ended
    world.writer.drain()

    assert waits
    assert refused(ticket.answer).code == "sink_failed"
    assert world.seqs() == [1]


def test_a_loss_is_reported_once(world: World) -> None:
    """The flush after that succeeds (JN-225)."""
    lose(world)
    error = refused(world.journal.flush)

    assert error.text == "journal sink failed"
    world.journal.flush()


def test_several_losses_are_reported_as_the_latest(on_file: World) -> None:
    """The others are spent with it (JN-224)."""
    on_file.durable("stored", source_seq=0)
    other = on_file.reopened(source_event_cache=1)
    other.durable(source_id="q")
    lose(other)
    other.lossy("changed", source_seq=0)
    other.writer.drain()
    error = refused(other.journal.flush)
    other.journal.flush()
    other.store.close()

    assert error.code == "idempotency_conflict"


def test_a_loss_reaches_every_ticket_that_covers_it(world: World) -> None:
    """And of the others only the flush that ends next (JN-224)."""
    world.lossy()
    covering = [world.journal.begin_flush() for _ in range(2)]
    world.fail()
    world.writer.drain()
    world.mend()

    assert [refused(ticket.answer).code for ticket in covering] == ["sink_failed"] * 2
    world.journal.flush()


def test_the_flush_that_ends_next_takes_the_report(world: World) -> None:
    """Tickets that end together end in the order of their calls (JN-224)."""
    lose(world)
    world.lossy()
    first, second = world.journal.begin_flush(), world.journal.begin_flush()
    world.writer.drain()

    assert refused(first.answer).code == "sink_failed"
    second.answer()


def test_each_report_is_an_error_of_its_own(world: World) -> None:
    """One exception raised twice would grow the tracebacks of both."""
    world.lossy()
    tickets = [world.journal.begin_flush() for _ in range(2)]
    world.fail()
    world.writer.drain()
    world.mend()
    errors = [refused(ticket.answer) for ticket in tickets]

    assert errors[0] == errors[1]
    assert errors[0] is not errors[1]


def test_an_eviction_can_end_a_flush() -> None:
    """The covered entry has left the system; that is no loss (JN-195, JN-226)."""
    world = new_world(capacity=1, overflow="drop-oldest")
    world.lossy()
    ticket = world.journal.begin_flush()
    world.lossy()

    assert ticket.ended
    ticket.answer()
    world.store.close()


def test_a_flush_whose_caller_gave_up_uses_up_no_report(world: World) -> None:
    """An interrupted wait abandons its ticket."""
    world.lossy()
    ticket = world.journal.begin_flush()
    world.instance.backlog.abandon(ticket)
    world.fail()
    world.writer.drain()
    world.mend()

    assert not ticket.ended
    assert refused(world.journal.flush).code == "sink_failed"


def test_flush_inside_a_transaction_is_a_usage_error(world: World) -> None:
    """The writer needs that transaction to be over; nothing outstanding makes no difference (R-9, JN-227)."""
    with world.journal.transact(), pytest.raises(tenure.JournalUsageError):
        world.journal.flush()
    with world.store.transaction(), pytest.raises(tenure.JournalUsageError):
        world.journal.flush()
    with pytest.raises(tenure.JournalUsageError):
        world.store.write(world.journal.flush)


def test_flush_from_another_thread_waits_for_a_transaction(on_file: World) -> None:
    """Only the thread that holds the transaction may not wait."""
    world = new_world(on_file.path, writer="thread")
    with world.journal.transact():
        world.lossy()
        thread, answers = in_thread(world.journal.flush)
        durable = world.durable(source_id="q")
        waiting = thread.is_alive()
    join(thread)
    world.store.close()

    assert waiting
    assert answers == [None]
    assert durable == tenure.Accepted(1, 0)
    assert on_file.seqs() == [1, 2]


def test_flush_of_a_closed_journal_is_refused(world: World) -> None:
    """Closing leaves no report behind (JN-221, JN-231)."""
    lose(world)
    world.journal.close()

    assert refused(world.journal.flush).code == "journal_closed"


def test_a_usage_error_comes_before_a_closed_journal(world: World) -> None:
    """The order of JN-221."""
    world.journal.close()
    with world.store.transaction(), pytest.raises(tenure.JournalUsageError):
        world.journal.flush()


def test_flush_forgets_the_counters_of_idle_runs() -> None:
    """Of runs with a reader, with pending entries or with a count to make it forgets nothing (JN-228)."""
    world = new_world(compaction=tenure.CompactionPolicy(100, lambda run_id, seq: None))
    for run_id in ("idle", "read", "busy"):
        world.durable(run_id=run_id)
    stream = world.journal.stream("read")
    world.journal.emit_lossy(event(run_id="busy"))
    ticket = world.journal.begin_flush()
    policy = world.instance.policy
    assert policy is not None
    while_waiting = set(policy.counters)
    world.writer.drain()
    once_settled = set(policy.counters)
    world.journal.flush()

    assert while_waiting == {"idle", "read", "busy"}
    assert ticket.ended
    assert once_settled == {"read", "busy"}
    assert set(policy.counters) == {"read"}
    stream.close()
    world.store.close()
