"""Flush: whom it waits for, and which losses it tells of, under both profiles."""

import pytest

from tenure_model.semantics.journal.answers import Done, Waiting, WouldHang
from tenure_model.semantics.journal.instance import Failed
from tenure_model.semantics.journal.state import JournalState, JournalStep
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tenure_model.vocabulary.journal_errors import JournalError, JournalUsageError
from tests.semantics.journal.journals import (
    B,
    after,
    also_opened,
    begun,
    call,
    code,
    drained,
    emitted,
    event,
    lost,
    memory,
    opened,
    queued,
    world,
    written,
)

PROFILES = pytest.mark.parametrize("profile", [REFERENCE, ORIGINAL], ids=lambda profile: profile.name)
SINK = Failed(JournalError("sink_failed", "journal sink failed"))


def step_outcome(step: JournalStep) -> JournalError | None:
    """The loss that a flush told of."""
    return step.outcome.error if isinstance(step.outcome, Failed) else None


def conflicting(state: JournalState, count: int) -> JournalState:
    """The state with ``count`` queued entries that will be lost one by one."""
    for number in range(count):
        state = after(state, "journal.emitLossy", input=event("late", sourceSeq=100 + number))
        state = emitted(state, "first", sourceSeq=100 + number)
    return state


@PROFILES
def test_nothing_outstanding(profile: Profile) -> None:
    """With nothing queued a flush ends at once, whatever durable writes there were (JN-220)."""
    assert call(emitted(opened(profile), 1), "flush.begin").outcome == Done()


@PROFILES
def test_waits_for_what_is_queued(profile: Profile) -> None:
    """A flush waits through taking and writing, until the entry has settled (JN-222)."""
    state, ticket = begun(queued(opened(profile), 1), "flush.begin")
    taken = written(state)
    settled = after(taken, "writer.settle")

    assert call(taken, "flush.poll", ticket=ticket).outcome == Waiting(ticket)
    assert call(settled, "flush.poll", ticket=ticket).outcome == Done()


@PROFILES
def test_an_answer_is_given_once(profile: Profile) -> None:
    """A ticket is spent with its answer."""
    state, ticket = begun(queued(opened(profile), 1), "flush.begin")
    polled = call(drained(state), "flush.poll", ticket=ticket)

    assert polled.outcome == Done()
    assert isinstance(call(polled.state, "flush.poll", ticket=ticket).outcome, JournalUsageError)
    assert isinstance(call(polled.state, "flush.poll", ticket="1").outcome, JournalUsageError)


def test_later_admissions() -> None:
    """R-8: what is admitted after the call does not prolong the wait; original waits for it too (JN-222, HZ-05)."""
    outcomes = {}
    for profile in (REFERENCE, ORIGINAL):
        state, ticket = begun(queued(opened(profile, batchSize=1), 1), "flush.begin")
        settled = call(written(queued(state, 2)), "writer.settle")
        outcomes[profile.name] = type(call(settled.state, "flush.poll", ticket=ticket).outcome), settled.fired

    assert outcomes == {"reference": (Done, frozenset({"R-8"})), "original": (Waiting, frozenset())}


@PROFILES
def test_an_unreported_loss_is_told_once(profile: Profile) -> None:
    """If nobody waited, the next flush tells of the loss, and the one after it of nothing (JN-224, JN-225)."""
    state = lost(queued(opened(profile), 1))

    first = call(state, "flush.begin")

    assert first.outcome == SINK
    assert first.fired == frozenset()
    assert call(first.state, "flush.begin").outcome == Done()


def test_an_unreported_loss_with_more_outstanding() -> None:
    """R-8: the flush still waits; original fails at once, and what is outstanding is not on disk (HZ-40)."""
    outcomes = {}
    for profile in (REFERENCE, ORIGINAL):
        state = queued(lost(queued(opened(profile), 1)), 2)
        step = call(state, "flush.begin")
        outcomes[profile.name] = type(step.outcome), step.fired

    assert outcomes == {"reference": (Waiting, frozenset({"R-8"})), "original": (Failed, frozenset())}
    assert code(call(queued(lost(queued(opened(), 1)), 2), "journal.flush")) == "sink_failed"


@PROFILES
def test_every_waiting_flush_hears_of_its_loss(profile: Profile) -> None:
    """A loss goes to all flushes that cover it, and then to no other (JN-223, JN-224)."""
    state, one = begun(queued(opened(profile), 1), "flush.begin")
    state, other = begun(state, "flush.begin")
    state = lost(state)

    first = call(state, "flush.poll", ticket=other)
    second = call(first.state, "flush.poll", ticket=one)

    assert (first.outcome, second.outcome) == (SINK, SINK)
    assert call(second.state, "flush.begin").outcome == Done()


