"""The named scopes: how much there is in each, and that nothing in it breaks under ``reference``."""

import pytest

from tenure_model.explore.scopes import named
from tenure_model.explore.search import explore
from tenure_model.explore.system import RunSystem
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile


def searched(name: str, profile: Profile) -> tuple[int, int, int, list[str]]:
    """States, transitions, depth, and the properties that break, of a whole scope."""
    system = RunSystem(named(name, profile))
    found = explore(system.initial(), system.successors)
    return len(found.states), found.transitions, found.depth, sorted(found.findings)


@pytest.mark.parametrize(
    ("name", "size"),
    [("second-opinion", (99, 4514, 6)), ("deletion", (419, 21855, 9)), ("boundary", (1942, 148122, 12))],
)
def test_reference_holds(name: str, size: tuple[int, int, int]):
    """Every property holds of every step, and the scope is as large as it always was."""
    assert searched(name, REFERENCE) == (*size, [])


def test_original_breaks():
    """The recorded semantics drives row and lease apart."""
    assert searched("second-opinion", ORIGINAL)[-1] == ["claims-agree", "facts-tell", "owners-agree"]
