"""Liveness (RS-1008): nothing is stuck under ``reference``, three calls are enough; what ``original`` is stuck in."""

import attrs
import pytest

from tenure_model.explore.canonical import NONE, RunCode
from tenure_model.explore.graph import StateGraph, build_graph
from tenure_model.explore.liveness import Survival, survival, wedges
from tenure_model.explore.scope import DELETE, Participant, honest, owners_on
from tenure_model.explore.scopes import named
from tenure_model.explore.system import Apply, Label, RunSystem
from tenure_model.semantics.commands import apply
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tenure_model.vocabulary.outcomes import ClaimFresh, GuardFailed, SnapshotChanged
from tenure_model.vocabulary.statuses import RUN_STATUSES
from tests.explore.wrong_steps import TWO_OWNERS, refusing


def labels(found: StateGraph, number: int) -> list[tuple[str, str, int]]:
    """The operations, outcomes and callers of a shortest way to a state."""
    return [(label.operation, label.outcome, label.owner) for label, _ in found.explored.way_to(number)]


def code_of(found: StateGraph, number: int) -> RunCode:
    """What a state says of the first run."""
    return found.system.codes(list(found.explored.states)[number])[0]


def survived(found: StateGraph) -> Survival:
    """What single survivors can do in a searched scope."""
    return survival(found.system, found.explored)


@pytest.fixture(scope="module")
def original() -> StateGraph:
    """Two owners under ``original``, as time passes."""
    return build_graph(RunSystem(attrs.evolve(TWO_OWNERS, profile=ORIGINAL)))


@pytest.fixture(scope="module")
def original_deletion() -> StateGraph:
    """Rows that may be deleted, under ``original``."""
    return build_graph(RunSystem(named("deletion", ORIGINAL)))


@pytest.mark.parametrize(("name", "rescues"), [("second-opinion", 178), ("deletion", 818)])
def test_reference_lives(name: str, rescues: int) -> None:
    """No state is a wedge, and once all stamps are stale any owner alone settles a run in three calls (RS-1008)."""
    found = build_graph(RunSystem(named(name, REFERENCE)))
    stuck, alone = wedges(found), survived(found)

    assert (stuck.stuck, stuck.bottoms) == (((),), ())
    assert (alone.bound, alone.rescues, alone.stranded) == (3, rescues, ())
    assert alone.worst is not None
    assert labels(found, alone.worst.state) == [("run.create", "ok", 0), ("run.claim", "Claimed", 0)]
    assert alone.worst.calls == (
        Label("run.recoverClaim", "Recovered", 1, 0),
        Label("run.claimAndOwn", "Activated", 1, 0),
        Label("run.transitionOwned", "Transitioned", 1, 0),
    )


def test_original_is_wedged_by_a_suspended_steal(original: StateGraph) -> None:
    """H-01: a run suspended under a thief's claim is free on its row and claimed on its lease, for ever."""
    found = wedges(original)
    first = found.stuck[0][0]
    codes = [code_of(original, number) for number in found.stuck[0]]

    assert labels(original, first) == [
        ("run.create", "ok", 0),
        ("run.claimAndOwn", "Activated", 0),
        ("time.passes", "30001", -1),
        ("run.steal", "Claimed", 1),
        ("run.transitionOwned", "Transitioned", 0),
    ]
    assert {(RUN_STATUSES[code.status], code.claimant, code.lease_claimant) for code in codes} == {
        ("suspended", NONE, 0),
        ("suspended", NONE, 1),
    }
    assert (len(found.stuck[0]), [len(bottom.states) for bottom in found.bottoms]) == (21, [1] * 4)


