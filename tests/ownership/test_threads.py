"""Supervision with the real store and real threads. Time runs faster by a factor, so that seconds are milliseconds; no
test depends on how long anything takes, only on what comes about in the end."""

import threading
import time

import pytest

import tenure
from tenure.database.engine import DatabaseError
from tests.database.support import Faults, FaultyEngine
from tests.ownership.stage import A, B, ends_with
from tests.threads import PATIENCE_SECONDS, eventually


class FastTime:
    """Time that runs ``factor`` times as fast, for a store's clock and for what supervision measures and waits with."""

    def __init__(self, factor):
        self.factor = factor
        self.begin = time.monotonic()

    def timer(self):
        """Seconds."""
        return (time.monotonic() - self.begin) * self.factor

    def clock(self):
        """Milliseconds."""
        return 1_000_000 + self.timer() * 1_000

    def wait(self, condition, seconds):
        """A wait for as many fast seconds."""
        condition.wait(None if seconds is None else seconds / self.factor)

    def timing(self):
        """For ``tenure.open``."""
        return tenure.Timing(timer=self.timer, wait=self.wait)


def names():
    """The threads of supervision that exist."""
    return sorted(thread.name for thread in threading.enumerate() if thread.name.startswith("tenure-supervision"))


@pytest.fixture
def faults():
    """What storage does first."""
    return Faults()


@pytest.fixture
def store(tmp_path, faults):
    """A store on a file, on fast time, with runs r0 to r9 owned by A."""
    fast = FastTime(50)
    with tenure.open(
        FaultyEngine(tmp_path / "runs.db", faults, 5_000), clock=fast.clock, timing=fast.timing()
    ) as store:
        for number in range(10):
            store.runs.create(f"r{number}", "{}")
            store.runs.claim_and_own(f"r{number}", tenure.PENDING, A, store.now())
        yield store
    eventually(lambda: names() == [])


def stamp(store, run_id="r0"):
    """The stored heartbeat."""
    return store.runs.get(run_id).heartbeat_at_ms


def test_the_run_is_kept_while_the_body_works(store):
    """The stamp rises by itself, in two threads that end with the block."""
    first = stamp(store)
    with store.supervise("r0", A) as lease:
        for _ in range(3):
            seen = stamp(store)
            eventually(lambda seen=seen: stamp(store) > seen)
            lease.check()
        during = names()
    eventually(lambda: names() == [])

    assert stamp(store) > first
    assert during == ["tenure-supervision-timer", "tenure-supervision-writer"]
    assert store.runs.transition_owned("r0", A, "completed") == tenure.Transitioned()


def test_blocks_in_a_row(store):
    """The threads end with the last block and come back with the next."""
    for _ in range(3):
        with store.supervise("r0", A):
            seen = stamp(store)
            eventually(lambda seen=seen: stamp(store) > seen)
        eventually(lambda: names() == [])


def test_many_runs_in_the_same_two_threads(store):
    """Every run is kept, and the last block takes the threads along."""
    blocks = [store.supervise(f"r{number}", A) for number in range(10)]
    for block in blocks:
        block.__enter__()
    before = [stamp(store, f"r{number}") for number in range(10)]
    eventually(lambda: all(stamp(store, f"r{number}") > before[number] for number in range(10)))
    during = names()
    for block in blocks:
        block.__exit__(None, None, None)

    assert during == ["tenure-supervision-timer", "tenure-supervision-writer"]


def test_br_12_a_waiting_body_is_told(store):
    """BR-12: a body that sleeps on its lease wakes up when the fence is gone, and the block ends in ``LeaseLost``."""
    lapses = []
    with ends_with(tenure.LeaseLost) as raised, store.supervise("r0", A, on_lapse=lapses.append) as lease:
        store.runs.transition_owned("r0", A, "suspended")
        assert lease.lost.wait(PATIENCE_SECONDS)

    assert (raised.value.run_id, raised.value.reason, lapses) == ("r0", "fence-lost", [])


def test_storage_that_goes_away(store, faults):
    """RS-913, RS-914: the lease lapses, the hook is called once in a thread of its own, the body is told after it."""
    hooks = []

    def lapsed(gap_ms):
        hooks.append((threading.current_thread().name, gap_ms >= tenure.HEARTBEAT_WRITE_TOLERANCE_MS))

    def fail(sql):
        raise DatabaseError("io")

    with ends_with(tenure.LeaseLost) as raised, store.supervise("r0", A, on_lapse=lapsed) as lease:
        faults.before = fail
        assert lease.lost.wait(PATIENCE_SECONDS)
        told_after = list(hooks)
        faults.before = lambda sql: None

    assert raised.value.reason == "lapsed"
    assert told_after == hooks == [("tenure-supervision-hook", True)]


def test_a_write_that_hangs(store, faults):
    """RS-915: the timer's thread ends the work while the writer's is stuck in the database."""
    released = threading.Event()

    def hang(sql):
        assert threading.current_thread().name != "tenure-supervision-writer" or released.wait(PATIENCE_SECONDS)

    try:
        with ends_with(tenure.LeaseLost) as raised, store.supervise("r0", A) as lease:
            faults.before = hang
            assert lease.lost.wait(PATIENCE_SECONDS)
    finally:
        released.set()
        faults.before = lambda sql: None

    assert raised.value.reason == "lapsed"


def test_a_long_transaction_of_ones_own(store):
    """RS-915: beats wait for a transaction of the same store; one that lasts too long costs the lease."""
    with ends_with(tenure.LeaseLost), store.supervise("r0", A) as lease, store.transaction():
        assert lease.lost.wait(PATIENCE_SECONDS)


def test_closing_the_store_under_the_work(tmp_path):
    """RS-913: the body is told, and closing waits for nothing but the write under way."""
    store = tenure.open(tmp_path / "runs.db")
    with ends_with(tenure.LeaseLost) as raised, store.supervise("r", A) as lease:
        store.close()
        assert lease.lost.is_set()
    eventually(lambda: names() == [])

    assert raised.value.reason == "interrupted"


def test_two_owners_in_turn(store):
    """BR-12: B takes the run over from an owner that has stopped beating, and A's body is told by its next beat."""
    fenced = threading.Event()
    with ends_with(tenure.LeaseLost), store.supervise("r0", A) as lease:
        assert store.runs.transition_owned("r0", A, "suspended") == tenure.Transitioned()
        row = store.runs.get("r0")
        assert store.runs.claim_and_own("r0", row, B, store.now()) == tenure.Activated()
        with store.supervise("r0", B) as other:
            assert lease.lost.wait(PATIENCE_SECONDS)
            fenced.set()
            other.check()

    assert fenced.is_set()
    assert store.runs.get("r0").owner == B
