"""Tests of ``get``, and of rows that cannot be decoded."""

from pathlib import Path

import pytest

import tenure
from tests.attempts.support import FULL, INSERTED, KEY, LOSSES, PLAIN, beat, corrupted, like, lose_ownership, refused
from tests.database.support import raw
from tests.runs.support import UPDATED, A, World, new_world

MAX = 16 * 1024 * 1024


def test_missing(world: World) -> None:
    """What is not there is ``None`` (RS-830)."""
    world.store.attempts.put(PLAIN, A)

    keys = (("x", "step", 0), ("r", "x", 0), ("r", "step", 1))
    assert [world.store.attempts.get(tenure.AttemptId(*key)) for key in keys] == [None] * 3


@pytest.mark.parametrize("attempt", [PLAIN, FULL, like(FULL, finished_at_ms=0, heartbeat_at_ms=0)])
def test_round_trip(world: World, attempt: tenure.Attempt) -> None:
    """What was put is answered, absent fields absent (RS-830, RS-813)."""
    world.store.attempts.put(attempt, A)

    assert world.store.attempts.get(KEY) == attempt


def test_members_keep_their_order(world: World) -> None:
    """The members of an object come back in the order they were given in (RS-814)."""
    world.store.attempts.put(like(PLAIN, meta={"z": 1, "a": {"y": 1, "b": 2}}), A)

    read = world.store.attempts.get(KEY)

    assert read is not None
    assert isinstance(read.meta, dict)
    assert list(read.meta) == ["z", "a"]
    assert list(read.meta["a"]) == ["y", "b"]


@LOSSES
def test_no_fence(world: World, how: str) -> None:
    """Whatever became of the run, its attempts can be read (RS-830)."""
    world.store.attempts.put(FULL, A)
    lose_ownership(world, how)

    assert world.store.attempts.get(KEY) == FULL


def test_nothing_is_shared(world: World) -> None:
    """What is answered is the caller's own (RS-300)."""
    meta: dict[str, object] = {"n": [1]}
    world.store.attempts.put(like(PLAIN, meta=meta), A)
    meta["n"] = 2
    first = world.store.attempts.get(KEY)
    assert first is not None
    assert isinstance(first.meta, dict)
    first.meta["n"].append(3)

    again = world.store.attempts.get(KEY)

    assert again is not None
    assert again.meta == {"n": [1]}


ROW = [
    "state = ''",
    "state = x'61'",
    "state = 'a' || char(0)",
    "state = CAST(x'ff' AS TEXT)",
    "state = printf('%.*c', 1025, 'x')",
    "started_at_ms = -1",
    "started_at_ms = 'x'",
    "started_at_ms = 9007199254740992",
    "finished_at_ms = 1.5",
    "finished_at_ms = -1",
    "heartbeat_at_ms = x'00'",
    "heartbeat_at_ms = 9007199254740992",
    "state = '', checkpoint_json = '{'",
]


def nested(depth: int) -> str:
    """An SQL text of arrays in arrays; the innermost is at this depth."""
    return "'" + "[" * (depth + 1) + "]" * (depth + 1) + "'"


def repeated(count: int) -> str:
    """An SQL text of an array of so many ones."""
    return "'[' || replace(printf('%." + str(count - 1) + "c', 'x'), 'x', '1,') || '1]'"


COLUMN = [
    ("checkpoint_json", "''", "must be non-empty JSON text"),
    ("checkpoint_json", "'{'", "must be valid JSON text"),
    ("checkpoint_json", "x'7b7d'", "must be non-empty JSON text"),
    ("error_json", "'NaN'", "must be valid JSON text"),
    ("error_json", "'1e400'", "contains a non-finite number"),
    ("error_json", nested(129), "exceeds the maximum JSON depth of 128"),
    ("outcome_json", "'\"\\ud800\"'", "contains unbounded or ill-formed text"),
    ("outcome_json", "'{\"\\ud800\":1}'", "contains an unbounded or ill-formed object key"),
    ("outcome_json", repeated(100_000), "contains more than 100000 JSON values"),
    ("meta_json", repeated(100_001), "exceeds the JSON members limit"),
    ("meta_json", "'{} {}'", "must be valid JSON text"),
    ("meta_json", "char(65279) || '1'", "must be valid JSON text"),
]


@pytest.mark.parametrize("change", ROW)
def test_undecodable_row(world: World, change: str) -> None:
    """Identifiers, times and the state are judged before any JSON, in one text without a cause (RS-830, RS-365)."""
    corrupted(world, change)

    error = refused(lambda: world.store.attempts.get(KEY))

    assert error == tenure.AttemptStoreError("decode_failed", "get", "could not decode flows_attempts row")
    assert error.message == "decode_failed: AttemptStore.get: could not decode flows_attempts row"
    assert error.cause is None


