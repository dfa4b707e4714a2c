"""Traces: ways taken for real, and told so that a person can read them."""

import pytest

from tenure_model.explore.canonical import NOW_MS
from tenure_model.explore.judging import Property
from tenure_model.explore.scopes import named
from tenure_model.explore.search import explore
from tenure_model.explore.system import RunSystem
from tenure_model.explore.telling import told
from tenure_model.explore.traces import trace_of, trace_to
from tenure_model.semantics.commands import apply
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE
from tenure_model.semantics.world import empty_world


@pytest.mark.parametrize("name", ["second-opinion", "deletion", "lineage"])
def test_leads_to_its_state(name: str):
    """The trace to a state replays, call by call, through the model, and ends in that state."""
    system = RunSystem(named(name, REFERENCE))
    explored = explore(system.initial(), system.successors, limit=200)
    for state, number in list(explored.states.items())[::7]:
        trace = trace_to(system, explored, number)
        world = empty_world(REFERENCE)
        for moment in trace.moments:
            if moment.command is not None:
                step = apply(world, moment.command)
                world = step.world
                assert step.outcome == moment.outcome
        at_ms = trace.moments[-1].at_ms if trace.moments else 0

        assert system.place(world, NOW_MS + at_ms) == state
        assert len(trace.moments) == len(explored.way_to(number))


def test_tells_a_counterexample():
    """A shortest way to a broken property, in lines: when, who, what, the answer, and what it left."""
    system = RunSystem(named("second-opinion", ORIGINAL))
    explored = explore(system.initial(), system.successors, depth=5)

    assert told(trace_of(system, explored, explored.findings["claims-agree"])) == (
        " 1.       0 ms  a1: create() -> ok",
        "                 pending",
        " 2.       0 ms  a1: claimAndOwn(expected=pending, nowMs=0) -> Activated",
        "                 running under a1@0",
        " 3.       0 ms  b1, whose clock shows 30,001: steal(expected=running/a1@0, nowMs=30,001, "
        "evidence=lease-expired of a1@30,001) -> Claimed(30,001)",
        "                 running under a1@0, claimed by b1@30,001",
        " 4.       0 ms  a1: transitionOwned(toStatus=suspended) -> Transitioned  [claims-agree]  [facts-tell]",
        "                 suspended; on the lease: nobody's, claimed by b1@30,001",
    )


def test_names_runs_where_there_are_several():
    """In a scope of several runs every call says which one, and every line tells of all."""
    system = RunSystem(named("pair", REFERENCE))
    explored = explore(system.initial(), system.successors, depth=1)

    assert told(trace_to(system, explored, 1)) == (
        " 1.       0 ms  a1: create(r) -> ok",
        "                 r: pending | s: no row",
    )


def test_a_property_of_what_is_not_kept():
    """A property about a column that no state keeps has no trace, and the error says why."""
    started = Property(
        "started",
        "Nothing starts at 0.",
        (),
        lambda taken: taken.row_before is None or taken.row_before.started_at_ms != 0,
    )
    system = RunSystem(named("plain", REFERENCE), properties=(started,))
    explored = explore(system.initial(), system.successors, first=True)

    with pytest.raises(ValueError, match="what a state does not keep"):
        trace_of(system, explored, explored.findings["started"])
