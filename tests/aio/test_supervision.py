"""Supervision of tasks: what scripts for threads cannot show, under a virtual clock, and over real stores."""

import asyncio
import logging
import time
from contextlib import closing

import anyio
import anyio.from_thread
import apsw
import pytest

import tenure
import tenure.aio
from tenure.aio.supervisor import TASK
from tenure.ownership.supervisor import MOST_BEATS
from tests.aio.stage import LoopStage
from tests.aio.support import PATIENCE_SECONDS, A, Started, Stop
from tests.ownership.stage import ends_with, fails, lost

SPEED = 100
"""How much faster real time passes where a test cannot do without."""


@pytest.fixture
def stage(anyio_backend):
    """A stage whose store beats well."""
    with anyio.from_thread.start_blocking_portal(anyio_backend) as portal:
        yield LoopStage(portal)


def hanging(trace):
    """A hook that hangs, and says when it begins, is cancelled, and ends."""

    async def hook(gap_ms):
        trace.append(gap_ms)
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            trace.append("cancelled")
            raise

    return hook


def sleeping(stage):
    """Between two beats."""
    stage.advance(1_500)


def beating(stage):
    """A beat hangs."""
    stage.writing = False
    stage.advance(1_500)


def reconfirming(stage):
    """A beat hangs, and the reconfirmation behind it."""
    stage.writing = False
    stage.advance(19_500)


def in_receipt(stage):
    """``on_reconfirm`` hangs."""
    stage.on_beat = fails()
    stage.advance(19_500)


def in_lapse(stage):
    """``on_lapse`` hangs."""
    stage.on_beat = stage.on_reconfirm = fails()
    stage.advance(19_500)


PHASES = {
    sleeping: [],
    beating: [],
    reconfirming: [],
    in_receipt: ["receipt", 19_000, "cancelled"],
    in_lapse: ["lapse", 19_000, "cancelled"],
}


@pytest.mark.parametrize("phase", PHASES, ids=lambda phase: phase.__name__)
@pytest.mark.parametrize("end", ["cancelled", "left", "closed"])
def test_the_end_in_every_phase(stage, phase, end):
    """Q-11, RS-913: cancelled from outside, left or closed: nothing more is called or written, a hook is cancelled."""
    traces = {"receipt": [], "lapse": []}
    block = stage.supervise(on_reconfirm=hanging(traces["receipt"]), on_lapse=hanging(traces["lapse"]))
    lease = block.__enter__()
    phase(stage)
    if end == "cancelled":
        block.cancel()
        assert block.cancelled
    elif end == "left" and phase is not in_lapse:
        block.__exit__(None, None, None)
        assert not lease.lost.is_set()
    else:
        with lost("lapsed" if phase is in_lapse else "interrupted"):
            if end == "closed":
                stage.supervisor.stop()
            block.__exit__(None, None, None)
    written = (list(stage.beats), list(stage.reconfirmations))
    stage.writing = True
    stage.advance(60_000)

    assert [item for name, trace in traces.items() if trace for item in [name, *trace]] == PHASES[phase]
    assert (stage.beats, stage.reconfirmations) == written
    assert stage.supervisor.next_due() is None
    assert stage.supervisor.inner._task is None


def test_the_body_is_cancelled_at_once(stage):
    """RS-911: at the beat that finds the fence lost, though the body never looks."""
    block = stage.supervise()
    block.__enter__()
    stage.on_beat = lambda run_id: tenure.FenceLost()
    stage.advance(999)
    assert not block._task.done()
    stage.advance(1)

    assert isinstance(block.raised(), tenure.LeaseLost)


def test_a_receipt_that_hangs_is_cancelled(stage):
    """RS-915: when the renewed budget is spent; then the lapse hook runs, with the gap from before."""
    trace, gaps = [], []
    stage.on_beat = fails()
    with lost("lapsed"), stage.supervise(on_reconfirm=hanging(trace), on_lapse=gaps.append) as lease:
        stage.advance(19_000 + 19_000 - 1)
        assert (trace, gaps) == ([19_000], [])
        stage.advance(1)
        assert lease.lost.is_set()

    assert (trace, gaps) == ([19_000, "cancelled"], [19_000])


