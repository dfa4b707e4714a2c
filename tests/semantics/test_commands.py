"""Commands: dispatch by wire names, absent arguments, clocks, and nothing that raises."""

import pytest

from tenure_model.semantics.commands import OPERATIONS, Command, apply, method_of, whole_milliseconds
from tenure_model.semantics.world import empty_world
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.operations import RUN_OPERATIONS
from tenure_model.vocabulary.outcomes import Activated, CancelRequested, Updated
from tenure_model.vocabulary.runs import PENDING
from tests.semantics.worlds import ALICE, T, call, pending, running


def test_every_operation_is_there() -> None:
    """The sixteen operations and the three raw writes."""
    assert {*RUN_OPERATIONS, "row.delete", "row.write", "lease.write"} == OPERATIONS


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_every_operation_answers_to_nothing_supplied(operation: str) -> None:
    """Without arguments each operation refuses the run id, under its own method name, and changes nothing."""
    world = pending()
    step = apply(world, Command(operation, {}, T))

    assert isinstance(step.outcome, RunStoreError)
    assert (step.outcome.code, step.outcome.method) == ("invalid_run", operation.removeprefix("run."))
    assert step.outcome.cause["field"] == "runId"
    assert step.world is world
    assert not step.transacted


def test_a_supplied_absent_is_absent() -> None:
    """``ABSENT`` as a value is the same as no key."""
    supplied = call(pending(), "run.claimAndOwn", runId="r", expected=PENDING, owner=ALICE, nowMs=T, evidence=ABSENT)

    assert supplied.outcome == Activated()
    assert supplied == call(pending(), "run.claimAndOwn", runId="r", expected=PENDING, owner=ALICE, nowMs=T)


def test_wire_records_are_taken() -> None:
    """A whole call in the wire's own records."""
    owner = {"hostId": "h1", "pid": 1, "nonce": "a"}
    expected = {"status": "pending", "owner": None, "heartbeatAtMs": None}
    step = call(pending(), "run.claimAndOwn", runId="r", expected=expected, owner=owner, nowMs=T)

    assert step.outcome == Activated()
    assert step.world.runs["r"].owner == ALICE


@pytest.mark.parametrize("operation", ["run.unknown", "claim", "", None, 7, []])
def test_an_unknown_operation(operation: object) -> None:
    """What names no operation is invalid input, whatever it is."""
    command = Command(operation, {}, T)  # type: ignore[arg-type]  # wrong on purpose
    error = apply(empty_world(), command).outcome

    assert isinstance(error, RunStoreError)
    assert (error.code, error.cause["field"]) == ("invalid_run", "operation")


def test_an_unknown_argument() -> None:
    """A misspelled argument is refused, not dropped."""
    error = call(pending(), "run.get", runId="r", runid="r").outcome

    assert isinstance(error, RunStoreError)
    assert (error.code, error.method, error.cause["field"]) == ("invalid_run", "get", "arguments")


@pytest.mark.parametrize(("operation", "method"), [("run.claimAndOwn", "claimAndOwn"), ("row.write", "row.write")])
def test_method_of(operation: str, method: str) -> None:
    """Operations lose their prefix, raw writes keep it (RS-360)."""
    assert method_of(Command(operation, {}, 0)) == method


@pytest.mark.parametrize(
    ("clock_ms", "whole"),
    [
        (5, 5),
        (5.0, 5),
        (5.999, 5),
        (-0.5, -1),
        (10**400, 10**400),
        (float("nan"), -1),
        (float("inf"), -1),
        (float("-inf"), -1),
    ],
)
def test_whole_milliseconds(clock_ms: float, whole: int) -> None:
    """A clock is rounded down; one without a number reads a time that nothing can store (RS-003)."""
    assert whole_milliseconds(clock_ms) == whole


@pytest.mark.parametrize(("clock_ms", "admitted"), [(T, True), (T + 0.9, True), (T - 0.1, False), (T - 1, False)])
def test_the_skew_bound_uses_the_rounded_clock(clock_ms: float, admitted: bool) -> None:
    """A reading 10,000 ms ahead of the floored clock is the last that passes (RS-309)."""
    outcome = call(running(), "run.heartbeat", clock_ms, runId="r", owner=ALICE, nowMs=T + 10_000).outcome

    assert (outcome == Updated()) is admitted


def test_operations_without_a_lease_reading_ignore_the_clock() -> None:
    """A cancellation may be dated far ahead (RS-309)."""
    assert call(running(), "run.requestCancel", 0, runId="r", nowMs=2**53 - 1).outcome == CancelRequested(2**53 - 1)
