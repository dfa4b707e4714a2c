"""The journal's tables as values: floors, standing identities, truncation."""

import pytest

from tenure_model.admission.event_identity import content_fingerprint, event_id
from tenure_model.semantics.journal import tables
from tenure_model.semantics.journal.tables import EMPTY_TABLES, CheckpointRow, Content, Draft, JournalTables

CONTENT = Content("t", "1", "null")


def rows(*numbers: tuple[int, str, int]) -> JournalTables:
    """Tables with these rows of ``r``: (seq, source id, source sequence)."""
    after = EMPTY_TABLES
    for seq, source_id, source_seq in numbers:
        draft = Draft("r", source_id, source_seq, 0, "content", 9, CONTENT)
        after = tables.with_event(after, tables.event_at(draft, seq))
    return after


SOME = rows((2, "p", 7), (3, "q", 1), (9, "p", 4))
CUT = tables.truncated(
    tables.with_checkpoint(SOME, CheckpointRow("r", 3, "0", 1, None)), CheckpointRow("r", 3, "0", 1, 5)
)


@pytest.mark.parametrize(("before", "expected"), [(EMPTY_TABLES, (None, 0)), (SOME, (9, 10)), (CUT, (9, 10))])
def test_run_floor(before: JournalTables, expected: tuple[int | None, int]) -> None:
    """The run's floor is above its largest row, 0 without rows (JN-172)."""
    assert (tables.tail(before, "r"), tables.run_floor(before, "r")) == expected
    assert tables.run_floor(before, "s") == 0


@pytest.mark.parametrize("before", [SOME, CUT])
@pytest.mark.parametrize(("source_id", "expected"), [("p", 8), ("q", 2), ("x", 0)])
def test_producer_floor(before: JournalTables, source_id: str, expected: int) -> None:
    """The producer's floor is above its largest number, rows and tombstones alike (JN-172, JN-282)."""
    assert tables.producer_floor(before, "r", source_id) == expected


def test_compaction_floor() -> None:
    """Only compacted checkpoints make a floor (JN-008)."""
    above = tables.with_checkpoint(CUT, CheckpointRow("r", 9, "0", 1, None))

    assert tables.compaction_floor(SOME, "r") is None
    assert tables.compaction_floor(tables.with_checkpoint(SOME, CheckpointRow("r", 9, "0", 1, None)), "r") is None
    assert tables.compaction_floor(above, "r") == 3


def test_truncated() -> None:
    """Rows below the checkpoint leave their identity and fingerprint, the one at it stays (JN-009, JN-281)."""
    (tombstone,) = CUT.tombstones["r"]

    assert [row.seq for row in CUT.events["r"]] == [3, 9]
    assert (tombstone.seq, tombstone.identity, tombstone.event_id) == (2, ("r", "p", 7), event_id("r", "p", 7))
    assert tombstone.content_hash == content_fingerprint("t", "1", "null")
    assert tables.event_count(CUT, "r") == 2


@pytest.mark.parametrize(
    ("identity", "expected"),
    [(("r", "p", 7), 2), (("r", "p", 4), 9), (("r", "p", 5), None), (("r", "q", 7), None), (("s", "p", 7), None)],
)
@pytest.mark.parametrize("before", [SOME, CUT])
def test_standing(before: JournalTables, identity: tuple[str, str, int], expected: int | None) -> None:
    """An identity stands as a row or as a tombstone (JN-175)."""
    standing = tables.standing_at(before, identity)

    assert (None if standing is None else standing.seq) == expected


@pytest.mark.parametrize("before", [SOME, CUT])
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (CONTENT, True),
        (Content("u", "1", "null"), False),
        (Content("t", "2", "null"), False),
        (Content("t", "1", "0"), False),
    ],
)
def test_content(before: JournalTables, content: Content, expected: bool) -> None:
    """Type, payload and meta all count, against a row and against a fingerprint (JN-046, JN-048)."""
    standing = tables.standing_at(before, ("r", "p", 7))

    assert standing is not None
    assert tables.content_matches(content, standing) is expected


def test_nothing_is_written_to() -> None:
    """The tables given stay as they are."""
    assert [row.seq for row in SOME.events["r"]] == [2, 3, 9]
    assert SOME.tombstones == {}
    assert JournalTables({}, {}, {}, {}) == EMPTY_TABLES
