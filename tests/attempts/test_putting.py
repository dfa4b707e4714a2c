"""Tests of ``put``, in both modes."""

from pathlib import Path

import pytest

import tenure
from tests.attempts.support import (
    CONFLICT,
    DONE,
    EXISTING_SAME,
    FINISHED,
    FULL,
    FULL_JSON,
    INSERTED,
    KEY,
    LEASES,
    LOSSES,
    PATCHED,
    PLAIN,
    RUN_NOT_FOUND,
    STRANGERS,
    UPSERTED,
    beat,
    corrupted,
    ended,
    like,
    lose_ownership,
    refused,
    stored,
)
from tests.runs.support import FENCE_LOST, NOW, UPDATED, A, B, World, new_world, unchanged

BOTH_MODES = pytest.mark.parametrize("mode", ["insert", "upsert"])


@pytest.fixture
def either(request: pytest.FixtureRequest, mode: str) -> World:
    """The world of the mode."""
    world: World = request.getfixturevalue("world" if mode == "insert" else "upserting")
    return world


@BOTH_MODES
def test_insert(either: World) -> None:
    """A first put inserts what it says and nothing else; absent fields are null in SQL (RS-822, RS-813)."""
    revision = either.source_revision()

    assert either.store.attempts.put(PLAIN, A) == INSERTED
    assert stored(either) == ("running", 10, None, None, None, None, None, '{"n":1}')
    assert either.source_revision() == revision
    assert either.recorder.facts == []


@BOTH_MODES
def test_insert_every_field(either: World) -> None:
    """Every field has its column (RS-110, RS-820)."""
    assert either.store.attempts.put(FULL, A) == INSERTED
    assert stored(either) == ("running", 10, 20, 15, *FULL_JSON)


@BOTH_MODES
@pytest.mark.parametrize("state", ["running", "done", "a\nb", "'\"\\", "\N{PILE OF POO}" * 512])
def test_any_state_is_put(either: World, state: str) -> None:
    """Terminal states and odd ones are put like any other, with any fields and any times (RS-821, RS-815)."""
    odd = like(FULL, state=state, started_at_ms=2**53 - 1, finished_at_ms=0, heartbeat_at_ms=2**53 - 1)

    assert either.store.attempts.put(odd, A) == INSERTED
    assert either.store.attempts.get(odd) == odd


@BOTH_MODES
def test_null_is_a_value(either: World) -> None:
    """A null JSON field is stored as JSON's null and read back as ``None`` (RS-813)."""
    nulls = like(PLAIN, checkpoint=None, error=None, outcome=None, meta=None)

    assert either.store.attempts.put(nulls, A) == INSERTED
    assert stored(either) == ("running", 10, None, None, "null", "null", "null", "null")
    assert either.store.attempts.get(KEY) == nulls


@BOTH_MODES
def test_keys_are_apart(either: World) -> None:
    """Run, step and number together name an attempt (RS-110)."""
    either.owned("r2")
    others = (
        like(PLAIN, run_id="r2"),
        like(PLAIN, step_key_digest="step2"),
        like(PLAIN, attempt=2**53 - 1),
    )

    assert [either.store.attempts.put(attempt, A) for attempt in (PLAIN, *others)] == [INSERTED] * 4


@BOTH_MODES
@pytest.mark.parametrize("recorded", ["nothing", "the same", "another"])
def test_no_run(either: World, recorded: str) -> None:
    """Without the run there is nothing to record an attempt of, whatever is recorded (RS-822)."""
    missing = like(PLAIN, run_id="missing")
    if recorded != "nothing":
        either.store.database.rows("PRAGMA foreign_keys = 0")
        state = "running" if recorded == "the same" else "done"
        either.sql(
            "INSERT INTO flows_attempts VALUES ('missing', 'step', 0, ?, 10, ?, ?, ?, ?, ?, ?)",
            state,
            *[None] * 5,
            '{"n":1}',
        )
    with unchanged(either):
        assert either.store.attempts.put(missing, A) == RUN_NOT_FOUND


