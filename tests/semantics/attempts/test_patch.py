"""``patch``."""

from typing import Any

import attrs
import pytest

from tenure_model.semantics.attempts.steps import AttemptOutcome
from tenure_model.semantics.attempts.table import NO_ATTEMPTS, AttemptRow
from tenure_model.semantics.world import World, empty_world
from tenure_model.vocabulary.attempt_errors import AttemptStoreError
from tenure_model.vocabulary.attempt_outcomes import Patched
from tenure_model.vocabulary.attempts import AttemptOptions
from tenure_model.vocabulary.outcomes import FenceLost, NotFound
from tenure_model.vocabulary.owners import OwnerId
from tests.semantics.attempts.tables import ATTEMPT, BARE, DONE, FULL, ID, call, holding, row_after
from tests.semantics.worlds import ALICE, BOB, running, settled, stolen, suspended


@pytest.mark.parametrize(
    ("world", "owner", "stored", "outcome"),
    [
        (running(), ALICE, BARE, Patched()),
        (stolen(), ALICE, BARE, Patched()),
        (running(), ALICE, DONE, Patched()),
        (running(), BOB, BARE, FenceLost()),
        (stolen(), BOB, DONE, FenceLost()),
        (suspended(), ALICE, BARE, FenceLost()),
        (settled(), ALICE, DONE, FenceLost()),
        (empty_world(), ALICE, BARE, FenceLost()),
        (running(), BOB, None, NotFound()),
        (settled(), ALICE, None, NotFound()),
        (empty_world(), ALICE, None, NotFound()),
    ],
)
def test_outcomes(world: World, owner: OwnerId, stored: AttemptRow | None, outcome: AttemptOutcome) -> None:
    """A missing attempt comes before the fence; the state is not asked (RS-861, RS-862)."""
    attempts = NO_ATTEMPTS if stored is None else holding(stored)
    step = call(world, attempts, "attempt.patch", id=ID, patch={"error": 1}, owner=owner)

    assert step.outcome == outcome
    assert (step.attempts is attempts) == (not isinstance(outcome, Patched))
    assert step.transacted


@pytest.mark.parametrize("stored", [FULL, DONE])
@pytest.mark.parametrize(
    ("patch", "columns"),
    [
        ({}, {}),
        ({"checkpoint": [1.0]}, {"checkpoint_json": "[1]"}),
        ({"error": None}, {"error_json": "null"}),
        ({"outcome": {"b": 1, "a": 2}}, {"outcome_json": '{"b":1,"a":2}'}),
        ({"meta": None}, {"meta_json": "null"}),
        (
            {"checkpoint": 1, "error": 2, "outcome": 3, "meta": 4},
            {"checkpoint_json": "1", "error_json": "2", "outcome_json": "3", "meta_json": "4"},
        ),
    ],
)
def test_what_is_written(stored: AttemptRow, patch: dict[str, object], columns: dict[str, Any]) -> None:
    """What is supplied is replaced; state, times and heartbeat never move (RS-861)."""
    after = row_after(running(), stored, "attempt.patch", Patched(), id=ID, patch=patch, owner=ALICE)

    assert after == attrs.evolve(stored, **columns)


def test_a_whole_attempt_is_an_id() -> None:
    """What ``put`` takes names the attempt too (RS-812)."""
    assert row_after(running(), BARE, "attempt.patch", Patched(), id=ATTEMPT, patch={}, owner=ALICE) == BARE


@pytest.mark.parametrize(
    ("id", "patch", "owner", "text"),
    [
        (None, None, None, "owner must be an inert, valid owner identity"),
        (None, None, ALICE, "attempt id must be an inert data record"),
        ({**ID, "attempt": -1}, None, ALICE, "attempt identity violates the durable identifier contract"),
        (ID, None, ALICE, "attempt patch must be an inert data record"),
        (ID, {"checkpoint": "cc"}, ALICE, "checkpoint exceeds the JSON byte limit"),
    ],
)
def test_invalid_input(id: object, patch: object, owner: object, text: str) -> None:
    """Owner, id, patch, in this order; nothing is read (RS-860)."""
    table = holding(BARE)
    policy = AttemptOptions(max_checkpoint_bytes=3)
    step = call(running(), table, "attempt.patch", policy, id=id, patch=patch, owner=owner)

    assert step.outcome == AttemptStoreError("invalid_attempt", "patch", text)
    assert step.attempts is table
    assert not step.transacted
