"""The lossy channel: three phases, what each outcome spends, and what a full queue does."""

import pytest

from tenure_model.semantics.journal.answers import Blocked
from tenure_model.semantics.journal.state import JournalState
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.journal import Accepted, Dropped, Duplicate, Evicted
from tenure_model.vocabulary.journal_errors import JournalUsageError
from tests.semantics.journal.journals import (
    B,
    after,
    also_opened,
    begun,
    cached,
    call,
    code,
    drained,
    emitted,
    event,
    history,
    lost,
    memory,
    opened,
    planted,
    queued,
)
from tests.semantics.worlds import ALICE

PROFILES = pytest.mark.parametrize("profile", [REFERENCE, ORIGINAL], ids=lambda profile: profile.name)


def test_accepted_before_it_is_on_disk() -> None:
    """An accepted entry is queued under provisional numbers, and known to its instance as pending (JN-190, JN-198)."""
    step = call(opened(), "journal.emitLossy", input=event("x", sourceSeq=4))

    assert step.outcome == Accepted(0, 4)
    assert history(step.state) == []
    assert cached(step.state) == {("p", 4): (0, '"x"', "pending")}
    assert step.state.fates == {0: "outstanding"}


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"payload": 1}, Duplicate(0, 4, "pending")),
        ({"payload": 2, "dedupe": "identity"}, Duplicate(0, 4, "pending")),
        ({"payload": 2}, None),
    ],
)
def test_pending_identity(members: dict[str, object], expected: Duplicate | None) -> None:
    """What memory holds is answered from there, and spends nothing (JN-191, JN-196)."""
    state = queued(opened(), 1, sourceSeq=4)

    step = call(state, "journal.emitLossy", input=event(**{"sourceSeq": 4, **members}))

    assert step.outcome == expected if expected is not None else code(step) == "idempotency_conflict"
    assert step.state is state


def test_committed_identity() -> None:
    """Once settled, the duplicate names the canonical number (JN-191, JN-242)."""
    state = drained(emitted(queued(opened(), 1, sourceSeq=4), 0))

    step = call(state, "journal.emitLossy", input=event(1, sourceSeq=4))

    assert step.outcome == Duplicate(2, 4, "committed")


def test_overtaken_reservation() -> None:
    """Lossy reserves 0, durable commits 1, lossy commits at 2; readers get 1, 2 (JN-242, HZ-17)."""
    state = emitted(queued(opened(), "lossy"), "durable")

    assert history(drained(state)) == [(1, 1, '"durable"'), (2, 0, '"lossy"')]


@pytest.mark.parametrize(
    ("overflow", "expected", "queue"),
    [
        ("reject", None, [0, 1]),
        ("drop-newest", Dropped(1, 9, "drop-newest"), [0, 1]),
        ("drop-oldest", Accepted(1, 9, Evicted("drop-oldest", 1)), [1, 2]),
    ],
)
def test_overflow(overflow: str, expected: object, queue: list[int]) -> None:
    """A full queue refuses, drops what is new, or drops what is oldest, of any run; both numbers are spent (JN-195,
    JN-196).
    """
    state = queued(queued(opened(capacity=2, overflow=overflow), 0, run_id="s"), 1)

    step = call(state, "journal.emitLossy", input=event(2, sourceSeq=9))
    following = call(step.state, "journal.emitDurableUnfenced", input=event(3))

    assert step.outcome == expected if expected is not None else code(step) == "queue_overflow"
    assert [waiting.entry_id for waiting in memory(step.state).queue] == queue
    assert (("p", 9) in cached(step.state)) == (overflow == "drop-oldest")
    assert following.outcome == Accepted(2, 10)


@pytest.mark.parametrize("overflow", ["reject", "drop-newest"])
def test_a_rejected_identity_is_accepted_later(overflow: str) -> None:
    """It gets a new sequence under its own source sequence, and makes one row (JN-196)."""
    state = queued(opened(capacity=1, overflow=overflow), 1)
    refused = call(state, "journal.emitLossy", input=event(2, sourceSeq=9))

    step = call(drained(refused.state), "journal.emitLossy", input=event(2, sourceSeq=9))

    assert step.outcome == Accepted(2, 9)
    assert history(drained(step.state)) == [(0, 0, "1"), (2, 9, "2")]


def test_evicted_entry() -> None:
    """The victim is forgotten and is no loss: no flush hears of it, and it may come again (JN-195, JN-226, HZ-06)."""
    state = queued(opened(capacity=1, overflow="drop-oldest"), 1, 2)

    assert state.fates == {0: "evicted", 1: "outstanding"}
    assert call(state, "journal.flush").outcome is None
    assert call(state, "journal.emitLossy", input=event(1, sourceSeq=0)).outcome == Accepted(
        2, 0, Evicted("drop-oldest", 1)
    )