def test_a_receipt_that_waits_in_time(stage):
    """RS-913: a coroutine function is awaited, and the work goes on after it."""
    gaps = []

    async def receipt(gap_ms):
        await anyio.lowlevel.checkpoint()
        gaps.append(gap_ms)

    stage.on_beat = fails()
    with stage.supervise(on_reconfirm=receipt) as lease:
        stage.advance(45_000)
        lease.check()

    assert gaps == [19_000, 19_000]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("hook", ["on_reconfirm", "on_lapse"])
def test_a_hook_that_is_cancelled_from_within(stage, hook):
    """RS-913: neither a failure nor a lapse: the loop is interrupted."""

    async def leave(gap_ms):
        raise asyncio.CancelledError

    stage.on_beat = fails()
    if hook == "on_lapse":
        stage.on_reconfirm = fails()
    with lost("interrupted"), stage.supervise(**{hook: leave}):
        stage.advance(20_000)


def test_a_block_left_while_its_beat_is_written(stage):
    """RS-915: what the store answers then is nobody's concern any more."""
    block = stage.supervise()
    lease = block.__enter__()
    stage.on_beat = lambda run_id: tenure.FenceLost()
    stage.writing = False
    stage.advance(1_500)
    block.__exit__(None, None, None)
    stage.writing = True
    stage.advance(5_000)

    assert (stage.transactions, stage.beats) == (1, [])
    assert not lease.lost.is_set()


def test_a_supervision_that_begins_while_the_last_write_hangs(stage):
    """The task is still there, and watches the new run as well."""
    with stage.supervise("old"):
        stage.writing = False
        stage.advance(1_500)
    with lost("lapsed"), stage.supervise("new") as lease:
        stage.advance(19_999)
        assert not lease.lost.is_set()
        stage.advance(1)
        assert lease.lost.is_set()
    stage.writing = True
    stage.settle()

    assert stage.beats == []


