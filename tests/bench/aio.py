"""What a call of ``tenure.aio`` costs beside the same call of a thread, and a beat of 1,000 supervised runs beside one
heartbeat by itself."""

import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

import anyio
import attrs

import tenure
import tenure.aio
from tenure.aio.supervisor import Supervisor as TaskSupervisor
from tenure.aio.workers import run_whole
from tenure.ownership.beats import Beat, BeatCalls, perform
from tenure.ownership.supervisor import Supervisor
from tenure_model.vocabulary.supervision import HeartbeatResult
from tests.bench.runs import ME
from tests.bench.table import Compared, in_turn, line

BACKENDS = ("asyncio", "trio")
CALLS = 500
ROUNDS = 7
AIM_MICROSECONDS = 150
RUNS = 1_000
SINGLE = 300
SECONDS = 3
"""How many seconds of supervision a round is."""


def overhead(name: str, compared: Compared, handed_over: list[float]) -> str:
    """One row: what a call takes more than the synchronous one, round by round, and how much of it is anyio's own."""
    more = [(ours - theirs) * 1e6 for ours, theirs in zip(compared.ours, compared.theirs, strict=True)]
    median = statistics.median(more)
    theirs, anyios = (statistics.median(seconds) * 1e6 for seconds in (compared.theirs, handed_over))
    verdict = "ok" if median <= AIM_MICROSECONDS else "OVER"
    return (
        f"{name:34} {median:+.0f} us  ({min(more):.0f}-{max(more):.0f}, aim +{AIM_MICROSECONDS} us) {verdict:4}  "
        f"over {theirs:,.0f} us a call; a thread that does nothing takes {anyios:,.0f} us"
    )


@attrs.frozen
class Call:
    """An operation as a task and as a thread calls it."""

    name: str
    ours: Callable[[tenure.aio.Store], Awaitable[object]]
    theirs: Callable[[tenure.Store], object]


GET = Call("get", lambda store: store.runs.get("run"), lambda store: store.runs.get("run"))
HEARTBEAT = Call(
    "heartbeat", lambda store: store.runs.heartbeat("run", ME, 1), lambda store: store.runs.heartbeat("run", ME, 1)
)


def calls(call: Call, where: str, backend: str, path: str) -> str:
    """One row: a call of a task and of a thread, one after the other, and a worker thread that does nothing."""
    handed_over: list[float] = []
    with tenure.open(path) as sync:
        sync.runs.create("run", "{}")
        sync.runs.claim_and_own("run", tenure.PENDING, ME, 0)

        async def many() -> float:
            store = tenure.aio.wrap(sync)
            await call.ours(store)
            start = time.perf_counter()
            for _ in range(CALLS):
                await call.ours(store)
            between = time.perf_counter()
            for _ in range(CALLS):
                await anyio.to_thread.run_sync(time.perf_counter)
            handed_over.append((time.perf_counter() - between) / CALLS)
            return (between - start) / CALLS

        def theirs() -> float:
            start = time.perf_counter()
            for _ in range(CALLS):
                call.theirs(sync)
            return (time.perf_counter() - start) / CALLS

        compared = in_turn(lambda: anyio.run(many, backend=backend), theirs, ROUNDS)
        return overhead(f"{call.name}, {backend}, {where}", compared, handed_over)


class Time:
    """Passes when told to; the machines' clock and the supervisor's timer alike."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timer(self) -> float:
        """Seconds."""
        return self.seconds

    def clock(self) -> float:
        """Milliseconds."""
        return self.seconds * 1_000


def single(store: tenure.Store) -> float:
    """Seconds for one heartbeat by itself."""
    start = time.perf_counter()
    for number in range(SINGLE):
        store.runs.heartbeat(f"run-{number}", ME, number)
    return (time.perf_counter() - start) / SINGLE


def beat_calls(store: tenure.Store) -> BeatCalls:
    """How supervision reaches the store."""
    return BeatCalls(store.database.write, store.runs.heartbeat, store.runs.reconfirm)


def by_threads(store: tenure.Store) -> float:
    """Seconds for a beat under the threads' supervisor, everything it does for it included, but not its sleep."""
    now = Time()
    timing = tenure.Timing(timer=now.timer, start=lambda name, target: None)
    supervisor = Supervisor(beat_calls(store), now.clock, timing)
    runs = [supervisor.begin(f"run-{number}", ME, None, None) for number in range(RUNS)]
    start = time.perf_counter()
    for _ in range(SECONDS):
        now.seconds += 1
        supervisor.fire_due()
        while supervisor.write_due():
            pass
    elapsed = time.perf_counter() - start
    for run in runs:
        supervisor.leave(run)
    return elapsed / (SECONDS * RUNS)


async def by_tasks(store: tenure.Store) -> float:
    """As ``by_threads``, under the tasks' supervisor, its worker thread included."""
    now = Time()
    thread = anyio.CapacityLimiter(1)
    moved, beaten = anyio.Event(), anyio.Event()
    beats_of_calls = beat_calls(store)
    written = 0

    async def sleep(seconds: float) -> None:
        if seconds > 0:
            await moved.wait()

    async def write(beats: Sequence[Beat]) -> list[HeartbeatResult | None]:
        nonlocal written
        results = await run_whole(thread, perform, beats_of_calls, beats)
        written += len(beats)
        if written % RUNS == 0:
            beaten.set()
        return results

    supervisor = TaskSupervisor(write, now.clock, tenure.aio.Timing(now.timer, sleep))
    runs = [supervisor.begin(f"run-{number}", ME, None, None) for number in range(RUNS)]
    start = time.perf_counter()
    for _ in range(SECONDS):
        now.seconds += 1
        beaten = anyio.Event()
        moved.set()
        moved = anyio.Event()
        await beaten.wait()
    elapsed = time.perf_counter() - start
    for run in runs:
        await supervisor.leave(run)
    return elapsed / (SECONDS * RUNS)


def beats(name: str, supervised: Callable[[tenure.Store], float], folder: str) -> str:
    """One row: a beat of many against a heartbeat by itself, on one file."""
    with tenure.open(Path(folder) / f"{name}.db", clock=lambda: 0) as store:
        for number in range(RUNS):
            store.runs.create(f"run-{number}", "{}")
            store.runs.claim_and_own(f"run-{number}", tenure.PENDING, ME, 0)
        compared = in_turn(lambda: supervised(store), lambda: single(store), ROUNDS)
    return line(f"a beat of {RUNS:,}, {name}, file", compared, 1, "beats")


def rows() -> Iterator[str]:
    """Overhead per call on both backends, then the cost per beat of both drivers."""
    with tempfile.TemporaryDirectory(prefix="tenure-bench-") as folder:
        for call in (GET, HEARTBEAT):
            for backend in BACKENDS:
                yield calls(call, "memory", backend, ":memory:")
                yield calls(call, "file", backend, str(Path(folder) / f"{call.name}-{backend}.db"))
        yield beats("threads", by_threads, folder)
        for backend in BACKENDS:
            yield beats(backend, lambda store, on=backend: anyio.run(by_tasks, store, backend=on), folder)