def test_what_the_writer_took_does_not_count() -> None:
    """The capacity is that of the queue alone (JN-195)."""
    state = after(queued(opened(capacity=1), 1), "writer.take")

    assert call(state, "journal.emitLossy", input=event(2)).outcome == Accepted(1, 1)


def test_first_admissions_get_distinct_numbers() -> None:
    """Two first admissions of a run may read the same floors, and still get numbers of their own (JN-199)."""
    state = emitted(opened(), 0)
    state = after(after(state, "journal.close"), "journal.open", options={"capacity": 8, "overflow": "reject"})
    state = after(after(state, "lossy.begin", input=event("x")), "lossy.begin", input=event("y"))
    state = after(after(state, "lossy.read", token=1), "lossy.read", token=2)

    second = call(state, "lossy.finish", token=2)
    first = call(second.state, "lossy.finish", token=1)

    assert second.outcome == Accepted(1, 1)
    assert first.outcome == Accepted(2, 2)


def test_the_identity_is_looked_up_again() -> None:
    """Between the phases the same identity may have been admitted: then the third phase says so (JN-194)."""
    state = opened()
    begun = call(state, "lossy.begin", input=event(1, sourceSeq=0))
    state = after(queued(begun.state, 1, sourceSeq=0), "lossy.read", token=1)

    step = call(state, "lossy.finish", token=1)

    assert step.outcome == Duplicate(0, 0, "pending")
    assert memory(step.state).admissions == {}


def test_phases_in_order() -> None:
    """The third phase waits for the second, and a token serves once."""
    state = call(opened(), "lossy.begin", input=event(1)).state
    early = call(state, "lossy.finish", token=1)
    read = after(after(state, "lossy.read", token=1), "lossy.read", token=1)
    finished = call(read, "lossy.finish", token=1)

    assert early.outcome == Blocked()
    assert finished.outcome == Accepted(0, 0)
    assert isinstance(call(finished.state, "lossy.finish", token=1).outcome, JournalUsageError)
    assert isinstance(call(finished.state, "lossy.read", token=None).outcome, JournalUsageError)


def test_close_between_the_phases() -> None:
    """An admission that waits while the journal closes is refused (JN-232)."""
    state = call(opened(), "lossy.begin", input=event(1)).state
    state = after(after(state, "lossy.read", token=1), "journal.close")

    assert code(call(state, "lossy.finish", token=1)) == "journal_closed"


@pytest.mark.parametrize(
    ("warmed", "implicit", "explicit"),
    [
        ("cold", Accepted(10, 10), Accepted(10, 0)),
        ("by a lossy number", Accepted(11, 10), Accepted(11, 0)),
        ("by a durable number", Accepted(11, 10), Accepted(11, 0)),
        ("by a retried number", Accepted(11, 10), Accepted(11, 0)),
        ("by a durable emit", Accepted(11, 11), Accepted(11, 0)),
        ("by a lossy emit", Accepted(11, 11), Accepted(11, 0)),
    ],
)
def test_floors_of_a_fresh_instance(warmed: str, implicit: Accepted, explicit: Accepted) -> None:
    """R-5: only a durable read or an implicit allocation makes the producer floor cover what is on disk (JN-192)."""
    state = _ten_rows(REFERENCE)
    warmings = {
        "by a lossy number": ("journal.emitLossy", event(0, sourceSeq=1)),
        "by a durable number": ("journal.emitDurableUnfenced", event(1, sourceSeq=1)),
        "by a retried number": ("journal.emitDurableUnfenced", event(0, sourceSeq=1)),
        "by a durable emit": ("journal.emitDurableUnfenced", event(0)),
        "by a lossy emit": ("journal.emitLossy", event(0)),
    }
    if warmed in warmings:
        operation, emit = warmings[warmed]
        state = call(state, operation, input=emit).state

    assert call(state, "journal.emitLossy", input=event("new")).outcome == implicit
    assert call(state, "journal.emitLossy", input=event(0, sourceSeq=0)).outcome == explicit


def _ten_rows(profile: Profile) -> JournalState:
    """Ten rows of the producer, numbers 0 to 9, and a fresh instance that remembers the last alone."""
    state = emitted(opened(profile), *([0] * 10))
    options = {"capacity": 8, "overflow": "reject", "sourceEventCache": 1}
    return after(after(state, "journal.close"), "journal.open", options=options)


@PROFILES
@pytest.mark.parametrize("dedupe", ["content", "identity"])
def test_producer_floor_warmed_too_low(profile: Profile, dedupe: str) -> None:
    """HZ-01: an explicit retry of 2 makes original hand out 3 again, which is then lost or swallowed; R-5 reads."""
    state = queued(_ten_rows(profile), 0, sourceSeq=2)

    step = call(state, "journal.emitLossy", input=event("new", dedupe=dedupe))
    flushed = call(step.state, "journal.flush")

    if profile is ORIGINAL:
        assert step.outcome == Accepted(11, 3)
        assert "new" not in str(history(flushed.state))
        assert (flushed.outcome is None) == (dedupe == "identity")
    else:
        assert step.outcome == Accepted(11, 10)
        assert step.fired == {"R-5"}
        assert history(flushed.state)[-1] == (11, 10, '"new"')
        assert flushed.outcome is None


