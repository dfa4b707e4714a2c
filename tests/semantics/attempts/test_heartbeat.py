"""``heartbeat`` of an attempt."""

import attrs
import pytest

from tenure_model.semantics.attempts.steps import AttemptOutcome
from tenure_model.semantics.attempts.table import NO_ATTEMPTS, AttemptRow
from tenure_model.semantics.world import World, empty_world
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempt_errors import AttemptStoreError
from tenure_model.vocabulary.attempt_outcomes import StateChanged
from tenure_model.vocabulary.attempts import AttemptOptions
from tenure_model.vocabulary.outcomes import FenceLost, NotFound, Updated
from tenure_model.vocabulary.owners import OwnerId
from tests.semantics.attempts.tables import BARE, DONE, FULL, ID, INSERT, call, holding, row_after
from tests.semantics.worlds import ALICE, BOB, T, running, settled, stolen, suspended


@pytest.mark.parametrize(
    ("world", "owner", "stored", "outcome"),
    [
        (running(), ALICE, BARE, Updated()),
        (stolen(), ALICE, BARE, Updated()),
        (running(), ALICE, DONE, StateChanged()),
        (running(), BOB, BARE, FenceLost()),
        (running(), BOB, DONE, FenceLost()),
        (stolen(), BOB, BARE, FenceLost()),
        (suspended(), ALICE, BARE, FenceLost()),
        (settled(), ALICE, DONE, FenceLost()),
        (empty_world(), ALICE, BARE, FenceLost()),
        (running(), ALICE, None, NotFound()),
        (running(), BOB, None, NotFound()),
        (settled(), ALICE, None, NotFound()),
        (empty_world(), ALICE, None, NotFound()),
    ],
)
def test_outcomes(world: World, owner: OwnerId, stored: AttemptRow | None, outcome: AttemptOutcome) -> None:
    """A missing attempt comes before the fence, the fence before the state (RS-841, RS-842, RS-862)."""
    attempts = NO_ATTEMPTS if stored is None else holding(stored)
    step = call(world, attempts, "attempt.heartbeat", **ID, owner=owner, nowMs=9)

    assert step.outcome == outcome
    assert (step.attempts is attempts) == (not isinstance(outcome, Updated))
    assert step.transacted


@pytest.mark.parametrize(
    ("stamp_ms", "now_ms", "after_ms"),
    [(None, 0, 0), (None, T, T), (7, 6, 7), (7, 7, 7), (7, 8, 8), (7, 2**53 - 1, 2**53 - 1)],
)
def test_the_stamp_never_goes_back(stamp_ms: int | None, now_ms: int, after_ms: int) -> None:
    """The later of the two stands, however far ahead of any clock (RS-840, RS-841)."""
    row = attrs.evolve(BARE, heartbeat_at_ms=stamp_ms)

    assert row_after(running(), row, "attempt.heartbeat", Updated(), **ID, owner=ALICE, nowMs=now_ms) == attrs.evolve(
        BARE, heartbeat_at_ms=after_ms
    )


@pytest.mark.parametrize(
    ("checkpoint", "stored"), [(ABSENT, '"c"'), (None, "null"), ({"b": 1, "a": [2.0]}, '{"b":1,"a":[2]}')]
)
def test_the_checkpoint_is_replaced_if_supplied(checkpoint: object, stored: str) -> None:
    """Null is supplied, absence is not; nothing else but the stamp moves (RS-813, RS-841)."""
    after = row_after(
        running(), FULL, "attempt.heartbeat", Updated(), **ID, owner=ALICE, nowMs=9, checkpoint=checkpoint
    )

    assert after == attrs.evolve(FULL, heartbeat_at_ms=9, checkpoint_json=stored)


def test_configured_states_are_in_progress() -> None:
    """The store's policy says what still moves (RS-801, RS-841)."""
    policy = AttemptOptions(("done", "paused"))

    assert call(running(), holding(DONE), "attempt.heartbeat", policy, **ID, owner=ALICE, nowMs=9).outcome == Updated()
    assert (
        call(running(), holding(BARE), "attempt.heartbeat", policy, **ID, owner=ALICE, nowMs=9).outcome
        == StateChanged()
    )


def test_a_corrupt_row_can_beat() -> None:
    """Nothing is decoded, only the state is asked (RS-841)."""
    corrupt = attrs.evolve(BARE, meta_json="{")

    assert row_after(running(), corrupt, "attempt.heartbeat", Updated(), **ID, owner=ALICE, nowMs=9) == attrs.evolve(
        corrupt, heartbeat_at_ms=9
    )


GOOD: dict[str, object] = {**ID, "owner": ALICE, "nowMs": 9, "checkpoint": "c"}


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"owner": None, "runId": ""}, "owner must be an inert, valid owner identity"),
        ({"runId": "", "nowMs": -1}, "attempt identity violates the durable identifier contract"),
        ({"stepKeyDigest": ABSENT}, "attempt identity violates the durable identifier contract"),
        ({"attempt": 1.0}, "attempt identity violates the durable identifier contract"),
        ({"nowMs": True, "checkpoint": {1}}, "nowMs must be a non-negative safe integer"),
        ({"checkpoint": {1}}, "checkpoint contains a non-plain object"),
        ({"checkpoint": "cc"}, "checkpoint exceeds the JSON byte limit"),
    ],
)
def test_invalid_input(wrong: dict[str, object], text: str) -> None:
    """Owner, id, reading, checkpoint, in this order; nothing is read (RS-840)."""
    table = holding(BARE)
    policy = AttemptOptions(max_checkpoint_bytes=3)
    step = call(running(), table, "attempt.heartbeat", policy, **{**GOOD, **wrong})

    assert step.outcome == AttemptStoreError("invalid_attempt", "heartbeat", text)
    assert step.attempts is table
    assert not step.transacted
    assert call(running(), table, "attempt.heartbeat", policy, **GOOD).outcome == Updated()


def test_no_skew_check() -> None:
    """A reading hours ahead of the store's clock is no input error (RS-309, RS-840)."""
    assert (
        call(running(), holding(BARE), "attempt.heartbeat", INSERT, **ID, owner=ALICE, nowMs=T + 10_001).outcome
        == Updated()
    )
