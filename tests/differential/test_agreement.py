"""Model and store agree on short seeded histories; and where one of them is wrong, the harness finds it."""

import json

import attrs
import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tenure.port import StoreSystem
from tenure_model.conform.model_system import ModelSystem
from tenure_model.conform.replay import replay
from tenure_model.conform.round_order import RoundOrder
from tenure_model.conform.traces import parse_trace
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE
from tests.differential.choice import RandomChooser
from tests.differential.machine import StoreAgainstModel
from tests.differential.pair import Divergence, Pair, close_pair, run_actions
from tests.differential.pairs import ARENAS, ROTA, file_pair, memory_pair
from tests.differential.report import describe, trace_document, write_failure
from tests.differential.scenario import Scenario
from tests.differential.shrink import shrink
from tests.differential.simulator import Episode, Tally, play

ONE = ("s0",)


@pytest.mark.parametrize("index", range(len(ROTA)))
def test_seeded_episodes_agree(index):
    """A whole rota of a fixed seed: runs and journal, in memory and on a file."""
    tally = Tally()
    play(Episode(20_261_130, index), tally)

    assert tally.steps == ROTA[index].steps
    assert len(tally.cells) > 30


@pytest.mark.parametrize("arena", [arena for arena in ARENAS if "file" in arena.name], ids=lambda arena: arena.name)
def test_a_file_episode_crashes_and_goes_on(arena):
    """The episodes on a file drop instances and crash the whole system, and still agree."""
    tally = Tally()
    for seed in range(4):
        play(Episode(seed, ROTA.index(arena)), tally)

    assert tally.by_file == tally.steps == 4 * arena.steps
    assert tally.crashes > 3


def test_hypothesis_machine_agrees():
    """The same scenarios as a state machine, under our settings."""
    ours = settings(max_examples=15, stateful_step_count=30, deadline=None, derandomize=False)
    machine = type("Machine", (StoreAgainstModel,), {"tally": Tally(), "failed_in": []})

    run_state_machine_as_test(machine, settings=ours)

    assert machine.tally.steps > 15


def history(make_pair, seed, steps=250):
    """The actions that a seed draws, or the divergence they end in."""
    pair = make_pair()
    try:
        scenario = Scenario(RandomChooser(seed), pair)
        for _ in range(steps):
            scenario.step()
    except Divergence as divergence:
        return pair.actions, divergence
    finally:
        close_pair(pair)
    return pair.actions, None


@pytest.mark.parametrize("make_pair", [memory_pair, file_pair])
def test_a_seed_gives_the_same_history_again(make_pair):
    """What a failing seed did can be done again."""
    assert history(make_pair, 7) == history(make_pair, 7)


def original_pair():
    """The store against a model with the wedges: they must part."""
    return Pair(ModelSystem(ORIGINAL, ONE), RoundOrder(StoreSystem.in_memory(ONE), ONE), ONE)


class AltersDatabase(StoreSystem):
    """A store whose schema somebody has changed by hand."""

    statement = ""

    @classmethod
    def pair(cls):
        """The model against it."""
        store = cls(ONE, None)
        store.alter(cls.statement)
        return Pair(ModelSystem(REFERENCE, ONE), RoundOrder(store, ONE), ONE)


class NoRevisionOnUpdate(AltersDatabase):
    """Updates of a row no longer advance its revision."""

    statement = "DROP TRIGGER flows_runs_revision_update"


class KeepsLeaseOfDeletedRun(AltersDatabase):
    """Deleting a row leaves its lease behind (H-03)."""

    statement = "DROP TRIGGER flows_runs_lease_delete"


class WrongAnswers(ModelSystem):
    """A model that is wrong in one place."""

    def call(self, session, operation, arguments, clock_ms):
        if operation == "run.steal" and isinstance(arguments.get("nowMs"), int):
            # A stamp of exactly 30,000 ms counts as stale: one millisecond early.
            arguments = {**arguments, "nowMs": arguments["nowMs"] + 1}
        return super().call(session, operation, arguments, clock_ms)


class RoundsClockUp(ModelSystem):
    """A model that rounds its clock up."""

    def call(self, session, operation, arguments, clock_ms):
        return super().call(session, operation, arguments, -(-clock_ms // 1))


class ForgetsRollback(ModelSystem):
    """A model that commits what is rolled back."""

    def control(self, session, action, clock_ms=0.0):
        return super().control(session, "session.commit" if action == "session.rollback" else action, clock_ms)


class ForgetsWhoAcknowledged(ModelSystem):
    """A model whose acknowledgements, which no operation tells, lack their owner."""

    def state(self, session):
        state = super().state(session)
        runs = {run_id: (*row[:-1], row[-1] and row[-1].split(",")[0] + "}") for run_id, row in state.runs.items()}
        return attrs.evolve(state, runs=runs)


def wrong_model(kind):
    """A pair whose model is wrong."""
    return lambda: Pair(kind(REFERENCE, ONE), RoundOrder(StoreSystem.in_memory(ONE), ONE), ONE)


MUTANTS = {
    "wedges of the original": original_pair,
    "no revision on update": NoRevisionOnUpdate.pair,
    "lease of a deleted run kept": KeepsLeaseOfDeletedRun.pair,
    "steals one millisecond early": wrong_model(WrongAnswers),
    "rounds the clock up": wrong_model(RoundsClockUp),
    "forgets a rollback": wrong_model(ForgetsRollback),
    "forgets who acknowledged": wrong_model(ForgetsWhoAcknowledged),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_every_mutant_is_found_and_shrunk(name):
    """A wrong system is found within forty episodes, and its history shrinks to a handful of steps."""
    make_pair = MUTANTS[name]
    found = next((found for seed in range(40) for _, found in [history(make_pair, seed)] if found is not None), None)

    assert found is not None
    assert len(shrink(found, make_pair).actions) <= 12


def test_agreeing_on_a_wedge_is_not_enough():
    """Two systems with the same wedge agree after every step; the invariants find it all the same."""

    def make_pair():
        return Pair(ModelSystem(ORIGINAL, ONE), ModelSystem(ORIGINAL, ONE), ONE)

    found = next(found for seed in range(40) for _, found in [history(make_pair, seed)] if found is not None)

    assert "RS-213" in found.where


@pytest.mark.parametrize("kind", [RoundsClockUp, ForgetsRollback, ForgetsWhoAcknowledged])
def test_a_divergence_is_told_and_replays(tmp_path, kind):
    """The report shows the steps and both answers; the file it writes differs on replay where the fuzzer saw it."""
    make_pair = wrong_model(kind)
    found = next(found for seed in range(40) for _, found in [history(make_pair, seed)] if found is not None)
    shortest = shrink(found, make_pair)
    document = trace_document(shortest, make_pair, {"seed": 1})
    path = write_failure(document, tmp_path, "seed-1")
    text = describe(shortest, document)
    trace = parse_trace(json.loads(path.read_text()), "failure")
    store = StoreSystem.in_memory(trace.sessions)

    report = replay(trace, store, REFERENCE)
    store.close()

    assert "Differs in" in text
    assert "model:" in text
    assert report.verdict == "differs"


def test_a_history_that_agrees_has_no_divergence():
    """Running the actions of a good seed again finds nothing, so shrinking cannot invent failures."""
    actions, _ = history(memory_pair, 3)

    assert run_actions(memory_pair, actions) is None
