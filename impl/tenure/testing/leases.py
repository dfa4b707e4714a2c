"""A lease made by hand: its row is written and deleted, without any operation of a store (JN-423)."""

from typing import Final

from tenure.store import Store
from tenure_model.vocabulary.owners import OwnerId

_HOLD: Final = """
    INSERT OR REPLACE INTO flows_consensus_leases
      (run_id, owner_host_id, owner_pid, owner_nonce, granted_at_ms, heartbeat_at_ms)
    VALUES (?1, ?2, ?3, ?4, ?5, ?5)
"""
_RELEASE: Final = "DELETE FROM flows_consensus_leases WHERE run_id = ?1"


def hold_lease(store: Store, run_id: str, owner: OwnerId, now_ms: int | None = None) -> None:
    """Make ``owner`` the holder of the run's lease, whoever held it: granted and stamped at ``now_ms``, no claim.

    Without ``now_ms`` it is the store's clock. No run needs to be there, and one that is stays as it is: this suffices
    for the journal, whose fence is the lease, and makes a row and its lease disagree for the run store.
    """
    stamp = store.now() if now_ms is None else now_ms
    bindings = (run_id, owner.host_id, owner.pid, owner.nonce, stamp)
    store.database.write(store.database.rows, _HOLD, bindings)


def release_lease(store: Store, run_id: str) -> None:
    """Take the run's lease away from whoever holds it; nothing happens where nobody does."""
    store.database.write(store.database.rows, _RELEASE, (run_id,))
