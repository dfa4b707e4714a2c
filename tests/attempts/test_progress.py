"""Tests of ``heartbeat`` and ``finish``."""

from collections.abc import Callable

import pytest

import tenure
from tests.attempts.support import (
    CONFLICT,
    DONE,
    FINISHED,
    FULL,
    FULL_JSON,
    KEY,
    LOSSES,
    PLAIN,
    STATE_CHANGED,
    STRANGERS,
    beat,
    ended,
    like,
    lose_ownership,
    refused,
    stored,
)
from tests.runs.support import FENCE_LOST, NOT_FOUND, NOW, SKEW, UPDATED, A, World, new_world, unchanged

Step = Callable[[World, tenure.OwnerId, tenure.AttemptId], object]


def _beat(world: World, owner: tenure.OwnerId = A, key: tenure.AttemptId = KEY) -> object:
    return beat(world, owner, checkpoint=1, key=key)


def _finish(world: World, owner: tenure.OwnerId = A, key: tenure.AttemptId = KEY) -> object:
    done = ended(run_id=key.run_id, step_key_digest=key.step_key_digest, attempt=key.attempt, error=1)
    return world.store.attempts.finish(done, owner)


BOTH = pytest.mark.parametrize("step", [_beat, _finish])


def test_first_beat(world: World) -> None:
    """The stamp is the caller's reading; nothing else changes, and no revision is spent (RS-841, RS-166)."""
    world.store.attempts.put(PLAIN, A)
    revision = world.source_revision()

    assert beat(world) == UPDATED
    assert stored(world) == ("running", 10, None, NOW, None, None, None, '{"n":1}')
    assert world.source_revision() == revision
    assert world.recorder.facts == []


@pytest.mark.parametrize(("reading", "stamp"), [(0, 15), (14, 15), (15, 15), (16, 16), (2**53 - 1, 2**53 - 1)])
def test_stamp_never_moves_back(world: World, reading: int, stamp: int) -> None:
    """The later of stamp and reading stays, and no clock bounds the reading (RS-841, RS-840)."""
    world.store.attempts.put(FULL, A)
    world.clock.ms = 0

    assert beat(world, now_ms=reading) == UPDATED
    assert stored(world) == ("running", 10, 20, stamp, *FULL_JSON)


def test_skew_does_not_matter(world: World) -> None:
    """A reading may run ahead of the store's clock as far as it likes (RS-840)."""
    world.store.attempts.put(PLAIN, A)

    assert beat(world, now_ms=NOW + SKEW + 1) == UPDATED


@pytest.mark.parametrize(
    ("checkpoint", "text"),
    [(tenure.ABSENT, '[1,"two",null]'), (None, "null"), ({"b": [], "a": 1.0}, '{"b":[],"a":1}'), (False, "false")],
)
def test_checkpoint(world: World, checkpoint: object, text: str) -> None:
    """A supplied checkpoint replaces the old one, null included; an absent one leaves it alone (RS-841, RS-813)."""
    world.store.attempts.put(FULL, A)

    assert beat(world, checkpoint=checkpoint) == UPDATED
    assert (stored(world) or ())[4] == text


def test_beat_of_an_attempt_that_says_it_is_over(world: World) -> None:
    """Only the state says whether an attempt is in progress, not its finishing time (RS-841)."""
    world.store.attempts.put(FULL, A)

    assert beat(world) == UPDATED


def test_finish(world: World) -> None:
    """State and finishing time are set, and nothing else that was not supplied (RS-851)."""
    world.store.attempts.put(FULL, A)
    revision = world.source_revision()

    assert world.store.attempts.finish(DONE, A) == FINISHED
    assert stored(world) == ("done", 10, 30, 15, *FULL_JSON)
    assert world.source_revision() == revision
    assert world.recorder.facts == []


@pytest.mark.parametrize(("field", "column"), [("error", 5), ("outcome", 6), ("meta", 7)])
@pytest.mark.parametrize(("value", "text"), [(None, "null"), ([0.5], "[0.5]"), (0, "0")])
def test_finish_replaces_what_is_supplied(world: World, field: str, column: int, value: object, text: str) -> None:
    """Each supplied field alone is replaced, null included (RS-851, RS-813)."""
    world.store.attempts.put(FULL, A)
    before = list(stored(world) or ())

    assert world.store.attempts.finish(ended(**{field: value}), A) == FINISHED
    before[0], before[2], before[column] = "done", 30, text
    assert list(stored(world) or ()) == before


@pytest.mark.parametrize("finished_at_ms", [0, 2**53 - 1])
def test_finish_at_any_time(world: World, finished_at_ms: int) -> None:
    """The finishing time is measured against nothing (RS-815)."""
    world.store.attempts.put(FULL, A)

    assert world.store.attempts.finish(ended(finished_at_ms=finished_at_ms), A) == FINISHED
    assert (stored(world) or ())[2] == finished_at_ms


def test_the_first_finish_stands(world: World) -> None:
    """A second finish, equal or not, changes nothing (RS-851)."""
    world.store.attempts.put(PLAIN, A)
    world.store.attempts.finish(DONE, A)
    with unchanged(world):
        assert world.store.attempts.finish(DONE, A) == STATE_CHANGED
        assert world.store.attempts.finish(ended(state="failed", error=1), A) == STATE_CHANGED
        assert beat(world) == STATE_CHANGED


