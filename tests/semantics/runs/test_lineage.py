"""``lineage``, ``latestRound`` and the membership behind them."""

import pytest

from tenure_model.semantics.steps import Outcome
from tenure_model.semantics.world import World, empty_world
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.runs import RunRow
from tests.semantics.worlds import after, call


def world_of(*runs: tuple[str, str | None, int | None]) -> World:
    """Runs with a lineage and an ordinal each, created in this order."""
    world = empty_world()
    for run_id, lineage_id, ordinal in runs:
        options = {"lineageId": lineage_id, "roundOrdinal": ordinal}
        world = after(world, "run.create", None, runId=run_id, stateJson="1", options=options)
    return world


def ids(outcome: Outcome) -> list[str] | str:
    """The run ids of a read, or the code of its error."""
    if isinstance(outcome, RunStoreError):
        return outcome.code
    assert isinstance(outcome, tuple | RunRow)
    return [row.run_id for row in (outcome if isinstance(outcome, tuple) else (outcome,))]


ROOT = world_of(("c", "a", 2), ("b", "a", 1), ("a", None, None), ("x", None, None))
EXPLICIT = world_of(("z0", "a", 0), ("z1", "a", 1))
TWO_ROUNDS_ZERO = world_of(("a", None, None), ("Z", "a", 0))
NAMESAKE = world_of(("a", "other", 0), ("b", "a", 1))
ROOT_AFTER_ITS_ROUND = world_of(("a", None, None), ("Z", "a", 1))
SELF_NAMED = world_of(("a", "a", 5), ("b", "a", 1))


@pytest.mark.parametrize(
    ("world", "run_id", "members", "latest"),
    [
        (ROOT, "a", ["a", "b", "c"], ["c"]),
        (ROOT, "b", ["a", "b", "c"], ["c"]),
        (ROOT, "x", ["x"], ["x"]),
        (ROOT, "unknown", [], "not_found_row"),
        (EXPLICIT, "z1", ["z0", "z1"], ["z1"]),
        (EXPLICIT, "a", [], "not_found_row"),
        (TWO_ROUNDS_ZERO, "a", ["Z", "a"], ["Z"]),
        (ROOT_AFTER_ITS_ROUND, "a", ["a", "Z"], ["Z"]),
        (NAMESAKE, "a", ["a"], ["a"]),
        (NAMESAKE, "b", ["b"], ["b"]),
        (SELF_NAMED, "b", ["b", "a"], ["a"]),
    ],
)
def test_members_and_latest(world: World, run_id: str, members: list[str], latest: list[str] | str) -> None:
    """A lineage is its explicit rounds and the root that names no other; explicit rounds win (RS-740..RS-744)."""
    lineage = call(world, "run.lineage", runId=run_id)
    latest_round = call(world, "run.latestRound", runId=run_id)

    assert ids(lineage.outcome) == members
    assert ids(latest_round.outcome) == latest
    assert not lineage.transacted
    assert not latest_round.transacted


def test_a_corrupt_member_fails_the_whole_read() -> None:
    """One member that does not decode is ``decode_failed`` for the lineage, and no other run's matter (RS-742)."""
    claim = {"claim_host_id": "h", "claim_pid": 2**53, "claim_nonce": "n", "claimed_at_ms": 1}
    world = after(ROOT, "row.write", True, runId="b", columns=claim)

    assert ids(call(world, "run.lineage", runId="a").outcome) == "decode_failed"
    assert ids(call(world, "run.latestRound", runId="a").outcome) == ["c"]
    assert ids(call(world, "run.lineage", runId="x").outcome) == ["x"]


def test_a_missing_run_has_no_latest_round() -> None:
    """The error names the method and the run (RS-743)."""
    error = call(ROOT, "run.latestRound", runId="u").outcome

    assert error == RunStoreError("not_found_row", "latestRound", "run u was not found", {"runId": "u"})


@pytest.mark.parametrize("method", ["lineage", "latestRound"])
def test_an_invalid_id(method: str) -> None:
    """Both validate the run id (RS-742, RS-743)."""
    error = call(ROOT, f"run.{method}", runId=b"a").outcome

    assert isinstance(error, RunStoreError)
    assert (error.code, error.method, error.cause["field"]) == ("invalid_run", method, "runId")
