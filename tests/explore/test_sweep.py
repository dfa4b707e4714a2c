"""The sweep: what a search with a graph counts, without the graph."""

import pytest

from tenure_model.explore.scopes import named
from tenure_model.explore.search import Progress, explore
from tenure_model.explore.sweep import sweep
from tenure_model.explore.system import RunSystem
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile


@pytest.mark.parametrize(("name", "depth"), [("second-opinion", None), ("deletion", None), ("pair", 7)])
@pytest.mark.parametrize("profile", [REFERENCE, ORIGINAL], ids=lambda profile: profile.name)
def test_counts_as_the_search_does(name: str, depth: int | None, profile: Profile):
    """States, depth and broken properties are those of the search, and no transition is missed."""
    swept = sweep(RunSystem(named(name, profile)), depth=depth)
    system = RunSystem(named(name, profile))
    explored = explore(system.initial(), system.successors, depth=depth)

    assert (swept.states, swept.depth, swept.complete) == (len(explored.states), explored.depth, explored.complete)
    assert swept.broken == {name: len(explored.way_to(finding.state)) for name, finding in explored.findings.items()}
    assert swept.transitions >= explored.transitions


@pytest.mark.parametrize(
    ("name", "depth", "transitions"), [("second-opinion", None, 4514), ("deletion", None, 21855), ("pair", 7, 157344)]
)
def test_counts_every_transition_once(name: str, depth: int | None, transitions: int):
    """As many as the search where there is one run; of two runs, an edge counts before owners are renamed."""
    assert sweep(RunSystem(named(name, REFERENCE)), depth=depth).transitions == transitions


def test_tells_how_far_it_is():
    """Progress comes with what was counted so far, by the clock that it is given."""
    clock = iter(range(10_000))
    seen: list[Progress] = []
    sweep(RunSystem(named("pair", REFERENCE)), depth=6, on_progress=seen.append, seconds=lambda: float(next(clock)))

    assert seen
    assert [progress.states for progress in seen] == sorted(progress.states for progress in seen)
