"""The supervisor under a virtual clock: stalled, hanging and failing writes, clocks that jump, timers that are late."""

import logging

import pytest

import tenure
from tenure.database.engine import DatabaseError
from tenure.ownership.supervisor import HOOK_THREAD, LOG_THREAD, MOST_BEATS, TIMER_THREAD, WRITER_THREAD
from tests.ownership.stage import A, Scripted, Stage, ends_with, fails, lost


def seconds(*numbers):
    """Beats of run r at these seconds."""
    return [("r", number * 1_000) for number in numbers]


def test_it_beats_each_second_and_no_more_after_the_block(stage):
    """RS-911: the first beat comes a second after the start, the last before the block is left."""
    with stage.supervise() as lease:
        stage.advance(3_500)
        lease.check()
    stage.advance(60_000)

    assert stage.beats == seconds(1, 2, 3)
    assert (lease.lost.is_set(), lease.reason) == (False, None)
    assert stage.supervisor.next_due() is None


def test_the_period_has_the_duration_of_the_write_in_it(stage):
    """RS-911: a second from the end of each write to the next beat."""
    with stage.supervise():
        for _ in range(3):
            stage.writing = False
            stage.advance(1_000)
            stage.advance(250)
            stage.writing = True
            stage.settle()

    assert stage.beats == [("r", 1_000), ("r", 2_250), ("r", 3_500)]


@pytest.mark.parametrize("hanging", [False, True])
def test_a_dead_database(stage, hanging):
    """RS-915: failing writes lapse 19 s after the last confirmed reading, hanging ones 20 s; the hook is told 19 s."""
    gaps = []
    with lost("lapsed"), stage.supervise(on_lapse=gaps.append) as lease:
        stage.advance(5_000)
        stage.on_beat = stage.on_reconfirm = fails()
        stage.writing = not hanging
        stage.advance(19_000 + 1_000 * hanging - 1)
        assert not lease.lost.is_set()
        stage.advance(1)
        assert lease.lost.is_set()

    assert gaps == [19_000]
    assert stage.reconfirmations == ([] if hanging else [("r", 24_000)])


@pytest.mark.parametrize("failures", [1, 17])
def test_failing_writes_are_tolerated(stage, failures):
    """RS-911, RS-913: so long as one succeeds in time, the body never hears of it."""
    results = iter([True] * failures)

    def beat(run_id):
        return fails()(run_id) if next(results, False) else tenure.Updated()

    stage.on_beat = beat
    with stage.supervise() as lease:
        stage.advance(60_000)
        lease.check()

    assert stage.reconfirmations == []


def test_nothing_is_written_for_a_beat_that_was_given_up(stage):
    """RS-915: a beat that hangs when the lease lapses is not made up for when the database is back."""
    with lost("lapsed"), stage.supervise():
        stage.writing = False
        stage.advance(30_000)
    stage.writing = True
    stage.advance(30_000)

    assert (stage.beats, stage.reconfirmations) == ([], [])


def test_a_hanging_write_does_not_keep_the_deadline_of_another(stage):
    """RS-912: each of three runs that wait for the same writer ends at its own time."""
    blocks = [(run_id, stage.supervise(run_id)) for run_id in ("a", "b", "c")]
    leases = {}
    stage.writing = False
    for run_id, block in blocks:
        leases[run_id] = block.__enter__()
        stage.advance(300)
    ended = {}
    while len(ended) < 3:
        stage.advance(100)
        ended |= {run_id: stage.timer_ms for run_id in leases if leases[run_id].lost.is_set() and run_id not in ended}

    assert ended == {"a": 20_000, "b": 20_300, "c": 20_600}
    for _, block in blocks:
        with lost("lapsed"):
            block.__exit__(None, None, None)


