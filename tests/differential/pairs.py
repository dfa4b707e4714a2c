"""The pairs that are driven: the reference model against the real store, in memory and on a file."""

from collections.abc import Callable
from typing import Final

from tenure.port import StoreSystem
from tenure_model.conform.model_system import ModelSystem
from tenure_model.conform.round_order import RoundOrder
from tenure_model.semantics.profiles import REFERENCE
from tests.differential.pair import Pair

ONE_SESSION: Final = ("s0",)
THREE_SESSIONS: Final = ("s0", "s1", "s2")


def memory_pair() -> Pair:
    """One store over an in-memory database: the fast one."""
    store = RoundOrder(StoreSystem.in_memory(ONE_SESSION), ONE_SESSION)
    return Pair(ModelSystem(REFERENCE, ONE_SESSION), store, ONE_SESSION)


def file_pair() -> Pair:
    """Three store instances on one real file, with crashes."""
    store = RoundOrder(StoreSystem.on_file(THREE_SESSIONS), THREE_SESSIONS)
    return Pair(ModelSystem(REFERENCE, THREE_SESSIONS), store, THREE_SESSIONS)


def pair_of(sessions: int) -> Callable[[], Pair]:
    """The maker of pairs with one session (in memory) or more (on a file)."""
    return memory_pair if sessions == 1 else file_pair
