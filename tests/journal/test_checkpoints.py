"""Tests of checkpoints."""

import pytest

import tenure
from tests.journal.support import MAX, NOW, A, B, World, refused, rolled_back, unchanged


@pytest.fixture
def owned(world: World) -> World:
    """A run of three entries that ``A`` owns."""
    world.own()
    world.fill(3)
    return world


def test_a_checkpoint_is_stored_and_answered(owned: World) -> None:
    """The answer is what was stored, with the clock of the call (JN-272)."""
    state = {"b": 1, "a": [1.0, float("nan")]}
    answer = owned.journal.checkpoint("r", 1, state, A)

    assert answer == tenure.Checkpoint("r", 1, {"b": 1, "a": [1, None]}, NOW, None)
    assert owned.rows("SELECT * FROM flows_journal_checkpoints") == [("r", 1, '{"b":1,"a":[1,null]}', NOW, None)]


def test_the_answer_shares_nothing_with_the_state_given(owned: World) -> None:
    """Decoded from what was stored (JN-272)."""
    state: dict[str, list[int]] = {"a": []}
    answer = owned.journal.checkpoint("r", 1, state, A)
    state["a"].append(1)

    assert answer.state == {"a": []}


def test_the_last_writer_wins(owned: World) -> None:
    """State and time are replaced (JN-272)."""
    owned.journal.checkpoint("r", 1, "first", A)
    owned.clock.ms += 3
    owned.journal.checkpoint("r", 1, "second", A)

    assert owned.rows("SELECT * FROM flows_journal_checkpoints") == [("r", 1, '"second"', NOW + 3, None)]


def test_state_is_neither_redacted_nor_sorted(owned: World) -> None:
    """Unlike payloads (JN-050, JN-272)."""
    owned.journal.checkpoint("r", 1, {"z": 1, "password": "hunter2"}, A)

    assert owned.rows("SELECT state_json FROM flows_journal_checkpoints") == [('{"z":1,"password":"hunter2"}',)]


def test_refusals_come_in_their_order(owned: World) -> None:
    """Owner, status, options, state, fence, entry, floor (JN-270)."""
    checkpoint = owned.journal.checkpoint
    with unchanged(owned):
        errors = [
            refused(lambda: checkpoint("", -1, object(), None)),  # type: ignore[arg-type]  # malformed on purpose
            refused(lambda: checkpoint("r", MAX, object(), B)),
            refused(lambda: checkpoint("r", 9, object(), B)),
            refused(lambda: checkpoint("r", 9, None, B)),
            refused(lambda: checkpoint("r", 9, None, A)),
        ]

    assert [(error.code, error.text) for error in errors] == [
        ("invalid_event", "checkpoint requires a well-formed owner fence"),
        ("invalid_event", "checkpoint options violate the journal contract"),
        ("invalid_event", "state must be JSON-serializable"),
        ("fence_lost", "run r is no longer owned by h2:2:b"),
        ("checkpoint_invalid", "checkpoint sequence 9 names no committed entry of run r"),
    ]
    assert errors[-1].checkpoint_seq is tenure.ABSENT


def test_a_closed_journal_takes_no_checkpoint(owned: World) -> None:
    """After the owner's shape and before everything else (JN-233)."""
    owned.journal.close()

    assert refused(lambda: owned.journal.checkpoint("", -1, object(), A)).code == "journal_closed"
    assert refused(lambda: owned.journal.checkpoint("r", 1, None, None)).code == "invalid_event"  # type: ignore[arg-type]  # malformed on purpose


def test_a_checkpoint_at_the_floor_names_it_and_one_below_does_not(owned: World) -> None:
    """Below the floor there are no rows (JN-271)."""
    owned.journal.checkpoint("r", 1, None, A)
    owned.journal.compact("r", A)
    at = refused(lambda: owned.journal.checkpoint("r", 1, None, A))
    below = refused(lambda: owned.journal.checkpoint("r", 0, None, A))

    assert (at.code, at.checkpoint_seq) == ("checkpoint_invalid", 1)
    assert at.text == "run r is already compacted through sequence 1"
    assert below.text == "checkpoint sequence 0 names no committed entry of run r"
    assert owned.journal.checkpoint("r", 2, None, A).seq == 2


def test_a_checkpoint_rolls_back_with_its_transaction(owned: World) -> None:
    """Inside a transaction it is a savepoint (JN-274)."""
    with rolled_back(owned.journal.transact()):
        owned.journal.checkpoint("r", 1, None, A)

    assert owned.journal.latest_checkpoint("r") is None


@pytest.mark.parametrize("reading", [-1, float("nan"), 2.0**60])
def test_a_clock_that_says_nothing_usable_fails_the_write(owned: World, reading: float) -> None:
    """No column of times takes such a reading."""
    owned.clock.ms = reading
    error = refused(lambda: owned.journal.checkpoint("r", 1, None, A))

    assert (error.code, error.text) == ("sink_failed", "durable checkpoint write failed")


@pytest.mark.parametrize(
    ("on", "text"),
    [
        ("flows_journal_checkpoints", "durable checkpoint write failed"),
        ("flows_consensus_leases", "consensus guard failed"),
    ],
)
def test_failing_storage_is_a_failed_sink(owned: World, on: str, text: str) -> None:
    """Its cause is the database's failure (JN-270, JN-084)."""
    owned.fail(on=on)
    error = refused(lambda: owned.journal.checkpoint("r", 1, None, A))

    assert (error.code, error.text) == ("sink_failed", text)
    assert isinstance(error.cause, tenure.DatabaseError)


def test_a_state_can_nest_as_deep_as_the_database_takes(owned: World) -> None:
    """1,000 containers are stored and read back; one more is refused before the database sees it."""
    deep: object = []
    for _ in range(999):
        deep = [deep]

    answer: object = owned.journal.checkpoint("r", 1, deep, A).state
    depth = 0
    while isinstance(answer, list):
        answer = answer[0] if answer else None
        depth += 1

    assert depth == 1_000
    assert refused(lambda: owned.journal.checkpoint("r", 1, [deep], A)).text == "state must be JSON-serializable"