@BOTH_MODES
@LOSSES
@pytest.mark.parametrize("recorded", ["nothing", "the same", "another"])
def test_fence(either: World, how: str, recorded: str) -> None:
    """Whoever does not own the run is fenced off, even with an identical replay (RS-810, RS-822, RS-862)."""
    if recorded != "nothing":
        either.store.attempts.put(PLAIN, A)
    lose_ownership(either, how)
    put = FULL if recorded == "another" else PLAIN
    with unchanged(either):
        assert either.store.attempts.put(put, A) == FENCE_LOST


@BOTH_MODES
def test_strangers(either: World) -> None:
    """All three fields of the owner count (RS-810)."""
    with unchanged(either):
        assert [either.store.attempts.put(PLAIN, stranger) for stranger in STRANGERS] == [FENCE_LOST] * 4
    either.store.attempts.put(PLAIN, A)
    with unchanged(either):
        assert [either.store.attempts.put(PLAIN, stranger) for stranger in STRANGERS] == [FENCE_LOST] * 4


@BOTH_MODES
def test_pending_run(either: World) -> None:
    """A run that nobody owns yet takes no attempts, not even of its claimant (RS-810)."""
    either.claimed("claimed")
    with unchanged(either):
        assert either.store.attempts.put(like(PLAIN, run_id="claimed"), A) == FENCE_LOST


@BOTH_MODES
@LEASES
def test_the_row_is_the_fence(either: World, lease: str) -> None:
    """The lease is not asked: the run's row decides (RS-810, H-06)."""
    either.sql(lease)

    assert either.store.attempts.put(PLAIN, A) == INSERTED


def test_existing_same(world: World) -> None:
    """A repeated put is answered and changes nothing (RS-822)."""
    for attempt in (PLAIN, like(FULL, attempt=1), like(FULL, attempt=2, state="done")):
        world.store.attempts.put(attempt, A)
        with unchanged(world):
            assert world.store.attempts.put(attempt, A) == EXISTING_SAME


CHANGES: dict[str, object] = {
    "state": "other",
    "started_at_ms": 11,
    "finished_at_ms": 21,
    "heartbeat_at_ms": 16,
    "checkpoint": [1, "two"],
    "error": {"why": "None"},
    "outcome": {"ok": 1, "parts": [1, 2]},
    "meta": {},
}


@pytest.mark.parametrize("field", CHANGES)
def test_conflict(world: World, field: str) -> None:
    """One field that differs is a conflict, and what is recorded stands (RS-822, RS-823)."""
    world.store.attempts.put(FULL, A)
    with unchanged(world):
        assert world.store.attempts.put(like(FULL, **{field: CHANGES[field]}), A) == CONFLICT


@pytest.mark.parametrize("field", ["finished_at_ms", "heartbeat_at_ms", "checkpoint", "error", "outcome"])
def test_absent_equals_only_absent(world: World, field: str) -> None:
    """An absent field differs from every value, either way round (RS-823, RS-328)."""
    lacking = like(FULL, **{field: tenure.ABSENT})
    world.store.attempts.put(FULL, A)
    world.store.attempts.put(like(lacking, attempt=1), A)
    with unchanged(world):
        assert world.store.attempts.put(lacking, A) == CONFLICT
        assert world.store.attempts.put(like(FULL, attempt=1), A) == CONFLICT
        assert world.store.attempts.put(like(lacking, attempt=1), A) == EXISTING_SAME


@pytest.mark.parametrize("field", ["checkpoint", "error", "outcome"])
def test_null_is_not_absent(world: World, field: str) -> None:
    """Null equals only null (RS-813, RS-823)."""
    null = like(PLAIN, **{field: None})
    world.store.attempts.put(PLAIN, A)
    world.store.attempts.put(like(null, attempt=1), A)
    with unchanged(world):
        assert world.store.attempts.put(null, A) == CONFLICT
        assert world.store.attempts.put(like(PLAIN, attempt=1), A) == CONFLICT
        assert world.store.attempts.put(like(null, attempt=1), A) == EXISTING_SAME


