"""Pages of entries, checkpoints and generations as readers get them."""

import pytest

from tenure_model.vocabulary.journal import Checkpoint, EntriesPage, Entry, Generation
from tests.semantics.journal.journals import (
    A,
    B,
    after,
    also_opened,
    call,
    code,
    compacted,
    emitted,
    event,
    opened,
    planted,
    world,
)
from tests.semantics.journal.journals import begun as begun_
from tests.semantics.worlds import ALICE, T


def seqs(page: object) -> tuple[list[int], bool]:
    """The sequences of a page, and whether there is more."""
    assert isinstance(page, EntriesPage)
    return [entry.seq for entry in page.entries], page.has_more


def test_an_entry() -> None:
    """An entry carries what was stored: canonical and redacted, a missing meta as null (JN-025, JN-042)."""
    state = emitted(opened(), {"b": 1, "apiKey": "k"}, sourceSeq=3)

    page = call(state, "journal.entries", runId="r", limit=1).outcome

    payload = {"apiKey": "[REDACTED]", "b": 1}
    assert page == EntriesPage((Entry("r", 0, "flows:event:1:r1:p3", "p", 3, T, "t", payload, None),), has_more=False)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"limit": 9}, ([0, 1, 2, 3], False)),
        ({"limit": 4}, ([0, 1, 2, 3], False)),
        ({"limit": 3}, ([0, 1, 2], True)),
        ({"limit": 9, "after": 1}, ([2, 3], False)),
        ({"limit": 9, "after": 3}, ([], False)),
        ({"limit": 1, "eventTypes": ["u"]}, ([1], True)),
        ({"limit": 2, "eventTypes": ["u", "u"]}, ([1, 3], False)),
        ({"limit": 9, "eventTypes": ["u", "v"], "after": 1}, ([3], False)),
        ({"limit": 9, "eventTypes": ["v"]}, ([], False)),
    ],
)
def test_pages(options: dict[str, object], expected: tuple[list[int], bool]) -> None:
    """Rows above the cursor, filtered before the limit, and whether one more matches (JN-251)."""
    state = opened()
    for number in range(4):
        state = after(state, "journal.emitDurableUnfenced", input={**event(number), "eventType": "tu"[number % 2]})

    assert seqs(call(state, "journal.entries", runId="r", **options).outcome) == expected


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"limit": 0},
        {"limit": 10_001},
        {"limit": True},
        {"limit": 1.0},
        {"limit": 1, "after": -1},
        {"limit": 1, "after": None},
        {"limit": 1, "eventTypes": []},
        {"limit": 1, "eventTypes": ["t"] * 65},
        {"limit": 1, "eventTypes": [""]},
        {"limit": 1, "eventTypes": "t"},
        {"limit": 1, "runId": ""},
    ],
)
def test_bad_options(options: dict[str, object]) -> None:
    """A read that breaks its contract is invalid (JN-250)."""
    assert code(call(opened(), "journal.entries", **{"runId": "r", **options})) == "invalid_event"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, None),
        ({"after": 1}, None),
        ({"after": 2}, ([3, 4], False)),
        ({"after": 3}, ([4], False)),
        ({"eventTypes": ["none"]}, None),
        ({"eventTypes": ["none"], "after": 2}, ([], False)),
    ],
)
def test_below_the_floor(options: dict[str, object], expected: object) -> None:
    """A cursor below floor - 1 is refused with the floor, whatever is filtered; floor - 1 is served (JN-252)."""
    state = compacted(emitted(opened(), *range(5)), 3)

    step = call(state, "journal.entries", runId="r", limit=9, **options)

    if expected is None:
        assert code(step) == "compacted"
        assert getattr(step.outcome, "checkpoint_seq", None) == 3
        assert str(step.outcome) == "run r is compacted through sequence 3; resync from its checkpoint"
    else:
        assert seqs(step.outcome) == expected


