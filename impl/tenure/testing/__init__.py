"""For tests of programs that use a store: real stores in memory, a clock to set, leases by hand, calls to watch.

With pytest, the fixtures ``tenure_store``, ``tenure_file_store`` and ``tenure_clock`` are there by themselves.
"""

from tenure.testing.clock import ManualClock
from tenure.testing.leases import hold_lease, release_lease
from tenure.testing.notifying import Hook, Moment, NotifyingJournal
from tenure.testing.stores import open_store

__all__ = ["Hook", "ManualClock", "Moment", "NotifyingJournal", "hold_lease", "open_store", "release_lease"]