def test_a_thousand_runs_share_a_task_and_transactions(stage):
    """RS-911: one task for the deadlines, one that writes when beats are due, and as few transactions as may be."""
    supervisor = stage.supervisor.inner
    tasks = [len(stage.portal.call(anyio.get_running_tasks))]

    def begin():
        return [supervisor.begin(f"run-{number}", A, None, None) for number in range(1_000)]

    runs = stage.portal.call(begin)
    stage.advance(500)
    tasks.append(len(stage.portal.call(anyio.get_running_tasks)))
    stage.advance(2_500)

    async def leave():
        for run in runs:
            await supervisor.leave(run)

    stage.portal.call(leave)

    assert tasks[1] == tasks[0] + 1
    assert len(stage.beats) == 3_000
    assert stage.transactions == 3 * -(-1_000 // MOST_BEATS)


def test_reconfirmations_are_written_before_beats(stage):
    """RS-913: they have only a second, and only those beats go first that a hanging write has taken."""
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

    assert seen == [0] * MOST_BEATS + [200] * (200 - MOST_BEATS)
    assert not any(lease.lost.is_set() for lease in leases)


def test_runs_that_beat_together_once_stay_together(stage):
    """RS-911: beats that queue up behind one write are written together, and from then on always are."""
    with stage.supervise("a"), stage.supervise("b"):
        stage.advance(400)
        with stage.supervise("c"), stage.supervise("d"):
            stage.writing = False
            stage.advance(1_200)
            stage.writing = True
            stage.settle()
            before = stage.transactions
            stage.advance(5_000)

    assert (before, stage.transactions) == (2, 2 + 5)


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


def test_a_write_that_cannot_be_started(stage):
    """No thread for the beats: nobody beats any more, and the body is told why."""

    async def refuse(beats):
        raise RuntimeError("can't start new thread")

    stage.supervisor.inner._write_beats = refuse
    with ends_with(RuntimeError, "can't start"), stage.supervise() as lease:
        stage.advance(999)
        lease.check()
        stage.advance(1)


def test_a_sleep_that_fails(stage):
    """Nobody could watch the deadline: the body is told why."""

    async def refuse(seconds):
        raise RuntimeError("no timer")

    supervisor = stage.supervisor.inner
    supervisor._timing = tenure.aio.Timing(supervisor._timing.timer, refuse)
    with ends_with(RuntimeError, "no timer"), stage.supervise():
        stage.settle()


@pytest.fixture
def fast():
    """A timing under which a second takes ten milliseconds."""

    async def sleep(seconds):
        await anyio.sleep(seconds / SPEED)

    return tenure.aio.Timing(lambda: anyio.current_time() * SPEED, sleep)


async def owned(store, *run_ids):
    """Runs that ``A`` owns."""
    for run_id in run_ids:
        await store.runs.create(run_id, "{}")
        assert await store.runs.claim_and_own(run_id, tenure.PENDING, A, store.now()) == tenure.Activated()


async def work():
    """Has no end: a test whose body is not cancelled fails."""
    await anyio.sleep(PATIENCE_SECONDS)
    raise AssertionError("not cancelled")


async def beaten(store, before):
    """Wait until the store has confirmed a beat after that reading."""
    with anyio.fail_after(PATIENCE_SECONDS):
        while (await store.runs.get("r")).heartbeat_at_ms == before:
            await anyio.sleep(0.01)


@pytest.mark.anyio
async def test_over_a_real_store(anyio_backend, tmp_path, fast):
    """It beats while the body works, and the body is cancelled when the run is given away."""
    async with tenure.aio.open(tmp_path / "runs.db", timing=fast) as store:
        await owned(store, "r")
        first = (await store.runs.get("r")).heartbeat_at_ms
        with lost("fence-lost"):
            async with tenure.aio.supervise(store, "r", A) as lease:
                await beaten(store, first)
                lease.check()
                await store.runs.transition_owned("r", A, "suspended")
                await work()

        assert lease.reason == "fence-lost"


@pytest.mark.anyio
async def test_an_exception_of_the_body_is_not_replaced(anyio_backend, fast):
    """Nor wrapped: what the body raised, also where the lease is lost as well, and its cancellation from outside."""
    async with tenure.aio.open(":memory:", timing=fast) as store:
        await owned(store, "r", "s")
        with pytest.raises(KeyError):
            async with store.supervise("r", A):
                raise KeyError("no")
        with ends_with(KeyError):
            async with store.supervise("r", A) as lease:
                await store.runs.transition_owned("r", A, "suspended")
                try:
                    await work()
                except anyio.get_cancelled_exc_class():
                    raise KeyError("no") from None
        with anyio.move_on_after(0.05) as scope:
            async with store.supervise("s", A):
                await work()

        assert lease.reason == "fence-lost"
        assert scope.cancelled_caught


@pytest.mark.anyio
async def test_beats_have_a_thread_of_their_own(anyio_backend, tmp_path, fast):
    """All other threads hang, and the owner keeps its lease."""
    stop = Stop()
    async with tenure.aio.open(tmp_path / "runs.db", threads=1, timing=fast) as store:
        await owned(store, "r")
        async with anyio.create_task_group() as tasks:
            Started(tasks, lambda: store._workers.write(stop))
            await stop.reached()
            before = (await store.runs.get("r")).heartbeat_at_ms
            async with store.supervise("r", A):
                await beaten(store, before)
            stop.release()


@pytest.mark.anyio
async def test_br_22_a_write_that_hangs_holds_up_no_deadline(anyio_backend, tmp_path, fast):
    """BR-22: another connection holds the write lock, a worker thread hangs in the beat, and the body is told."""
    gaps = []
    path = tmp_path / "runs.db"
    async with tenure.aio.open(path, timing=fast, clock=lambda: time.monotonic() * 1_000 * SPEED) as store:
        await owned(store, "r")
        with closing(apsw.Connection(str(path))) as lock:
            lock.execute("BEGIN IMMEDIATE")
            with lost("lapsed"):
                async with store.supervise("r", A, on_lapse=gaps.append):
                    await work()
            stamp = (await store.runs.get("r")).heartbeat_at_ms

    with tenure.open(path) as store:
        assert store.runs.get("r").heartbeat_at_ms == stamp
    assert [gap >= tenure.HEARTBEAT_WRITE_TOLERANCE_MS for gap in gaps] == [True]


@pytest.mark.anyio
async def test_closing_the_store_inside_the_block(anyio_backend):
    """The body's own close goes through, and the block says that it was interrupted."""
    store = tenure.aio.wrap(tenure.open(":memory:"))
    await owned(store, "r")
    with pytest.raises(tenure.LeaseLost, match="interrupted"):
        async with store.supervise("r", A):
            await store.close()
    with pytest.raises(tenure.RunStoreError, match="closed"):
        async with store.supervise("r", A):
            raise AssertionError("entered")


@pytest.mark.anyio
async def test_what_cannot_be_supervised_is_refused_at_once(anyio_backend):
    """As ``heartbeat`` refuses it."""
    async with tenure.aio.open(":memory:") as store:
        with pytest.raises(tenure.RunStoreError) as raised:
            store.supervise("", A)

    assert (raised.value.code, raised.value.method) == ("invalid_run", "heartbeat")


def test_a_loop_that_ends_under_the_work(anyio_backend):
    """The main task is over while another is in a block: it ends with the loop."""
    reasons = []

    async def work(store, entered):
        try:
            async with store.supervise("r", A, on_lapse=hanging([])):
                entered.set()
                await anyio.sleep_forever()
        finally:
            reasons.append("left")

    async def main():
        store = tenure.aio.wrap(tenure.open(":memory:"))
        await owned(store, "r")
        entered = anyio.Event()
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(work, store, entered)
                await entered.wait()
                raise KeyError("over")
        finally:
            store.sync.close()

    with pytest.raises(ExceptionGroup):
        anyio.run(main, backend=anyio_backend)

    assert reasons == ["left"]


@pytest.mark.parametrize("hook", ["on_reconfirm", "on_lapse"])
def test_a_hook_that_ctrl_c_interrupts(anyio_backend, hook):
    """The body is cancelled, and it is raised where the work is; the task of the supervision swallows nothing."""

    def interrupted(gap_ms):
        raise KeyboardInterrupt

    async def main():
        jumped = [0]
        async with tenure.aio.open(":memory:", clock=lambda: jumped[0]) as store:
            await owned(store, "r")
            try:
                async with store.supervise("r", A, **{hook: interrupted}):
                    if hook == "on_lapse":
                        await store.runs.transition_owned("r", A, "suspended")
                    jumped[0] += 60_000
                    await work()
            except KeyboardInterrupt:
                return "interrupted"

    assert anyio.run(main, backend=anyio_backend) == "interrupted"


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("begun", [True, False])
async def test_whoever_cancels_all_tasks(anyio_backend, fast, begun):
    """Nobody watches the deadline any more, or ever did: the body is told. The next block has a task again."""
    async with tenure.aio.open(":memory:", timing=fast) as store:
        await owned(store, "r")
        with lost("interrupted"):
            async with store.supervise("r", A):
                if begun:
                    await anyio.lowlevel.checkpoint()
                (task,) = [task for task in asyncio.all_tasks() if task.get_name() == TASK]
                task.cancel()
                await work()
        before = (await store.runs.get("r")).heartbeat_at_ms
        async with store.supervise("r", A):
            await beaten(store, before)


def test_a_program_of_asyncio(fast):
    """Nothing of anyio in sight: a group and a timeout of asyncio's own in the body, and a loss that cancels them."""
    ended = []

    async def step(name):
        try:
            await work()
        finally:
            ended.append(name)

    async def main():
        async with tenure.aio.open(":memory:", timing=fast) as store:
            await owned(store, "r")
            try:
                async with store.supervise("r", A), asyncio.timeout(60), asyncio.TaskGroup() as group:
                    group.create_task(step("one"))
                    group.create_task(step("two"))
                    await store.runs.transition_owned("r", A, "suspended")
            except tenure.LeaseLost as loss:
                return loss.reason, asyncio.current_task().cancelling()

    assert asyncio.run(main()) == ("fence-lost", 0)
    assert sorted(ended) == ["one", "two"]
