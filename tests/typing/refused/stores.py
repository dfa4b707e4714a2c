# pyright: strict
"""Callers that open, supervise or replace a store and are wrong, each in one line."""

import tenure
from tenure.stubs import NoopJournal, NoopRunStore
from tenure.testing import ManualClock, NotifyingJournal, open_store


def opened() -> None:
    """Options of a store."""
    tenure.open(3)  # E: arg-type, reportArgumentType
    tenure.open("runs.db", clock=5)  # E: arg-type, reportArgumentType
    tenure.open("runs.db", clock=lambda: "noon")  # E: arg-type, return-value, reportArgumentType
    tenure.open("runs.db", journal=8)  # E: arg-type, reportArgumentType
    tenure.open("runs.db", consensus="local")  # E: arg-type, reportArgumentType
    tenure.open("runs.db", attempts=None)  # E: arg-type, reportArgumentType
    tenure.open("runs.db", "journal")  # E: arg-type, call-arg, reportCallIssue


def supervision(store: tenure.Store, me: tenure.OwnerId) -> None:
    """Hooks take the milliseconds, by name only; the block answers a lease, and the call does not."""
    store.supervise("r", me, print)  # E: call-arg, reportCallIssue
    store.supervise("r", me, on_lapse=lambda: None)  # E: misc, arg-type, reportArgumentType
    store.supervise("r", "me")  # E: arg-type, reportArgumentType
    store.supervise("r", me).check()  # E: attr-defined, reportAttributeAccessIssue, reportUnknownMemberType


class Beating(NoopRunStore):
    """A replacement that takes less than the store's operation."""

    def heartbeat(self, run_id: str) -> tenure.Updated:  # E: override, reportIncompatibleMethodOverride
        return tenure.Updated()


def doubles(store: tenure.Store, clock: ManualClock) -> None:
    """Replacements that answer what the operation never does, and what is no clock."""
    NoopRunStore(claim=tenure.Activated)  # E: arg-type, reportArgumentType
    NoopRunStore(hartbeat=print)  # E: call-arg, reportCallIssue
    NoopJournal(flush=lambda: 3)  # E: arg-type, reportArgumentType
    NotifyingJournal(store.journal, lambda name: None)  # E: misc, arg-type, reportArgumentType
    open_store(clock=clock.advance)  # E: arg-type, reportArgumentType
    clock.advance(0.5)  # E: arg-type, reportArgumentType
