"""Every property can fail: a wrong model breaks it, and the search finds the shortest way to see that."""

import pytest

from tenure_model.explore.properties import STEP_PROPERTIES
from tenure_model.explore.search import explore
from tenure_model.explore.system import RunSystem
from tests.explore.mutants import MUTANTS, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_wrong_models_are_found(mutant: Mutant) -> None:
    """A wrong model breaks its property, at the step where it goes wrong, and no other but what that implies."""
    asked = [judge for judge in STEP_PROPERTIES if judge.name == mutant.property or not mutant.alone]
    system = RunSystem(mutant.scope, mutant.apply, asked)
    found = explore(system.initial(), system.successors, first=True)
    shortest = len(found.way_to(found.findings[mutant.property].state)) + 1

    assert set(found.findings) == {mutant.property, *mutant.also}
    assert shortest == mutant.steps


def test_every_property_can_fail() -> None:
    """There is a wrong model for each property, and none for anything else."""
    assert {mutant.property for mutant in MUTANTS} == {judge.name for judge in STEP_PROPERTIES}
