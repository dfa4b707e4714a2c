"""Leases by hand (JN-423)."""

import pytest

import tenure
from tenure.testing import ManualClock, hold_lease, open_store, release_lease

A = tenure.OwnerId("h1", 1, "a")
B = tenure.OwnerId("h2", 2, "b")
EVENT = {"runId": "r", "sourceId": "p", "eventType": "e", "payload": None}


def row(store: tenure.Store) -> list[tuple[object, ...]]:
    """The lease of run ``r``."""
    return store.database.read("SELECT * FROM flows_consensus_leases WHERE run_id = 'r'")


def test_a_held_lease_is_a_fence() -> None:
    """JN-423: its holder passes, and nobody else does."""
    with open_store() as store:
        hold_lease(store, "r", A)

        assert isinstance(store.journal.emit_durable(EVENT, A), tenure.Accepted)
        with pytest.raises(tenure.JournalError) as refused:
            store.journal.emit_durable(EVENT, B)
        assert refused.value.code == "fence_lost"


def test_a_released_lease_is_nobodys() -> None:
    """JN-423: the row is gone; releasing what nobody holds does nothing."""
    with open_store() as store:
        hold_lease(store, "r", A)
        release_lease(store, "r")
        release_lease(store, "r")

        assert row(store) == []
        with pytest.raises(tenure.JournalError):
            store.journal.emit_durable(EVENT, A)


def test_what_the_row_says() -> None:
    """JN-423: owner, granted when stamped, no claim; by the store's clock, or at the instant given."""
    with open_store(clock=ManualClock(5_000)) as store:
        hold_lease(store, "r", A)
        assert row(store) == [("r", "h1", 1, "a", 5_000, 5_000, None, None, None, None)]

        hold_lease(store, "r", B, 7)
        assert row(store) == [("r", "h2", 2, "b", 7, 7, None, None, None, None)]


def test_holding_clears_a_claim() -> None:
    """JN-423: a claim that stood on the row goes with it."""
    with open_store() as store:
        store.runs.create("r", "{}")
        assert isinstance(store.runs.claim("r", tenure.PENDING, B, store.now()), tenure.Claimed)

        hold_lease(store, "r", A, 7)

        assert row(store) == [("r", "h1", 1, "a", 7, 7, None, None, None, None)]
