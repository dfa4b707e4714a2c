"""The graph of a scope: its edges are those of every world it stands for, whatever happened before."""

import attrs
import pytest

from tenure_model.explore.canonical import rename, renamings
from tenure_model.explore.judging import Property, Transition
from tenure_model.explore.scope import Participant, Scope, honest, owners_on
from tenure_model.explore.scopes import named
from tenure_model.explore.search import explore
from tenure_model.explore.system import Label, RunSystem, outcome_name
from tenure_model.semantics.commands import Command, apply
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tenure_model.semantics.steps import Outcome, Step
from tenure_model.semantics.world import World
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.outcomes import FenceLost
from tenure_model.vocabulary.runs import SUSPENDED
from tests.explore.walks import edges_of, renamed_edges, walk

PROFILES = pytest.mark.parametrize("profile", [REFERENCE, ORIGINAL], ids=lambda profile: profile.name)


@PROFILES
@pytest.mark.parametrize("name", ["boundary", "deletion", "lineage", "pair"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_state_stands_for_its_worlds(name: str, seed: int, profile: Profile) -> None:
    """From any world, with whatever history, at any hour and under any names, exactly the edges of its state lead out.

    So states and worlds are bisimilar: nothing is lost and nothing invented, in scopes of several runs neither.
    """
    system = RunSystem(named(name, profile))
    for world, now_ms in walk(system.scope, seed, 80):
        drawn = {(label, after) for label, after, *_ in system.successors(system.place(world, now_ms))}
        real = edges_of(system, world, now_ms)

        assert any(renamed_edges(real, renaming) == drawn for renaming in renamings(system.scope))


def test_symmetry_merges_renamed_states_only() -> None:
    """Interchangeable owners halve a scope, and every state found is the least of those that a renaming makes of it."""
    scope = Scope("twins", tuple(Participant(owner, honest(0)) for owner in owners_on("a", 2)), advances=(30_001,))
    apart, merged = RunSystem(attrs.evolve(scope, symmetric=False)), RunSystem(scope)
    all_states = explore(apart.initial(), apart.successors).states
    classes = {
        frozenset(rename(apart.codes(state)[0], renaming) for renaming in renamings(scope)) for state in all_states
    }
    found = explore(merged.initial(), merged.successors).states

    assert (len(all_states), len(found)) == (119, 67)
    assert {
        frozenset(rename(merged.codes(state)[0], renaming) for renaming in renamings(scope)) for state in found
    } == (classes)


def test_every_broken_property_is_kept() -> None:
    """Calls of one label that lead to one state are one edge, and it has what any of them broke."""

    def odd_token(taken: Transition) -> bool:
        return taken.command.arguments.get("claimedAtMs") != 1

    def odd_snapshot(taken: Transition) -> bool:
        return taken.command.arguments.get("expected") != SUSPENDED

    def written(world: World, command: Command) -> Step:
        return attrs.evolve(apply(world, command), world=attrs.evolve(world))

    judges = [Property(judge.__name__, "", (), judge) for judge in (odd_token, odd_snapshot)]
    system = RunSystem(named("second-opinion", REFERENCE), written, judges)
    edges = {edge.label: edge for edge in system.successors(system.initial())}

    assert edges[Label("run.activate", "ClaimLost", 0, 0)].broken == ("odd_token", "odd_snapshot")
    assert edges[Label("run.claim", "NotFound", 0, 0)].broken == ("odd_snapshot",)
    assert edges[Label("run.abandonClaim", "ClaimLost", 0, 0)].broken == ("odd_token",)


@pytest.mark.parametrize(
    ("outcome", "name"),
    [
        (FenceLost(), "FenceLost"),
        (RunStoreError("constraint", "create", "", {}), "constraint"),
        (True, "true"),
        (False, "false"),
        (None, "ok"),
        ((), "ok"),
    ],
)
def test_outcome_names(outcome: Outcome, name: str) -> None:
    """A label has the tag, the code of an error, the boolean in words, and one word for whatever was read."""
    assert outcome_name(outcome) == name
