"""Both real stores and the real journal over a new database, in one call (RS-982, JN-421)."""

import os
from collections.abc import Callable, Mapping
from typing import Final, Literal

from tenure.consensus.strategy import ConsensusStrategy
from tenure.journal.opening import JournalSetup
from tenure.ownership.timing import Timing
from tenure.store import Store
from tenure.store import open as open_any
from tenure.testing.clock import ManualClock
from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.attempts import AttemptOptions
from tenure_model.vocabulary.journal import JournalOptions

_JOURNAL: Final[Mapping[str, object]] = {"capacity": 1_024, "overflow": "reject"}


def open_store(
    path: str | os.PathLike[str] = ":memory:",
    *,
    clock: Callable[[], float] | None = None,
    journal: JournalOptions | JournalSetup | Mapping[str, object] | None = None,
    attempts: AttemptOptions | Mapping[str, object] | AbsentType = ABSENT,
    consensus: Literal["database"] | ConsensusStrategy = "database",
    timing: Timing | None = None,
) -> Store:
    """A real store with a journal, over a new database in memory unless a path is given, migrated.

    Without ``clock`` it has a ``ManualClock`` of its own that nobody moves. ``journal`` is options as ``tenure.open``
    takes them; of a mapping under the wire's names what it lacks is capacity 1024 and overflow ``reject``. The rest,
    and the errors, are those of ``tenure.open``. Close it, best by a ``with`` block.
    """
    return open_any(
        path,
        clock=ManualClock() if clock is None else clock,
        journal=journal if isinstance(journal, JournalOptions | JournalSetup) else {**_JOURNAL, **(journal or {})},
        attempts=attempts,
        consensus=consensus,
        timing=timing,
    )