@pytest.mark.parametrize("outcome", [tenure.FenceLost(), tenure.NotFound()])
def test_br_12_a_lost_fence_ends_the_work_at_once(stage, outcome):
    """BR-12: the body is told at the beat that finds the fence lost, and ``on_lapse`` is not called."""
    gaps = []
    with lost("fence-lost"), stage.supervise(on_lapse=gaps.append) as lease:
        stage.advance(1_000)
        assert not lease.lost.is_set()
        stage.on_beat = lambda run_id: outcome
        stage.advance(1_000)
        assert lease.lost.is_set()
        with pytest.raises(tenure.LeaseLost, match="the lease of run r is lost: fence-lost"):
            lease.check()
    stage.advance(60_000)

    assert gaps == []
    assert stage.beats == seconds(1, 2)


def test_a_block_left_while_its_beat_waits_for_the_database(stage):
    """RS-915: once the write gets its transaction, nothing is written in it."""
    block = stage.supervise()
    block.__enter__()
    stage.before_write = lambda: block.__exit__(None, None, None)
    stage.advance(1_000)

    assert (stage.transactions, stage.beats) == (1, [])


def test_a_block_left_while_its_beat_is_written(stage):
    """RS-915: what the store answers then is nobody's concern any more."""
    block = stage.supervise()
    lease = block.__enter__()

    def leave(run_id):
        block.__exit__(None, None, None)
        return tenure.FenceLost()

    stage.on_beat = leave
    stage.advance(5_000)

    assert stage.beats == seconds(1)
    assert not lease.lost.is_set()


def test_reconfirmations_are_written_before_beats(stage):
    """RS-913: they have only a second, and 200 beats have piled up before them."""
    seen = []

    def beat(run_id):
        seen.append(len(stage.reconfirmations))
        return tenure.Updated()

    stage.on_beat = beat
    blocks = [stage.supervise(f"run-{number}") for number in range(200)]
    leases = [block.__enter__() for block in blocks]
    stage.writing = False
    stage.advance(19_500)
    stage.writing = True
    stage.settle()
    for block in blocks:
        block.__exit__(None, None, None)

    assert seen == [200] * 200
    assert not any(lease.lost.is_set() for lease in leases)


def test_a_failure_that_is_no_store_error_reaches_the_body(stage):
    """RS-911: the loop ends with it, the hook is not called, and no other run is touched."""
    stage.on_beat = lambda run_id: 1 / 0 if run_id == "r" else tenure.Updated()
    gaps = []
    with stage.supervise("other") as other:
        with ends_with(ZeroDivisionError), stage.supervise(on_lapse=gaps.append):
            stage.advance(1_000)
        stage.advance(60_000)
        other.check()

    assert gaps == []


def test_an_exception_of_the_body_is_not_replaced(stage):
    """The body's own exception says more than that the lease is lost as well."""
    stage.on_beat = lambda run_id: tenure.FenceLost()
    with ends_with(KeyError), stage.supervise():
        stage.advance(1_000)
        raise KeyError


@pytest.mark.parametrize("jump_ms", [17_999, 18_000, 3_600_000])
def test_a_clock_that_jumps_ahead(stage, jump_ms):
    """RS-912, RS-913: the budget is spent at the next look, and the store confirms."""
    gaps = []
    with stage.supervise(on_reconfirm=gaps.append) as lease:
        stage.advance(1_500)
        stage.ahead_ms += jump_ms
        stage.advance(30_000)
        lease.check()

    assert len(stage.reconfirmations) == (jump_ms >= 18_000)
    assert gaps == ([1_000 + jump_ms] if jump_ms >= 18_000 else [])


def test_a_clock_that_jumps_back(stage):
    """RS-910: beats go on, and the budget is longer by the jump while they fail (H-14)."""
    with lost("lapsed"), stage.supervise() as lease:
        stage.advance(2_500)
        stage.ahead_ms -= 5_000
        stage.on_beat = stage.on_reconfirm = fails()
        stage.advance(23_499)
        assert not lease.lost.is_set()
        stage.advance(1)


def test_timers_that_are_late_reconfirm_once(stage):
    """RS-915: after a stall both activities are overdue; one reconfirmation serves both."""
    with stage.supervise() as lease:
        stage.firing = False
        stage.advance(40_000)
        stage.firing = True
        stage.settle()
        stage.advance(3_000)
        lease.check()

    assert stage.reconfirmations == [("r", 40_000)]
    assert stage.beats == seconds(41, 42, 43)


