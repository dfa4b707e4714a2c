"""The named scopes: how much there is in each, and that nothing breaks there but what original is known to break."""

import pytest

from tenure_model.explore.journal.liveness import search_for_rest
from tenure_model.explore.journal.scopes import SCOPES, named
from tenure_model.explore.journal.system import JournalSystem
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile

Sizes = dict[str, tuple[int, int, int]]

REFERENCE_SIZES: Sizes = {
    "overflow-reject": (3434, 7174, 17),
    "overflow-drop-newest": (3434, 7174, 17),
    "overflow-drop-oldest": (3210, 6831, 17),
    "beside": (3646, 9940, 17),
    "retries": (414, 654, 12),
    "two-instances": (1669, 3526, 14),
    "compaction": (2218, 7995, 19),
    "nested": (4945, 21258, 12),
    "crash": (2019, 5812, 11),
    "closing": (4132, 14301, 16),
    "fence": (278, 1181, 8),
    "policy": (1506, 3562, 17),
    "capture": (170, 394, 11),
    "across": (2192, 7739, 13),
    "streams": (249, 668, 12),
    "rewind": (436, 570, 10),
    "one-millisecond": (6, 11, 4),
    "unfenced": (72, 109, 10),
}
ORIGINAL_SIZES: Sizes = {
    "overflow-reject": (3098, 6477, 17),
    "overflow-drop-newest": (3098, 6477, 17),
    "overflow-drop-oldest": (2965, 6332, 17),
    "beside": (3549, 9558, 17),
    "retries": (407, 643, 12),
    "closing": (3572, 11963, 16),
    "policy": (1505, 3577, 18),
    "capture": (170, 394, 13),
    "rewind": (437, 570, 10),
}


def searched(name: str, profile: Profile) -> tuple[int, int, int, list[str], int]:
    """States, transitions, depth, the properties that break, and how many states lead nowhere, of a whole scope."""
    found = search_for_rest(JournalSystem(named(name, profile)))
    explored = found.explored
    return len(explored.states), explored.transitions, explored.depth, sorted(explored.findings), len(found.stuck)


@pytest.mark.parametrize("name", SCOPES)
def test_reference_holds(name: str) -> None:
    """Every property holds of every step, all that waits can be answered, and the scope is as large as ever."""
    assert searched(name, REFERENCE) == (*REFERENCE_SIZES[name], [], 0)


@pytest.mark.parametrize("name", ORIGINAL_SIZES)
def test_original_breaks_fates_alone(name: str) -> None:
    """Where the profiles differ, original has another graph; only a close breaks anything, and leaves a flush waiting
    (HZ-03, HZ-41).
    """
    size = ORIGINAL_SIZES[name]

    assert searched(name, ORIGINAL) == (*size, *((["fates"], 80) if name == "closing" else ([], 0)))
