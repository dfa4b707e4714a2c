"""What model and store once disagreed about: each history is taken on both, and its end is what the rules say."""

import pytest

from tenure_model.semantics.journal.answers import Done, Waiting
from tenure_model.vocabulary.journal_errors import JournalError
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import RunSnapshot
from tests.differential.actions import Action
from tests.differential.pair import close_pair
from tests.differential.pairs import journal_memory_pair

OWNER = OwnerId("h1", 1, "n1")
EVENT = {"runId": "r", "sourceId": "p", "eventType": "e.a", "payload": 1}


@pytest.fixture
def pair():
    """Model and store with one session in memory."""
    pair = journal_memory_pair()
    yield pair
    close_pair(pair)


def take(pair, operation, clock_ms=1_000.0, **arguments):
    """One step on both, which must agree; answers what it answered."""
    return pair.take(Action("s0", operation, arguments, clock_ms))


def open_owned(pair, **options):
    """Open a journal, and let ``OWNER`` own the run."""
    take(pair, "run.create", runId="r", stateJson="{}")
    take(pair, "journal.open", options={"capacity": 4, "overflow": "reject"} | options)
    snapshot = RunSnapshot("pending", None, None)
    take(pair, "run.claimAndOwn", runId="r", expected=snapshot, owner=OWNER, nowMs=1_000)


def begin_compact(pair, clock_ms=1_000.0):
    """Begin to compact the run up to its first entry, while another entry of it waits in the queue."""
    take(pair, "journal.emitDurableUnfenced", input=EVENT)
    take(pair, "journal.checkpoint", runId="r", seq=0, state=None, owner=OWNER)
    take(pair, "journal.emitLossy", input=EVENT)
    return take(pair, "compact.begin", clock_ms, runId="r", owner=OWNER).ticket


def test_a_compaction_that_waited_bears_the_time_of_its_end(pair):
    """What a compaction is dated to is when it cut off, not when it was asked for (JN-281)."""
    open_owned(pair)
    ticket = begin_compact(pair, 2_000.0)
    take(pair, "writer.drain", 3_000.0)
    take(pair, "compact.poll", 4_000.0, ticket=ticket)
    take(pair, "compact.poll", 5_000.0, ticket=ticket)

    checkpoint = pair.model.journal("s0").checkpoints["r"][0]

    assert checkpoint == (0, "null", 1_000, 5_000)


def test_a_compaction_that_waited_while_the_journal_closed_is_refused(pair):
    """After close nothing is compacted, also by a compaction that was begun before it (JN-233)."""
    open_owned(pair)
    ticket = begin_compact(pair)
    take(pair, "journal.close")

    outcome = take(pair, "compact.poll", ticket=ticket)

    assert isinstance(outcome, JournalError)
    assert outcome.code == "journal_closed"


def test_close_waits_for_what_its_drain_set_going(pair):
    """The maintenance that a drained entry starts is over before the journal is closed (JN-304)."""
    open_owned(pair, compaction={"entryThreshold": 1, "capture": "tail"})
    take(pair, "journal.emitLossy", input=EVENT)
    ticket = take(pair, "close.begin").ticket
    early = take(pair, "close.poll", ticket=ticket)
    take(pair, "writer.drain")
    between = take(pair, "close.poll", ticket=ticket)
    take(pair, "maintenance.finish")
    late = take(pair, "close.poll", ticket=ticket)

    assert (early, between) == (Waiting(ticket), Waiting(ticket))
    assert late == Done()
    assert pair.model.journal("s0").checkpoints["r"] == ((0, '{"upTo":0}', 1_000, 1_000),)


def test_a_waiting_compaction_keeps_the_count_of_its_run(pair):
    """A flush forgets the rows counted of idle runs, and a run that a compaction waits for is not idle (JN-228)."""
    open_owned(pair, compaction={"entryThreshold": 9, "capture": "tail"})
    take(pair, "journal.emitDurableUnfenced", input=EVENT)
    ticket = take(pair, "compact.begin", runId="r", owner=OWNER).ticket
    take(pair, "journal.flush")
    during = dict(pair.store.journal("s0").memory.counters)
    take(pair, "compact.poll", ticket=ticket)
    take(pair, "compact.poll", ticket=ticket)
    take(pair, "journal.flush")

    assert during == {"r": 1}
    assert pair.store.journal("s0").memory.counters == {}


def test_an_admission_between_its_phases_keeps_the_count_of_its_run(pair):
    """A flush forgets the rows counted of idle runs, and a run that something is being admitted to is not (JN-228)."""
    open_owned(pair, compaction={"entryThreshold": 9, "capture": "tail"})
    take(pair, "journal.emitDurableUnfenced", input=EVENT)
    take(pair, "lossy.begin", input=EVENT)
    take(pair, "journal.flush")

    assert pair.store.journal("s0").memory.counters == {"r": 1}


def test_rows_settled_while_a_durable_attempt_drains_its_run_are_passed_over(pair):
    """An attempt is in flight from its start on, also while it waits, and what settles then is not counted (JN-301)."""
    open_owned(pair, compaction={"entryThreshold": 2, "capture": "tail"})
    take(pair, "journal.emitDurableUnfenced", input=EVENT)
    take(pair, "journal.emitLossy", input=EVENT)
    take(pair, "journal.emitDurableUnfenced", input=EVENT)

    memory = pair.store.journal("s0").memory

    assert memory.maintenance == ()
    assert memory.counters["r"] == 2
