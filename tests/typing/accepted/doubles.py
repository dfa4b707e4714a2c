# pyright: strict
"""What stands in for a store passes as one, and its members are replaced with what fits."""

from collections.abc import Mapping
from typing import assert_type

import tenure
from tenure.stubs import NoopAttemptStore, NoopJournal, NoopRunStore
from tenure.testing import ManualClock, Moment, NotifyingJournal, hold_lease, open_store, release_lease


class Beating(NoopRunStore):
    """A member replaced in a subclass has the signature of the store's."""

    def heartbeat(self, run_id: str, owner: tenure.OwnerId, now_ms: int) -> tenure.HeartbeatOutcome:
        return tenure.Updated()


def lost(run_id: str, owner: tenure.OwnerId, now_ms: int) -> tenure.HeartbeatOutcome:
    """A replacement."""
    return tenure.FenceLost()


def stubs() -> tuple[tenure.RunStore, tenure.AttemptStore, tenure.Journal]:
    """Members by keyword."""
    runs = NoopRunStore(heartbeat=lost, acknowledge_cancel=lambda run_id, owner, now_ms: True)
    journal = NoopJournal(flush=lambda: None, when_committed=lambda update: False)
    return runs, NoopAttemptStore(get=lambda id: None), journal


def services(me: tenure.OwnerId) -> None:
    """Stores, clock, leases and hooks."""

    def hook(name: str, moment: Moment, arguments: Mapping[str, object]) -> None:
        assert moment in ("before", "after")

    clock = ManualClock(5)
    with open_store(clock=clock, journal={"batchSize": 3}) as store:
        assert_type(store, tenure.Store)
        hold_lease(store, "r", me)
        release_lease(store, "r")
        journal: tenure.Journal = NotifyingJournal(store.journal, hook)
        assert_type(journal.generation("r"), tenure.Generation)
    clock.advance(3)
    clock.set(9)
    clock.sleep(0.5)
    assert_type(clock(), int)