EQUAL: list[tuple[object, object]] = [
    ({"a": 1, "b": [2]}, {"b": [2], "a": 1}),
    (1, 1.0),
    (0, -0.0),
    (1e21, 10.0**21),
    ([{"": {}}], [{"": {}}]),
    ("é\N{PILE OF POO}\0\u007f", "é\N{PILE OF POO}\0\u007f"),
    (2**53 - 1, float(2**53 - 1)),
    (None, None),
]
UNEQUAL: list[tuple[object, object]] = [
    ([1, 2], [2, 1]),
    (1, True),
    (0, False),
    (1.0, True),
    (1, "1"),
    (None, False),
    ({}, []),
    ({"a": 1}, {"a": 1, "b": None}),
    ([1], [1, 1]),
    (0.1, 0.1 + 2**-53),
    ("é", "e\u0301"),
]


@pytest.mark.parametrize("field", ["checkpoint", "error", "outcome", "meta"])
@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_json(world: World, field: str, one: object, other: object) -> None:
    """JSON is compared by value: key order and the kind of a number do not count (RS-328, RS-823)."""
    world.store.attempts.put(like(PLAIN, **{field: one}), A)
    with unchanged(world):
        assert world.store.attempts.put(like(PLAIN, **{field: other}), A) == EXISTING_SAME


@pytest.mark.parametrize("field", ["checkpoint", "error", "outcome", "meta"])
@pytest.mark.parametrize(("one", "other"), UNEQUAL)
def test_unequal_json(world: World, field: str, one: object, other: object) -> None:
    """The order of an array counts, and a boolean is no number (RS-328, RS-823)."""
    world.store.attempts.put(like(PLAIN, **{field: one}), A)
    world.store.attempts.put(like(PLAIN, attempt=1, **{field: other}), A)
    with unchanged(world):
        assert world.store.attempts.put(like(PLAIN, **{field: other}), A) == CONFLICT
        assert world.store.attempts.put(like(PLAIN, attempt=1, **{field: one}), A) == CONFLICT


def test_replay_after_the_attempt_moved(world: World) -> None:
    """A put repeated after a write that changed a field is a conflict, after one that changed none it is not (H-22)."""
    world.store.attempts.put(PLAIN, A)
    world.store.attempts.patch(KEY, tenure.AttemptPatch(meta={"n": 1.0}), A)
    assert world.store.attempts.put(PLAIN, A) == EXISTING_SAME

    assert beat(world) == UPDATED
    assert world.store.attempts.put(PLAIN, A) == CONFLICT
    assert world.store.attempts.put(like(PLAIN, heartbeat_at_ms=NOW), A) == EXISTING_SAME


def test_replay_after_the_end(world: World) -> None:
    """A finished attempt is another one than the one that was put (RS-823)."""
    world.store.attempts.put(PLAIN, A)
    world.store.attempts.finish(DONE, A)
    with unchanged(world):
        assert world.store.attempts.put(PLAIN, A) == CONFLICT
        assert world.store.attempts.put(like(PLAIN, state="done", finished_at_ms=30), A) == EXISTING_SAME


def test_upsert_overwrites_everything(upserting: World) -> None:
    """What is in progress is overwritten whole: absent fields go, the heartbeat may move back (RS-822)."""
    upserting.store.attempts.put(FULL, A)

    assert upserting.store.attempts.put(like(PLAIN, heartbeat_at_ms=0, meta=[]), A) == UPSERTED
    assert stored(upserting) == ("running", 10, None, 0, None, None, None, "[]")
    assert upserting.store.attempts.put(like(FULL, started_at_ms=9), A) == UPSERTED
    assert upserting.store.attempts.get(KEY) == like(FULL, started_at_ms=9)


def test_upsert_of_the_same(upserting: World) -> None:
    """Identical content is ``Upserted`` as well (RS-822)."""
    upserting.store.attempts.put(FULL, A)
    with unchanged(upserting):
        assert upserting.store.attempts.put(FULL, A) == UPSERTED


def test_upsert_into_a_terminal_state(upserting: World) -> None:
    """A put may end the attempt; after that it is compared like any other (RS-822)."""
    ended = like(PLAIN, state="done")
    upserting.store.attempts.put(PLAIN, A)

    assert upserting.store.attempts.put(ended, A) == UPSERTED
    with unchanged(upserting):
        assert upserting.store.attempts.put(ended, A) == EXISTING_SAME
        assert upserting.store.attempts.put(PLAIN, A) == CONFLICT


