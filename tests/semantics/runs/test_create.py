"""``create``."""

import pytest

from tenure_model.semantics.world import World, empty_world
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.runs import CreateOptions
from tests.semantics.worlds import T, after, call, pending


def test_a_new_run_is_pending_and_nothing_else() -> None:
    """Status, creation time, ancestry and state are set, all else is null; no lease, no fact (RS-401)."""
    options = CreateOptions("r", "L", 3)
    world = after(pending(), "run.create", None, T + 9, runId="s", stateJson=' {"k": 1} ', options=options)
    run = world.runs["s"]

    assert (run.run_id, run.status, run.created_at_ms, run.state_json) == ("s", "pending", T + 9, ' {"k": 1} ')
    assert (run.parent_run_id, run.lineage_id, run.round_ordinal) == ("r", "L", 3)
    assert (run.started_at_ms, run.finished_at_ms, run.owner, run.heartbeat_at_ms, run.claim) == (None,) * 5
    assert (run.cancel_requested_at_ms, run.acknowledgement) == (None, None)
    assert world.leases == {}
    assert world.facts == {}


@pytest.mark.parametrize("options", [ABSENT, None, {}, {"parentRunId": None}, CreateOptions()])
def test_options_may_be_left_out(options: object) -> None:
    """No options, null options and empty options all mean none (RS-313)."""
    run = after(empty_world(), "run.create", None, runId="r", stateJson="1", options=options).runs["r"]

    assert (run.parent_run_id, run.lineage_id, run.round_ordinal) == (None, None, None)


def lineage() -> World:
    """``r`` is round 0 of ``L``, explicitly."""
    options = CreateOptions(lineage_id="L", round_ordinal=0)
    return call(empty_world(), "run.create", runId="r", stateJson="1", options=options).world


@pytest.mark.parametrize(
    ("run_id", "options"),
    [("r", None), ("s", {"parentRunId": "unknown"}), ("s", {"lineageId": "L", "roundOrdinal": 0})],
)
def test_keys_that_do_not_fit(run_id: str, options: object) -> None:
    """A known id, an unknown parent and a taken round are ``constraint`` and write nothing (RS-402)."""
    world = lineage()
    step = call(world, "run.create", runId=run_id, stateJson="1", options=options)

    assert step.outcome == RunStoreError(
        "constraint",
        "create",
        "database operation failed",
        {"category": "constraint", "cause": {"code": "constraint"}},
    )
    assert step.world is world


@pytest.mark.parametrize("options", [{"parentRunId": "s"}, {"parentRunId": "r"}, {"lineageId": "L", "roundOrdinal": 1}])
def test_keys_that_fit(options: object) -> None:
    """A run may be its own parent, and rounds of a lineage differ by ordinal (RS-105, RS-106)."""
    assert "s" in after(lineage(), "run.create", None, runId="s", stateJson="1", options=options).runs


def test_null_rounds_are_never_duplicates() -> None:
    """Any number of runs have no lineage (RS-105)."""
    world = after(pending(), "run.create", None, runId="s", stateJson="1")

    assert set(world.runs) == {"r", "s"}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"runId": "", "stateJson": "", "options": 1}, "runId"),
        ({"runId": "flows.companion/x", "stateJson": "", "options": 1}, "runId"),
        ({"runId": "r", "stateJson": "", "options": 1}, "options"),
    ],
)
def test_validation_order(arguments: dict[str, object], field: str) -> None:
    """Run id, then its prefix, then options, then state (RS-400)."""
    error = call(empty_world(), "run.create", **arguments).outcome

    assert isinstance(error, RunStoreError)
    assert (error.code, error.cause["field"]) == ("invalid_run", field)


def test_a_refused_state_tells_the_shape_of_the_call() -> None:
    """The cause is the call's shape and two facts about the text, never the complaint (RS-315)."""
    options = CreateOptions("p", "L", 2)
    error = call(empty_world(), "run.create", runId="r", stateJson="{", options=options).outcome

    assert isinstance(error, RunStoreError)
    assert error.cause == {
        "runId": "r",
        "parentRunId": "p",
        "lineageId": "L",
        "roundOrdinal": 2,
        "stateJsonLength": 1,
        "stateJsonValid": False,
    }


@pytest.mark.parametrize("clock_ms", [-1, 2**53, float("nan"), float("inf")])
def test_a_clock_that_no_column_takes(clock_ms: float) -> None:
    """A clock outside 0..2**53-1 is refused by the schema, not by an exception (RS-100)."""
    error = call(empty_world(), "run.create", clock_ms, runId="r", stateJson="1").outcome

    assert isinstance(error, RunStoreError)
    assert error.code == "constraint"
