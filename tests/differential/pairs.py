"""The arenas: which model meets which store, how large the database is, and who draws the steps."""

from collections.abc import Callable
from typing import Any, Final

import attrs

from tenure.port import JournalStoreSystem, StoreSystem
from tenure_model.conform.journal_model import JournalModelSystem
from tenure_model.conform.model_system import ModelSystem
from tenure_model.conform.round_order import RoundOrder
from tenure_model.semantics.profiles import REFERENCE
from tests.differential.journal_pair import JournalPair
from tests.differential.journal_scenario import JournalScenario
from tests.differential.pair import AnyPair, Pair
from tests.differential.scenario import Scenario

ONE_SESSION: Final = ("s0",)
TWO_SESSIONS: Final = ("s0", "s1")
THREE_SESSIONS: Final = ("s0", "s1", "s2")


def memory_pair() -> Pair:
    """One store over an in-memory database: the fast one."""
    store = RoundOrder(StoreSystem.in_memory(ONE_SESSION), ONE_SESSION)
    return Pair(ModelSystem(REFERENCE, ONE_SESSION), store, ONE_SESSION)


def file_pair() -> Pair:
    """Three store instances on one real file, with crashes; their attempts are put in upsert mode."""
    store = RoundOrder(StoreSystem.on_file(THREE_SESSIONS, put_mode="upsert"), THREE_SESSIONS)
    return Pair(ModelSystem(REFERENCE, THREE_SESSIONS, "upsert"), store, THREE_SESSIONS)


def journal_memory_pair() -> JournalPair:
    """One store with a journal, in memory."""
    return JournalPair(JournalModelSystem(REFERENCE), JournalStoreSystem.in_memory(ONE_SESSION), ONE_SESSION)


def journal_file_pair() -> JournalPair:
    """Two stores on one real file, each with a journal instance of its own, with crashes that lose their queues."""
    return JournalPair(JournalModelSystem(REFERENCE), JournalStoreSystem.on_file(TWO_SESSIONS), TWO_SESSIONS)


@attrs.frozen
class Arena:
    """A pair that can be made again and again, and the scenario that draws steps for it."""

    name: str
    make_pair: Callable[[], Any]
    scenario: Callable[..., Any]
    steps: int


RUNS_IN_MEMORY: Final = Arena("runs in memory", memory_pair, Scenario, 250)
RUNS_ON_FILE: Final = Arena("runs on a file", file_pair, Scenario, 250)
JOURNAL_IN_MEMORY: Final = Arena("journal in memory", journal_memory_pair, JournalScenario, 200)
JOURNAL_ON_FILE: Final = Arena("journal on a file", journal_file_pair, JournalScenario, 200)

ARENAS: Final = (RUNS_IN_MEMORY, JOURNAL_IN_MEMORY, RUNS_ON_FILE, JOURNAL_ON_FILE)

ROTA: Final = (
    *(RUNS_IN_MEMORY, JOURNAL_IN_MEMORY, RUNS_IN_MEMORY, RUNS_ON_FILE, JOURNAL_IN_MEMORY),
    *(RUNS_IN_MEMORY, JOURNAL_ON_FILE, RUNS_IN_MEMORY, JOURNAL_IN_MEMORY, RUNS_IN_MEMORY),
)
"""Episode by episode, again from the start: in memory is many times as fast, on a file is the real thing."""


def is_on_file(pair: AnyPair) -> bool:
    """Whether several sessions share a file."""
    return len(pair.sessions) > 1