def test_a_loss_while_more_is_outstanding() -> None:
    """R-8: a waiting flush goes on until all it covers has left, and then fails; original fails at once (JN-222)."""
    outcomes = {}
    for profile in (REFERENCE, ORIGINAL):
        state, ticket = begun(queued(opened(profile, batchSize=1), 1, 2), "flush.begin")
        state = lost(state)
        early = call(state, "flush.poll", ticket=ticket).outcome
        late = call(drained(state), "flush.poll", ticket=ticket).outcome
        outcomes[profile.name] = type(early), type(late)

    assert outcomes == {"reference": (Waiting, Failed), "original": (Failed, Failed)}


def test_several_losses_in_one_batch() -> None:
    """R-8: the latest is told and all are spent; original tells the waiter of the first, the next flush of the last
    (JN-224).
    """
    texts = {}
    for profile in (REFERENCE, ORIGINAL):
        state, ticket = begun(conflicting(opened(profile), 3), "flush.begin")
        first = call(drained(state), "flush.poll", ticket=ticket)
        texts[profile.name] = [str(step_outcome(step)) for step in (first, call(first.state, "flush.begin"))]

    assert "p:102" in texts["reference"][0]
    assert texts["reference"][1] == "None"
    assert "p:100" in texts["original"][0]
    assert "p:102" in texts["original"][1]


@PROFILES
def test_unreported_losses_merge(profile: Profile) -> None:
    """Several unreported losses are told as one, the latest (JN-224, HZ-04)."""
    state = drained(conflicting(opened(profile), 2))

    first = call(state, "flush.begin")

    assert "p:101" in str(step_outcome(first))
    assert call(first.state, "flush.begin").outcome == Done()


@pytest.mark.parametrize("is_later_flush_first", [False, True])
def test_who_takes_an_old_loss(is_later_flush_first: bool) -> None:
    """R-8: a loss that nobody was told of goes to the flush that ends first, whichever is asked first (JN-224)."""
    state = queued(lost(queued(opened(batchSize=1), 1)), 2)
    state, first = begun(state, "flush.begin")
    state, second = begun(queued(state, 3), "flush.begin")
    state = drained(state)

    outcomes = {}
    for ticket in (second, first) if is_later_flush_first else (first, second):
        step = call(state, "flush.poll", ticket=ticket)
        outcomes[ticket], state = step.outcome, step.state

    assert outcomes == {first: SINK, second: Done()}


def test_an_evicted_entry_has_left() -> None:
    """R-8: a flush whose entries were evicted has nothing to wait for (JN-226)."""
    state, ticket = begun(queued(opened(capacity=1, overflow="drop-oldest"), 1), "flush.begin")

    assert call(queued(state, 2), "flush.poll", ticket=ticket).outcome == Done()


@PROFILES
@pytest.mark.parametrize("is_queued", [False, True])
@pytest.mark.parametrize("is_lost", [False, True])
def test_inside_a_transaction(profile: Profile, is_queued: bool, is_lost: bool) -> None:
    """R-9: a usage error at once; original decides as ever, and hangs where it would wait (JN-227, HZ-33)."""
    state = opened(profile)
    state = lost(queued(state, 1)) if is_lost else state
    state = after(queued(state, 2) if is_queued else state, "session.begin")

    step = call(state, "journal.flush")

    if profile is REFERENCE:
        assert isinstance(step.outcome, JournalUsageError)
        assert step.fired == {"R-9"}
        assert step.state is state
    elif is_lost:
        assert code(step) == "sink_failed"
    else:
        assert step.outcome == (WouldHang() if is_queued else None)


def test_a_flush_behind_another_transaction() -> None:
    """While another session holds the transaction the flush stays waiting, and ends once that has ended."""
    state = after(queued(also_opened(opened(), B), 1), "session.begin", B)

    state, ticket = begun(state, "journal.flush")
    freed = drained(after(state, "session.commit", B))

    assert call(freed, "flush.poll", ticket=ticket).outcome == Done()


def test_a_flush_of_another_instance() -> None:
    """An instance knows of its own queue only."""
    state = queued(also_opened(opened(), B), 1)

    assert call(state, "flush.begin", B).outcome == Done()


def test_admissions_in_their_floor_read_are_not_covered() -> None:
    """An admission that has no receipt yet is not queued (JN-220)."""
    state = call(opened(), "lossy.begin", input=event(1)).state

    assert call(state, "flush.begin").outcome == Done()


def test_without_a_journal() -> None:
    """A session without a journal has nothing to flush (JN-420)."""
    state = world()

    assert code(call(state, "flush.begin")) == "journal_closed"
    assert code(call(state, "flush.poll", ticket=1)) == "journal_closed"


@pytest.mark.parametrize("is_read", [False, True])
def test_counters_of_idle_runs_are_forgotten(is_read: bool) -> None:
    """A flush forgets the policy's counters of idle runs, and keeps those of runs with a reader (JN-228, HZ-25)."""
    state = emitted(opened(compaction={"entryThreshold": 9, "capture": "tail"}), 1)
    state = after(state, "stream.open", runId="r") if is_read else state

    assert memory(state).counters == {"r": 1}
    assert memory(after(state, "journal.flush")).counters == ({"r": 1} if is_read else {})
