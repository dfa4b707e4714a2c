# pyright: strict
"""Opening a store, its transactions, and supervision."""

from collections.abc import Callable
from pathlib import Path
from typing import assert_type

import tenure


def opened(path: Path) -> None:
    """By a path of either kind; options as records or as mappings."""
    with tenure.open("runs.db") as store:
        assert_type(store, tenure.Store)
    tenure.open(path, clock=lambda: 1.5, sleep=lambda seconds: None, busy_timeout_ms=100)
    tenure.open(path, journal=tenure.JournalOptions(capacity=8, overflow="drop-oldest", default=None))
    tenure.open(path, journal={"capacity": 8, "overflow": "reject"}, attempts={"putMode": "upsert"})
    tenure.open(path, attempts=tenure.AttemptOptions(put_mode="upsert"), consensus=tenure.LocalConsensus())
    policy = tenure.CompactionPolicy(100, lambda run_id, seq: {"upTo": seq})
    setup = tenure.JournalSetup(tenure.JournalOptions(8, "reject", compaction=policy), writer="manual")
    tenure.open(path, journal=setup, retry=tenure.RetryPolicy(attempts=1), timing=tenure.Timing())
    assert_type(tenure.migrate(path), list[tuple[int, str]])


def transactions(store: tenure.Store, me: tenure.OwnerId) -> None:
    """What a body answers is the answer, and its arguments are its own."""

    def body(run_id: str, number: int) -> tenure.RunRow:
        store.runs.create(run_id, str(number))
        return store.runs.get(run_id)

    with store.transaction():
        assert_type(store.after_commit(lambda: 3), bool)
    assert_type(store.write(body, "r", 3), tenure.RunRow)
    assert_type(store.now(), int)
    assert_type(store.runs, tenure.RunStore)
    assert_type(store.attempts, tenure.AttemptStore)
    assert_type(store.journal, tenure.Journal)
    store.close()


def supervision(store: tenure.Store, me: tenure.OwnerId, told: list[float], tell: Callable[[float], object]) -> None:
    """The block answers the lease."""
    with store.supervise("r", me, on_reconfirm=tell, on_lapse=told.append) as lease:
        assert_type(lease, tenure.Lease)
        lease.check()
        assert_type(lease.lost.wait(3), bool)
        reason: tenure.LossReason | None = lease.reason
        assert reason is None
    with store.supervise("r", me, on_lapse=None):
        pass
