"""Commands on attempts: `tenure_model.semantics.attempts.commands`."""

from typing import Any

import pytest

from tenure_model.semantics.attempts.commands import OPERATIONS, apply_attempt
from tenure_model.semantics.attempts.table import NO_ATTEMPTS
from tenure_model.semantics.commands import Command
from tenure_model.vocabulary.attempt_errors import AttemptStoreError
from tenure_model.vocabulary.attempt_operations import ATTEMPT_OPERATIONS
from tests.admission.values import VALUES
from tests.semantics.attempts.tables import ATTEMPT, BARE, FINISH, ID, INSERT, UPSERT, call, holding
from tests.semantics.worlds import ALICE, running

GOOD: dict[str, dict[str, object]] = {
    "attempt.put": {"attempt": ATTEMPT, "owner": ALICE},
    "attempt.get": {"id": ID},
    "attempt.heartbeat": {**ID, "owner": ALICE, "nowMs": 1, "checkpoint": 1},
    "attempt.finish": {"attempt": FINISH, "owner": ALICE},
    "attempt.patch": {"id": ID, "patch": {}, "owner": ALICE},
}


def test_every_operation_has_its_function() -> None:
    """The five operations of the vocabulary, and no other."""
    assert OPERATIONS == ATTEMPT_OPERATIONS.keys() == GOOD.keys()


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_missing_arguments_are_invalid(operation: str) -> None:
    """An argument that was not supplied is refused by the operation itself, under its own name."""
    step = call(running(), NO_ATTEMPTS, operation)

    assert isinstance(step.outcome, AttemptStoreError)
    assert (step.outcome.code, step.outcome.method) == ("invalid_attempt", operation.removeprefix("attempt."))


@pytest.mark.parametrize(
    ("operation", "arguments", "method", "text"),
    [
        ("attempt.delete", {}, "delete", "operation is unknown"),
        ("run.get", {"runId": "r"}, "run.get", "operation is unknown"),
        (None, {}, "apply", "operation is unknown"),
        ("attempt.get", {"id": ID, "owner": ALICE}, "get", "arguments are not all known"),
    ],
)
def test_unknown_operations_and_arguments(operation: Any, arguments: dict[str, object], method: str, text: str) -> None:
    """What nothing is known of is invalid input."""
    step = apply_attempt(running(), NO_ATTEMPTS, INSERT, Command(operation, arguments, 0))

    assert step.outcome == AttemptStoreError("invalid_attempt", method, text)


@pytest.mark.parametrize("make", VALUES.values(), ids=VALUES.keys())
@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_every_value_in_every_argument(operation: str, make: Any) -> None:
    """Whatever stands in an argument, the answer is a step, and refused input leaves the table alone."""
    table = holding(BARE)
    for name in GOOD[operation]:
        step = call(running(), table, operation, UPSERT, **{**GOOD[operation], name: make()})

        assert step.transacted or step.attempts is table


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_the_clock_has_no_part(operation: str) -> None:
    """Whatever the store's clock shows, even nothing, the answer is the same (RS-815)."""
    table = holding(BARE)
    steps = [
        apply_attempt(running(), table, INSERT, Command(operation, GOOD[operation], clock_ms))
        for clock_ms in (0, 5e15, float("nan"))
    ]

    assert steps[0] == steps[1] == steps[2]
    assert not isinstance(steps[0].outcome, AttemptStoreError)


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_the_table_given_stays_as_it_is(operation: str) -> None:
    """A step answers a new table and leaves the rows of the old one alone."""
    table = holding(BARE)
    before = dict(table.rows)

    call(running(), table, operation, UPSERT, **GOOD[operation])

    assert table.rows == before
