"""``finish``."""

import attrs
import pytest

from tenure_model.semantics.attempts.steps import AttemptOutcome
from tenure_model.semantics.attempts.table import NO_ATTEMPTS, AttemptRow
from tenure_model.semantics.world import World, empty_world
from tenure_model.vocabulary.attempt_errors import AttemptStoreError
from tenure_model.vocabulary.attempt_outcomes import Finished, StateChanged
from tenure_model.vocabulary.attempts import AttemptOptions
from tenure_model.vocabulary.outcomes import FenceLost, NotFound
from tenure_model.vocabulary.owners import OwnerId
from tests.semantics.attempts.tables import BARE, DONE, FINISH, FULL, call, holding, row_after
from tests.semantics.worlds import ALICE, BOB, running, settled, stolen, suspended


@pytest.mark.parametrize(
    ("world", "owner", "stored", "outcome"),
    [
        (running(), ALICE, BARE, Finished()),
        (stolen(), ALICE, BARE, Finished()),
        (running(), ALICE, DONE, StateChanged()),
        (running(), BOB, BARE, FenceLost()),
        (running(), BOB, DONE, FenceLost()),
        (stolen(), BOB, BARE, FenceLost()),
        (suspended(), ALICE, BARE, FenceLost()),
        (settled(), ALICE, DONE, FenceLost()),
        (empty_world(), ALICE, BARE, FenceLost()),
        (running(), BOB, None, NotFound()),
        (settled(), ALICE, None, NotFound()),
        (empty_world(), ALICE, None, NotFound()),
    ],
)
def test_outcomes(world: World, owner: OwnerId, stored: AttemptRow | None, outcome: AttemptOutcome) -> None:
    """A missing attempt comes before the fence, the fence before the state (RS-842, RS-851, RS-862)."""
    attempts = NO_ATTEMPTS if stored is None else holding(stored)
    step = call(world, attempts, "attempt.finish", attempt=FINISH, owner=owner)

    assert step.outcome == outcome
    assert (step.attempts is attempts) == (not isinstance(outcome, Finished))
    assert step.transacted


@pytest.mark.parametrize(
    ("supplied", "row"),
    [
        ({}, attrs.evolve(FULL, state="done", finished_at_ms=9)),
        ({"error": None}, attrs.evolve(FULL, state="done", finished_at_ms=9, error_json="null")),
        ({"outcome": [1.0]}, attrs.evolve(FULL, state="done", finished_at_ms=9, outcome_json="[1]")),
        ({"meta": None}, attrs.evolve(FULL, state="done", finished_at_ms=9, meta_json="null")),
        ({"finishedAtMs": 0, "state": "x"}, attrs.evolve(FULL, state="x", finished_at_ms=0)),
    ],
)
def test_what_is_written(supplied: dict[str, object], row: AttemptRow) -> None:
    """What is absent stays as recorded; checkpoint, heartbeat and start always do (RS-851)."""
    assert row_after(running(), FULL, "attempt.finish", Finished(), attempt={**FINISH, **supplied}, owner=ALICE) == row


def test_the_first_finish_stands() -> None:
    """A second finish changes nothing, not even an equal one (RS-851)."""
    world = running()
    once = call(world, holding(BARE), "attempt.finish", attempt=FINISH, owner=ALICE).attempts

    for again in (FINISH, {**FINISH, "state": "failed", "error": 1}):
        step = call(world, once, "attempt.finish", attempt=again, owner=ALICE)

        assert step.outcome == StateChanged()
        assert step.attempts is once


def test_configured_states_are_in_progress() -> None:
    """The store's policy says what can be finished, and with what (RS-801, RS-850)."""
    policy = AttemptOptions(("done", "paused"))
    text = "finish requires a terminal state and valid timestamp"

    finished = row_after(
        running(), DONE, "attempt.finish", Finished(), policy, attempt={**FINISH, "state": "running"}, owner=ALICE
    )
    refused = call(running(), holding(DONE), "attempt.finish", policy, attempt=FINISH, owner=ALICE)

    assert finished == attrs.evolve(DONE, state="running", finished_at_ms=9)
    assert refused.outcome == AttemptStoreError("invalid_attempt", "finish", text)


@pytest.mark.parametrize(
    ("attempt", "owner", "text"),
    [
        (None, None, "owner must be an inert, valid owner identity"),
        (None, ALICE, "finished attempt must be an inert data record"),
        ({**FINISH, "finishedAtMs": -1}, ALICE, "finished attempt violates the contract"),
        ({**FINISH, "state": "running"}, ALICE, "finish requires a terminal state and valid timestamp"),
    ],
)
def test_invalid_input(attempt: object, owner: object, text: str) -> None:
    """The owner is judged first; nothing is read (RS-850)."""
    table = holding(BARE)
    step = call(running(), table, "attempt.finish", attempt=attempt, owner=owner)

    assert step.outcome == AttemptStoreError("invalid_attempt", "finish", text)
    assert step.attempts is table
    assert not step.transacted
