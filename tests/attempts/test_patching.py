"""Tests of ``patch``."""

import pytest

import tenure
from tests.attempts.support import (
    DONE,
    FULL,
    KEY,
    LOSSES,
    PATCHED,
    PLAIN,
    STRANGERS,
    like,
    lose_ownership,
    stored,
)
from tests.runs.support import FENCE_LOST, NOT_FOUND, A, World, unchanged

COLUMNS = {"checkpoint": 4, "error": 5, "outcome": 6, "meta": 7}
SOMETHING = tenure.AttemptPatch(meta="new")


@pytest.mark.parametrize("state", ["running", "done"])
@pytest.mark.parametrize("field", COLUMNS)
@pytest.mark.parametrize(
    ("value", "text"), [(None, "null"), ({"z": 1, "a": [1e21]}, '{"z":1,"a":[1e+21]}'), ("", '""')]
)
def test_supplied_field(world: World, state: str, field: str, value: object, text: str) -> None:
    """Each supplied field alone is replaced, in any state, null included (RS-861, RS-813)."""
    world.store.attempts.put(like(FULL, state=state), A)
    before = list(stored(world) or ())
    revision = world.source_revision()

    assert world.store.attempts.patch(KEY, tenure.AttemptPatch(**{field: value}), A) == PATCHED
    before[COLUMNS[field]] = text
    assert list(stored(world) or ()) == before
    assert world.source_revision() == revision
    assert world.recorder.facts == []


@pytest.mark.parametrize("state", ["running", "done"])
@pytest.mark.parametrize("attempt", [PLAIN, FULL])
def test_empty_patch(world: World, state: str, attempt: tenure.Attempt) -> None:
    """A patch of nothing is ``Patched`` and changes nothing (RS-861)."""
    world.store.attempts.put(like(attempt, state=state), A)
    with unchanged(world):
        assert world.store.attempts.patch(KEY, tenure.AttemptPatch(), A) == PATCHED
        assert world.store.attempts.patch(KEY, {}, A) == PATCHED  # type: ignore[arg-type]  # wire form


def test_whole_patch(world: World) -> None:
    """All four at once, also after the end (RS-861, H-22)."""
    world.store.attempts.put(PLAIN, A)
    world.store.attempts.finish(DONE, A)

    assert world.store.attempts.patch(KEY, tenure.AttemptPatch(1, 2, 3, 4), A) == PATCHED
    assert stored(world) == ("done", 10, 30, None, "1", "2", "3", "4")


def test_an_attempt_is_an_id(world: World) -> None:
    """What ``get`` answered, and any record with the three fields, names the attempt (RS-812)."""
    world.store.attempts.put(PLAIN, A)
    read = world.store.attempts.get(KEY)
    assert read is not None

    wire = {"runId": "r", "stepKeyDigest": "step", "attempt": 0, "other": object()}
    outcomes = [world.store.attempts.patch(id, SOMETHING, A) for id in (read, PLAIN, DONE, wire)]  # type: ignore[arg-type]  # wire form

    assert outcomes == [PATCHED] * 4


@pytest.mark.parametrize("patch", [SOMETHING, tenure.AttemptPatch()])
def test_missing_attempt(world: World, patch: tenure.AttemptPatch) -> None:
    """Run, step and number must all be those of an attempt (RS-861)."""
    world.owned("r2")
    world.store.attempts.put(PLAIN, A)
    with unchanged(world):
        for run_id, step_key_digest, attempt in (("r2", "step", 0), ("r", "other", 0), ("r", "step", 1), ("x", "s", 0)):
            key = tenure.AttemptId(run_id, step_key_digest, attempt)
            assert world.store.attempts.patch(key, patch, A) == NOT_FOUND


@LOSSES
def test_missing_attempt_comes_first(world: World, how: str) -> None:
    """A missing attempt is missing whatever became of the run (RS-861, RS-862)."""
    lose_ownership(world, how)
    with unchanged(world):
        assert world.store.attempts.patch(KEY, SOMETHING, A) == NOT_FOUND


@LOSSES
@pytest.mark.parametrize("state", ["running", "done"])
@pytest.mark.parametrize("patch", [SOMETHING, tenure.AttemptPatch()])
def test_fence(world: World, how: str, state: str, patch: tenure.AttemptPatch) -> None:
    """Whoever does not own the run is fenced off, even with an empty patch (RS-861, RS-862)."""
    world.store.attempts.put(like(PLAIN, state=state), A)
    lose_ownership(world, how)
    with unchanged(world):
        assert world.store.attempts.patch(KEY, patch, A) == FENCE_LOST


def test_strangers(world: World) -> None:
    """All three fields of the owner count (RS-810)."""
    world.store.attempts.put(PLAIN, A)
    with unchanged(world):
        assert [world.store.attempts.patch(KEY, SOMETHING, stranger) for stranger in STRANGERS] == [FENCE_LOST] * 4


def test_attempt_without_its_run(world: World) -> None:
    """An attempt whose run is gone is fenced off (RS-861)."""
    world.store.database.rows("PRAGMA foreign_keys = 0")
    world.sql(
        "INSERT INTO flows_attempts(run_id, step_key_digest, attempt, state, started_at_ms, meta_json)"
        " VALUES ('gone', 'step', 0, 'running', 10, '1')"
    )
    with unchanged(world):
        assert world.store.attempts.patch(tenure.AttemptId("gone", "step", 0), SOMETHING, A) == FENCE_LOST


@pytest.mark.parametrize(
    "lease", ["DELETE FROM flows_consensus_leases", "UPDATE flows_consensus_leases SET owner_nonce = 'z'"]
)
def test_the_row_is_the_fence(world: World, lease: str) -> None:
    """The lease is not asked (RS-810, H-06)."""
    world.store.attempts.put(PLAIN, A)
    world.sql(lease)

    assert world.store.attempts.patch(KEY, SOMETHING, A) == PATCHED


def test_a_patch_mends_a_corrupt_column(world: World) -> None:
    """What does not decode can be replaced (RS-861)."""
    world.store.attempts.put(FULL, A)
    world.corrupt("UPDATE flows_attempts SET outcome_json = '{'")

    assert world.store.attempts.patch(KEY, tenure.AttemptPatch(outcome=[]), A) == PATCHED
    assert world.store.attempts.get(KEY) == like(FULL, outcome=[])