def test_a_row_that_does_not_decode() -> None:
    """It spoils its page and no other, and ``compacted`` comes first (JN-253)."""
    state = planted(emitted(opened(), 0), 5, source_id="x" * 1025)

    assert code(call(state, "journal.entries", runId="r", limit=9)) == "decode_failed"
    assert seqs(call(state, "journal.entries", runId="r", limit=1).outcome) == ([0], True)
    floor = compacted(emitted(state, 1), 6)
    assert code(call(floor, "journal.entries", runId="r", limit=9)) == "compacted"


def test_reads_see_the_sessions_own_transaction() -> None:
    """Inside a transaction a session reads its rows, and nobody else does (JN-193)."""
    state = emitted(after(also_opened(opened(), B), "session.begin"), 1)

    assert seqs(call(state, "journal.entries", A, runId="r", limit=1).outcome) == ([0], False)
    assert seqs(call(state, "journal.entries", B, runId="r", limit=1).outcome) == ([], False)


def test_latest_checkpoint() -> None:
    """The one with the largest sequence, compacted or not; none of a run without any (JN-275)."""
    state = compacted(emitted(opened(), *range(4)), 1)
    assert call(state, "journal.latestCheckpoint", runId="r").outcome == Checkpoint("r", 1, {"at": 1}, T, T)
    assert call(state, "journal.latestCheckpoint", runId="s").outcome is None

    state = after(state, "journal.checkpoint", "a", T + 5, runId="r", seq=3, state=[1.5], owner=ALICE)
    assert call(state, "journal.latestCheckpoint", runId="r").outcome == Checkpoint("r", 3, [1.5], T + 5, None)


@pytest.mark.parametrize("operation", ["journal.latestCheckpoint", "journal.generation"])
@pytest.mark.parametrize("run_id", ["", None, 1, "\0"])
def test_bad_run_id(operation: str, run_id: object) -> None:
    """A run id that is no identifier is invalid (JN-275)."""
    step = call(opened(), operation, runId=run_id)

    assert (code(step), str(step.outcome)) == ("invalid_event", "runId violates the journal identifier contract")


def test_generation() -> None:
    """What a rewinder wrote, or 0 and -1 (JN-341)."""
    state = after(opened(), "generation.write", runId="r", generation=2, afterSeq=7)

    assert call(state, "journal.generation", runId="r").outcome == Generation(2, 7)
    assert call(state, "journal.generation", runId="s").outcome == Generation(0, -1)


@pytest.mark.parametrize(
    "operation", ["journal.entries", "journal.latestCheckpoint", "journal.generation", "stream.open", "changes.open"]
)
def test_without_a_journal(operation: str) -> None:
    """A session without a journal has nothing to read from (JN-420)."""
    assert code(call(world(), operation)) == "journal_closed"


def test_published_and_read_entries_are_values_of_their_own() -> None:
    """What a reader does to a payload reaches nobody else (JN-260)."""
    state, changes = begun_(opened(), "changes.open")
    state = emitted(state, {"a": [1]})
    page = call(state, "journal.entries", runId="r", limit=1).outcome
    assert isinstance(page, EntriesPage)
    payload = page.entries[0].payload
    assert isinstance(payload, dict)
    payload["a"].append(2)

    taken = call(state, "changes.take", changes=changes).outcome
    assert isinstance(taken, tuple)
    assert taken[0].payload == {"a": [1]}


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("journal.entries", {"runId": "r", "limit": 1}),
        ("journal.latestCheckpoint", {"runId": "r"}),
        ("journal.generation", {"runId": "r"}),
    ],
)
def test_storage_that_fails(operation: str, arguments: dict[str, object]) -> None:
    """Every read says so, once its arguments are in order (JN-253, JN-275, JN-341)."""
    state = opened()

    assert code(call(state, operation, **arguments, fault="read")) == "read_failed"
    assert code(call(state, operation, **(arguments | {"runId": ""}), fault="read")) == "invalid_event"