def test_a_thousand_runs_share_threads_and_transactions(stage):
    """RS-911: one thread for the deadlines and one for the writes, and as few transactions as the bound allows."""
    blocks = [stage.supervise(f"run-{number}") for number in range(1_000)]
    leases = [block.__enter__() for block in blocks]
    stage.advance(3_000)
    for block in blocks:
        block.__exit__(None, None, None)

    assert sorted(stage.started) == [TIMER_THREAD, WRITER_THREAD]
    assert len(stage.beats) == 3_000
    assert stage.transactions == 3 * -(-1_000 // MOST_BEATS)
    assert not any(lease.lost.is_set() for lease in leases)


def test_runs_that_beat_together_once_stay_together(stage):
    """RS-911: beats that queue up behind one write are written together, and from then on always are."""
    with stage.supervise("a"):
        stage.advance(400)
        with stage.supervise("b"):
            stage.writing = False
            stage.advance(1_200)
            stage.writing = True
            stage.settle()
            before = stage.transactions
            stage.advance(5_000)

    assert (before, stage.transactions) == (1, 6)


@pytest.mark.parametrize("failure", [DatabaseError("io"), tenure.CommitUnknownError("io"), ZeroDivisionError()])
def test_a_transaction_that_fails_as_a_whole_is_taken_apart(stage, failure):
    """RS-911: each of its beats gets a transaction of its own, so that none is taken down by another's."""
    stage.on_beat = lambda run_id: tenure.Updated()

    def fail_shared():
        if stage.transactions == 1:
            raise failure

    stage.before_write = fail_shared
    with stage.supervise("a") as first, stage.supervise("b") as second:
        stage.advance(1_500)
        first.check()
        second.check()

    assert stage.transactions == 3
    assert stage.beats == [("a", 1_000), ("b", 1_000)]


def test_a_busy_database_is_not_asked_again_for_each(stage):
    """RS-911: the transaction was repeated as often as the policy says already; all its beats have failed."""

    def busy():
        raise DatabaseError("busy")

    stage.before_write = busy
    with stage.supervise("a"), stage.supervise("b"):
        stage.advance(1_500)

    assert stage.transactions == 1


def test_one_failing_run_takes_no_other_down(stage):
    """RS-911, RS-913: its beats share transactions with those of a run that goes on for ever."""
    stage.on_beat = lambda run_id: fails()(run_id) if run_id == "r" else tenure.Updated()
    stage.on_reconfirm = fails()
    with stage.supervise("other") as other:
        with lost("lapsed"), stage.supervise():
            stage.advance(20_000)
        stage.advance(20_000)
        other.check()

    assert [beat for beat in stage.beats if beat[0] == "other"][-1] == ("other", 40_000)


def test_closing_interrupts(stage):
    """RS-913: the store is closed under the work; no hook is called and nothing more is written."""
    gaps = []
    with lost("interrupted"), stage.supervise(on_lapse=gaps.append) as lease:
        stage.advance(1_000)
        stage.supervisor.stop()
        stage.advance(60_000)
        assert lease.lost.is_set()

    assert (gaps, stage.beats) == ([], seconds(1))
    with pytest.raises(tenure.RunStoreError, match="the store is closed"), stage.supervise():
        pass


def test_what_is_logged(stage, caplog):
    """RS-911, RS-914: one warning for a series of failing beats, one for the lapse, with the names of the rules."""
    caplog.set_level(logging.WARNING, "tenure.ownership")
    stage.on_beat = stage.on_reconfirm = fails("constraint")
    with lost("lapsed"), stage.supervise():
        stage.advance(20_000)
    first, second = caplog.records

    assert (first.getMessage(), first.runId, first.code) == ("run heartbeat write failed", "r", "constraint")
    assert second.getMessage() == "run lease lapsed; interrupting owned work"
    assert (second.runId, second.unconfirmedMs) == ("r", 19_000)
    assert stage.started == [TIMER_THREAD, WRITER_THREAD, LOG_THREAD, LOG_THREAD]


def test_a_broken_clock_ends_the_supervision(stage):
    """RS-910: nobody can tell when the budget ends, so the body is told what is wrong."""
    with ends_with(ValueError, "NaN"), stage.supervise():
        stage.ahead_ms = float("nan")
        stage.advance(1_000)


class NoThreads(Scripted):
    """A stage on which threads of one name cannot be started."""

    def __init__(self, name):
        self.missing = name
        super().__init__()

    def start(self, name, target):
        if name == self.missing:
            raise RuntimeError("can't start new thread")
        super().start(name, target)


def test_without_a_timer_nothing_begins():
    """The block is not entered where nobody could watch the deadline."""
    stage = NoThreads(TIMER_THREAD)
    with ends_with(RuntimeError, "can't start"), stage.supervise():
        raise AssertionError("entered")

    assert stage.supervisor.next_due() is None


@pytest.mark.parametrize(
    ("name", "begin_ms"), [(WRITER_THREAD, 1_000), (HOOK_THREAD, 19_000)], ids=["writer", "lapse hook"]
)
def test_without_a_further_thread_the_body_is_told(name, begin_ms):
    """What cannot be started ends the supervision with that failure; it never hangs or stops the timer."""
    stage = NoThreads(name)
    stage.on_beat = stage.on_reconfirm = fails()
    with ends_with(RuntimeError, "can't start"), stage.supervise(on_lapse=lambda gap: None) as lease:
        stage.advance(begin_ms - 1)
        lease.check()
        stage.advance(1)


def test_without_a_thread_for_it_the_warning_is_logged_all_the_same(caplog):
    """RS-911: in the thread that is there."""
    stage = NoThreads(LOG_THREAD)
    stage.on_beat = fails()
    with stage.supervise():
        stage.advance(1_000)

    assert [record.getMessage() for record in caplog.records] == ["run heartbeat write failed"]


@pytest.mark.parametrize(
    ("run_id", "owner", "field"), [("", A, "runId"), ("r", {"hostId": "h"}, "owner"), (7, A, "runId")]
)
def test_what_cannot_be_supervised_is_refused_at_once(run_id, owner, field):
    """An id or owner that every beat would refuse is refused before the work begins, as ``heartbeat`` refuses it."""
    with tenure.open(":memory:") as store, pytest.raises(tenure.RunStoreError) as raised:
        store.supervise(run_id, owner)

    assert (raised.value.code, raised.value.method) == ("invalid_run", "heartbeat")
    assert raised.value.cause["field"] == field


def test_a_block_is_entered_once_at_a_time(stage):
    """A block that is entered cannot be entered again; once left, it can."""
    block = stage.supervise()
    with block as first, pytest.raises(RuntimeError, match="entered already"):
        block.__enter__()
    with block as second:
        stage.advance(1_000)

    assert first is not second
    assert stage.beats == seconds(1)


def test_the_same_run_twice(stage):
    """Two blocks around one run are two supervisions; each beats."""
    with stage.supervise(), stage.supervise() as inner:
        stage.advance(1_000)
        inner.check()

    assert stage.beats == seconds(1, 1)


def test_a_stage_without_time_does_nothing():
    """The harness itself: nothing happens unless time passes, and the store's supervisor is driven by hand as well."""
    stage = Stage()
    with tenure.open(":memory:", clock=stage.clock, timing=stage.timing) as store:
        stage.supervisor = store._supervisor
        store.runs.create("r", "{}")
        store.runs.claim_and_own("r", tenure.PENDING, A, store.now())
        stamps = []
        with store.supervise("r", A):
            for ms in (0, 999, 1, 1_000):
                stage.advance(ms)
                stamps.append(store.runs.get("r").heartbeat_at_ms - int(stage.ahead_ms))

    assert stamps == [0, 0, 1_000, 2_000]