def test_original_strands_a_survivor(original: StateGraph) -> None:
    """H-02: a self-steal that is given up leaves a running row without a lease, which only its owner can end."""
    found, stuck = survived(original), wedges(original).stuck[0]
    first = next(stranding for stranding in found.stranded if stranding.state not in stuck)

    assert labels(original, first.state) == [
        ("run.create", "ok", 0),
        ("run.claimAndOwn", "Activated", 0),
        ("time.passes", "30001", -1),
        ("run.steal", "Claimed", 0),
        ("run.activate", "SnapshotChanged", 0),
    ]
    assert (code_of(original, first.state).owner, code_of(original, first.state).lease_owner) == (0, NONE)
    assert first.survivor == 1
    assert (found.bound, len(found.stranded)) == (None, 63)


def test_original_is_wedged_by_a_deletion(original_deletion: StateGraph) -> None:
    """H-03: a run created again meets the lease of the one that was deleted."""
    found = wedges(original_deletion)
    first = found.stuck[0][0]

    assert labels(original_deletion, first) == [
        ("run.create", "ok", 0),
        ("run.claim", "Claimed", 0),
        ("row.delete", "true", 0),
        ("run.create", "ok", 0),
    ]
    assert (len(found.stuck[0]), len(found.bottoms)) == (286, 12)
    assert len(survived(original_deletion).stranded) == 602


def test_a_deletion_is_no_way_out() -> None:
    """A run that only an administrator's delete would free, to be created again, is stuck."""
    healing = Profile("healing", frozenset({"R-2", "R-3"}))
    operations = TWO_OWNERS.operations | {DELETE}
    found = build_graph(RunSystem(attrs.evolve(TWO_OWNERS, profile=healing, operations=operations)))

    assert len(wedges(found).stuck[0]) == 21


def test_interchangeable_owners_are_told_apart() -> None:
    """Where owners are interchangeable a state still has one that is named and one that is not: it is stranded."""
    owners = tuple(Participant(owner, honest(0)) for owner in owners_on("a", 2))
    found = build_graph(RunSystem(attrs.evolve(TWO_OWNERS, participants=owners, profile=ORIGINAL)))
    stuck = set(wedges(found).stuck[0])
    strandings = [stranding for stranding in survived(found).stranded if stranding.state not in stuck]

    assert len(strandings) == 6
    assert {code_of(found, one.state).owner == one.survivor for one in strandings} == {False}


@pytest.mark.parametrize(
    ("wrong", "stuck", "bound", "stranded"),
    [
        (apply, 0, 3, 0),
        (refusing("run.recoverClaim", ClaimFresh()), 0, None, 56),
        (refusing("run.claimAndOwn", SnapshotChanged()), 0, 4, 0),
        (refusing("run.transitionOwned", GuardFailed()), 94, None, 188),
    ],
    ids=["right", "claims-are-never-recovered", "no-way-but-claiming-first", "nothing-ever-ends"],
)
def test_wrong_models_are_found(wrong: Apply, stuck: int, bound: int | None, stranded: int) -> None:
    """Who cannot recover a claim depends on who made it; who cannot own at once needs a call more."""
    who = [attrs.evolve(one, readings=honest(0)) for one in TWO_OWNERS.participants]
    found = build_graph(RunSystem(attrs.evolve(TWO_OWNERS, participants=tuple(who)), wrong, ()))
    alone = survived(found)

    assert (len(wedges(found).stuck[0]), alone.bound, len(alone.stranded)) == (stuck, bound, stranded)


def test_a_bounded_search_is_refused() -> None:
    """Where states are missing nothing is said of liveness."""
    found = build_graph(RunSystem(TWO_OWNERS), depth=2)

    with pytest.raises(ValueError, match="ended by a bound"):
        wedges(found)
    with pytest.raises(ValueError, match="ended by a bound"):
        survived(found)


def test_bottoms_are_closed(original_deletion: StateGraph) -> None:
    """Nothing but a delete leads out of a wedge, and every wedge is made of states that are stuck."""
    found = wedges(original_deletion)
    for bottom in found.bottoms:
        edges = original_deletion.graph.out_edges(bottom.states, data=True)
        leads_to = {target for _, target, attributes in edges if attributes["label"].operation != "row.delete"}

        assert leads_to == set(bottom.states)
        assert set(bottom.states) <= set(found.stuck[0])