@BOTH
def test_missing_attempt(world: World, step: Step) -> None:
    """Run, step and number must all be those of an attempt (RS-842)."""
    world.owned("r2")
    world.store.attempts.put(PLAIN, A)
    with unchanged(world):
        for run_id, step_key_digest, attempt in (("r2", "step", 0), ("r", "other", 0), ("r", "step", 1)):
            assert step(world, A, tenure.AttemptId(run_id, step_key_digest, attempt)) == NOT_FOUND


@BOTH
@LOSSES
def test_missing_attempt_comes_first(world: World, step: Step, how: str) -> None:
    """A missing attempt is missing whatever became of the run (RS-842, RS-862)."""
    lose_ownership(world, how)
    with unchanged(world):
        assert step(world, A, KEY) == NOT_FOUND
        assert step(world, A, tenure.AttemptId("missing", "step", 0)) == NOT_FOUND


@BOTH
@LOSSES
@pytest.mark.parametrize("state", ["running", "done"])
def test_fence(world: World, step: Step, how: str, state: str) -> None:
    """Whoever does not own the run is fenced off before the state is looked at (RS-842, RS-862)."""
    world.store.attempts.put(like(PLAIN, state=state), A)
    lose_ownership(world, how)
    with unchanged(world):
        assert step(world, A, KEY) == FENCE_LOST


@BOTH
def test_strangers(world: World, step: Step) -> None:
    """All three fields of the owner count (RS-810)."""
    world.store.attempts.put(PLAIN, A)
    with unchanged(world):
        assert [step(world, stranger, KEY) for stranger in STRANGERS] == [FENCE_LOST] * 4


@BOTH
def test_attempt_without_its_run(world: World, step: Step) -> None:
    """An attempt whose run is gone is fenced off (RS-842)."""
    world.store.database.rows("PRAGMA foreign_keys = 0")
    world.sql(
        "INSERT INTO flows_attempts(run_id, step_key_digest, attempt, state, started_at_ms, meta_json)"
        " VALUES ('gone', 'step', 0, 'running', 10, '1')"
    )
    with unchanged(world):
        assert step(world, A, tenure.AttemptId("gone", "step", 0)) == FENCE_LOST


@BOTH
@pytest.mark.parametrize(
    "lease", ["DELETE FROM flows_consensus_leases", "UPDATE flows_consensus_leases SET owner_nonce = 'z'"]
)
def test_the_row_is_the_fence(world: World, step: Step, lease: str) -> None:
    """The lease is not asked (RS-810, H-06)."""
    world.store.attempts.put(PLAIN, A)
    world.sql(lease)

    assert step(world, A, KEY) in (UPDATED, FINISHED)


STATES = ("one", "two", 'with "quotes" and \\', "\n", "ü\N{PILE OF POO}")


@BOTH
@pytest.mark.parametrize("state", STATES)
def test_every_configured_state(step: Step, state: str) -> None:
    """Each of the configured states is in progress (RS-801, RS-841)."""
    world = new_world(attempts=tenure.AttemptOptions(STATES))
    world.owned()
    world.store.attempts.put(like(PLAIN, state=state), A)

    assert step(world, A, KEY) in (UPDATED, FINISHED)


@BOTH
@pytest.mark.parametrize("state", ["running", "ONE", "one ", "tw"])
def test_no_other_state(step: Step, state: str) -> None:
    """No other state is, ``running`` not either where it is not configured (RS-801, RS-842)."""
    world = new_world(attempts=tenure.AttemptOptions(STATES))
    world.owned()
    world.store.attempts.put(like(PLAIN, state=state), A)
    with unchanged(world):
        assert step(world, A, KEY) == STATE_CHANGED


@BOTH
@pytest.mark.parametrize("change", ["run_id = run_id", "started_at_ms = -1"])
def test_corrupt_row_moves_on(world: World, step: Step, change: str) -> None:
    """A column that neither decision nor write needs may be corrupt (RS-841, RS-851)."""
    world.store.attempts.put(PLAIN, A)
    world.corrupt(f"UPDATE flows_attempts SET {change}")

    assert step(world, A, KEY) in (UPDATED, FINISHED)


def test_corrupt_columns_that_stay(world: World) -> None:
    """SQLite checks the columns that a finish writes back: a corrupt one fails it until it is replaced (RS-365)."""
    world.store.attempts.put(PLAIN, A)
    world.corrupt("UPDATE flows_attempts SET meta_json = '{'")
    assert beat(world) == UPDATED
    with unchanged(world):
        error = refused(lambda: world.store.attempts.finish(DONE, A))

    assert (error.code, error.method, error.text) == ("constraint", "finish", "attempt persistence failed")
    assert error.cause == {"category": "constraint", "reason": "constraint", "cause": {"code": "constraint"}}
    assert world.store.attempts.finish(ended(meta=1), A) == FINISHED


def test_put_after_the_end(world: World) -> None:
    """What has ended is not put again (RS-822)."""
    world.store.attempts.put(PLAIN, A)
    world.store.attempts.finish(DONE, A)

    assert world.store.attempts.put(PLAIN, A) == CONFLICT