def test_a_failed_durable_emit_warms() -> None:
    """The read of a durable emit warms the producer also where the emit is then refused (R-5)."""
    state = _ten_rows(REFERENCE)
    state = call(state, "journal.emitDurable", input=event("x"), owner={"hostId": "", "pid": 1, "nonce": ""}).state

    assert memory(state).floors.warm == {("r", "p")}
    assert call(state, "journal.emitLossy", input=event("y")).outcome == Accepted(11, 11)


def test_floors_are_read_in_the_callers_transaction() -> None:
    """Inside a transaction the reads see its own rows, and the entry outlives a rollback (JN-193, JN-200, JN-317)."""
    state = after(opened(), "session.begin")
    state = emitted(state, "durable", run_id="s")
    step = call(state, "journal.emitLossy", input=event("lossy", run_id="s", source_id="q"))
    state = drained(after(step.state, "session.rollback"))

    assert step.outcome == Accepted(1, 0)
    assert history(state, "s") == [(1, 0, '"lossy"')]


def test_two_instances_of_one_producer() -> None:
    """HZ-02: an implicit number is not looked at again at the commit, so one of two is lost as a conflict."""
    state = also_opened(opened(), B)
    state = queued(state, "a")
    state = after(state, "journal.emitLossy", B, input=event("b"))
    state = drained(state)

    assert code(call(state, "journal.flush", B)) == "idempotency_conflict"
    assert history(state) == [(0, 0, '"a"')]


def test_forgotten_identity_is_admitted() -> None:
    """A memory too small to know better accepts, and the insert collapses it: one row (JN-197)."""
    state = emitted(opened(sourceEventCache=1), 0, 1)

    step = call(state, "journal.emitLossy", input=event(0, sourceSeq=0))

    assert step.outcome == Accepted(2, 0)
    assert history(drained(step.state)) == [(0, 0, "0"), (1, 1, "1")]
    assert drained(step.state).fates == {0: "collapsed"}


def test_pending_identities_outgrow_the_cache() -> None:
    """Pending identities are never evicted; the oldest committed one is (JN-162)."""
    state = queued(emitted(opened(sourceEventCache=2), 0), 1, 2, 3)

    assert list(cached(state)) == [("p", 1), ("p", 2), ("p", 3)]


def test_a_lost_identity_is_accepted_afresh() -> None:
    """A loss forgets the identity, so that its producer may try again (JN-225)."""
    state = lost(queued(opened(), 1, sourceSeq=5))

    step = call(state, "journal.emitLossy", input=event(2, sourceSeq=5))

    assert step.outcome == Accepted(1, 5)
    assert history(drained(step.state)) == [(1, 5, "2")]


@pytest.mark.parametrize(("seq", "expected"), [(MAX_SAFE_INTEGER - 2, "row"), (MAX_SAFE_INTEGER - 1, "lost")])
def test_the_last_number(seq: int, expected: str) -> None:
    """A queued entry takes the last number if it is free, and is lost if it is not (JN-212, JN-244)."""
    state = drained(planted(queued(opened(), 1), seq))

    assert state.fates == {0: expected}
    assert code(call(state, "journal.emitDurableUnfenced", input=event(2))) == "invalid_event"
    if expected == "row":
        assert code(call(state, "journal.emitLossy", input=event(2))) == "invalid_event"
    else:
        assert code(call(state, "journal.flush")) == "invalid_event"


def test_numbers_run_out_at_admission() -> None:
    """Where the floor that is read is the last number, nothing is queued and nothing spent (JN-194)."""
    state = planted(opened(), MAX_SAFE_INTEGER - 1)

    step = call(state, "journal.emitLossy", input=event(1))

    assert str(step.outcome) == "journal sequence is outside the allocatable safe integer range"
    assert memory(step.state).floors.run == {}


@pytest.mark.parametrize("owner", [ALICE, None])
def test_no_fence(owner: object) -> None:
    """The lossy channel asks no owner, so a run that nobody owns is written to (JN-081)."""
    assert call(opened(), "journal.emitLossy", input=event(1, run_id="s")).outcome == Accepted(0, 0)


def test_a_floor_that_cannot_be_read_ends_the_admission() -> None:
    """It is ``sink_failed``, spends no number, and happens only where a floor is read (JN-192)."""
    state, token = begun(opened(), "lossy.begin", input=event())
    failed = call(state, "lossy.read", token=token, fault="read")
    warm, again = begun(queued(opened(), 1), "lossy.begin", input=event())

    assert code(failed) == "sink_failed"
    assert memory(failed.state).admissions == {}
    assert memory(failed.state).floors == memory(state).floors
    assert call(warm, "lossy.read", token=again, fault="read").outcome is None