def test_undecodable_key(world: World) -> None:
    """A key that equals what was asked for and is no integer does not decode (RS-830)."""
    world.sql(
        "CREATE TABLE copied(run_id, step_key_digest, attempt, state, started_at_ms, finished_at_ms,"
        " heartbeat_at_ms, checkpoint_json, error_json, outcome_json, meta_json)"
    )
    world.sql("INSERT INTO copied VALUES ('r', 'step', 0.0, 'x', 1, ?, ?, ?, ?, ?, '1')", *[None] * 5)
    world.sql("DROP TABLE flows_attempts")
    world.sql("ALTER TABLE copied RENAME TO flows_attempts")

    assert refused(lambda: world.store.attempts.get(KEY)).text == "could not decode flows_attempts row"


@pytest.mark.parametrize(("column", "value", "complaint"), COLUMN)
def test_undecodable_column(world: World, column: str, value: str, complaint: str) -> None:
    """A JSON column names itself and what is wrong with it, and nothing of what it holds (RS-830, RS-326)."""
    corrupted(world, f"{column} = {value}")

    error = refused(lambda: world.store.attempts.get(KEY))

    assert error == tenure.AttemptStoreError("decode_failed", "get", f"{column} {complaint}")


def test_missing_meta(world: World) -> None:
    """Only the optional columns may be null in SQL (RS-830, RS-110)."""
    world.sql("CREATE TABLE copied AS SELECT * FROM flows_attempts")
    world.sql("DROP TABLE flows_attempts")
    world.sql("ALTER TABLE copied RENAME TO flows_attempts")
    world.sql("INSERT INTO flows_attempts VALUES ('r', 'step', 0, 'running', 1, ?, ?, ?, ?, ?, ?)", *[None] * 6)

    error = refused(lambda: world.store.attempts.get(KEY))

    assert error.text == "meta_json must be non-empty JSON text"


def test_columns_are_judged_in_their_order(world: World) -> None:
    """Checkpoint, error, outcome, meta: the first that fails is told (RS-830)."""
    order = ("checkpoint_json", "error_json", "outcome_json", "meta_json")
    corrupted(world, ", ".join(f"{column} = '{{'" for column in order))
    told = []
    for column in order:
        told.append(refused(lambda: world.store.attempts.get(KEY)).text)
        world.corrupt(f"UPDATE flows_attempts SET {column} = '1'")

    assert told == [f"{column} must be valid JSON text" for column in order]


@pytest.mark.parametrize("extra", [0, 1])
def test_largest_checkpoint(world: World, extra: int) -> None:
    """A stored checkpoint may have 16 MiB of text, whatever the store is configured to take (RS-830)."""
    corrupted(world, f"checkpoint_json = '\"' || printf('%.{MAX - 2 + extra}c', 'x') || '\"'")

    if extra:
        assert refused(lambda: world.store.attempts.get(KEY)).text == "checkpoint_json exceeds the JSON byte limit"
    else:
        assert world.store.attempts.get(KEY) == like(FULL, checkpoint="x" * (MAX - 2))


@pytest.mark.parametrize("field", ["error_json", "outcome_json", "meta_json"])
def test_other_columns_have_no_ceiling(world: World, field: str) -> None:
    """Only checkpoints are bounded in bytes (RS-014, RS-830)."""
    corrupted(world, f"{field} = '\"' || printf('%.{MAX}c', 'x') || '\"'")

    assert world.store.attempts.get(KEY) is not None


def test_what_others_wrote(world: World) -> None:
    """Text with blanks, duplicate keys and large integers decodes as JSON does (RS-326, RS-329)."""
    corrupted(world, 'meta_json = \' { "a" : 1, "a" : 9007199254740993 } \'')

    assert world.store.attempts.get(KEY) == like(FULL, meta={"a": 9007199254740992.0})


@pytest.mark.parametrize("change", [*ROW, "meta_json = '{'"])
def test_corrupt_row_poisons_no_other(world: World, change: str) -> None:
    """Other attempts of the same step are read and worked on as ever (RS-830)."""
    corrupted(world, change)
    other = like(FULL, attempt=1)

    assert world.store.attempts.put(other, A) == INSERTED
    assert world.store.attempts.get(other) == other
    assert beat(world, now_ms=5, key=tenure.AttemptId("r", "step", 1)) == UPDATED


def test_read_while_another_writes(tmp_path: Path) -> None:
    """Reading waits for nobody (RS-830, RS-390)."""
    world = new_world(str(tmp_path / "runs.db"), busy_timeout_ms=0)
    world.owned()
    world.store.attempts.put(FULL, A)
    holder = raw(tmp_path / "runs.db")
    holder.execute("BEGIN IMMEDIATE")

    assert world.store.attempts.get(KEY) == FULL


def test_read_inside_ones_own_transaction(world: World) -> None:
    """Inside a transaction its own writes are seen, and gone with it (RS-390)."""
    seen: list[tenure.Attempt | None] = []

    def put_read_fail() -> None:
        world.store.attempts.put(FULL, A)
        seen.append(world.store.attempts.get(KEY))
        raise RuntimeError("undo")

    with pytest.raises(RuntimeError, match="undo"):
        world.store.write(put_read_fail)

    assert seen == [FULL]
    assert world.store.attempts.get(KEY) is None