@pytest.mark.parametrize("state", ["one", "two", 'with "quotes" and \\', "\n", "ü\N{PILE OF POO}"])
def test_upsert_of_every_state_in_progress(state: str) -> None:
    """Each of the configured states is in progress, and no other is (RS-801, RS-822)."""
    states = ("one", "two", 'with "quotes" and \\', "\n", "ü\N{PILE OF POO}")
    world = new_world(attempts={"inProgressStates": list(states), "putMode": "upsert"})
    world.owned()
    world.store.attempts.put(like(PLAIN, state=state), A)
    world.store.attempts.put(like(PLAIN, attempt=1, state="running"), A)

    assert world.store.attempts.put(like(PLAIN, state="running"), A) == UPSERTED
    assert world.store.attempts.put(like(PLAIN, attempt=1, state=state), A) == CONFLICT


def test_modes_of_two_stores_on_one_file(tmp_path: Path) -> None:
    """The mode belongs to the store, not to the attempt (RS-803)."""
    path = str(tmp_path / "runs.db")
    inserting, overwriting = new_world(path), new_world(path, attempts={"putMode": "upsert"})
    inserting.owned()
    inserting.store.attempts.put(PLAIN, A)

    assert inserting.store.attempts.put(FULL, A) == CONFLICT
    assert overwriting.store.attempts.put(FULL, A) == UPSERTED
    assert inserting.store.attempts.put(FULL, A) == EXISTING_SAME


CORRUPT = ["state = ''", "started_at_ms = -1", "checkpoint_json = '{'", "meta_json = ''", "finished_at_ms = 1.5"]


@pytest.mark.parametrize("change", CORRUPT)
def test_corrupt_row_in_the_comparison(world: World, change: str) -> None:
    """What is recorded and does not decode cannot be compared (RS-824)."""
    corrupted(world, change)
    with unchanged(world):
        error = refused(lambda: world.store.attempts.put(FULL, A))

    column = change.split()[0]
    complaint = {"checkpoint_json": "must be valid JSON text", "meta_json": "must be non-empty JSON text"}.get(column)
    text = "could not decode flows_attempts row" if complaint is None else f"{column} {complaint}"
    assert error == tenure.AttemptStoreError("decode_failed", "put", text)


def test_undecodable_text_in_the_comparison(world: World) -> None:
    """Bytes that are no text are a row that does not decode, and no failure of storage (RS-824)."""
    corrupted(world, "state = CAST(x'ff' AS TEXT)")

    error = refused(lambda: world.store.attempts.put(FULL, A))

    assert error == tenure.AttemptStoreError("decode_failed", "put", "could not decode flows_attempts row")
    assert world.store.attempts.put(like(FULL, attempt=1), A) == INSERTED


@pytest.mark.parametrize("change", [*CORRUPT, "state = CAST(x'ff' AS TEXT)"])
def test_fence_comes_before_a_corrupt_row(world: World, change: str) -> None:
    """Whoever does not own the run is not told of what is recorded (RS-822, RS-824)."""
    corrupted(world, change)

    assert world.store.attempts.put(FULL, B) == FENCE_LOST


@pytest.mark.parametrize("change", CORRUPT[1:])
def test_upsert_mends_a_corrupt_row(upserting: World, change: str) -> None:
    """An attempt in progress is overwritten, not compared (RS-822)."""
    corrupted(upserting, change)

    assert upserting.store.attempts.put(FULL, A) == UPSERTED
    assert upserting.store.attempts.get(KEY) == FULL


def test_full_life(world: World) -> None:
    """Put, beat, patch, finish and read, one after the other."""
    attempts = world.store.attempts

    outcomes = [
        attempts.put(PLAIN, A),
        beat(world, checkpoint={"at": 3}),
        attempts.patch(KEY, tenure.AttemptPatch(meta="m"), A),
        attempts.finish(ended(outcome=[1.5]), A),
    ]

    assert outcomes == [INSERTED, UPDATED, PATCHED, FINISHED]
    assert attempts.get(KEY) == tenure.Attempt(
        "r", "step", 0, "done", 10, "m", finished_at_ms=30, heartbeat_at_ms=NOW, checkpoint={"at": 3}, outcome=[1.5]
    )
