"""The identity cache by itself: order, bound, and what a repetition is told."""

import pytest

from tenure_model.semantics.journal import cache
from tenure_model.semantics.journal.instance import Remembered
from tenure_model.semantics.journal.tables import Content, Identity
from tenure_model.vocabulary.journal import Dedupe, Duplicate, DuplicateStatus
from tenure_model.vocabulary.journal_errors import JournalError

ONE = Content("t", "1", "null")


def holding(*numbers: int, status: DuplicateStatus = "committed") -> dict[Identity, Remembered]:
    """A cache of producer ``p``'s numbers, oldest first."""
    return {("r", "p", number): Remembered(number, ONE, status) for number in numbers}


@pytest.mark.parametrize(
    ("before", "entering", "expected"),
    [
        (holding(), 1, [1]),
        (holding(1, 2), 3, [1, 2, 3]),
        (holding(1, 2, 3), 4, [2, 3, 4]),
        (holding(1, 2, 3), 1, [2, 3, 1]),
        ({**holding(1, status="pending"), **holding(2, 3)}, 4, [1, 3, 4]),
        (holding(1, 2, 3, status="pending"), 4, [1, 2, 3, 4]),
        ({**holding(1, 2, 3, status="pending"), **holding(4)}, 5, [1, 2, 3, 5]),
    ],
)
def test_remember(before: dict[Identity, Remembered], entering: int, expected: list[int]) -> None:
    """What enters is newest; of more than three the oldest committed other one leaves (JN-162)."""
    after = cache.remember(before, 3, ("r", "p", entering), Remembered(entering, ONE, "committed"))

    assert [number for _, _, number in after] == expected


@pytest.mark.parametrize(
    ("content", "dedupe", "expected"),
    [
        (ONE, "content", Duplicate(7, 7, "pending")),
        (Content("t", "2", "null"), "identity", Duplicate(7, 7, "pending")),
        (Content("t", "2", "null"), "content", None),
        (Content("u", "1", "null"), "content", None),
        (Content("t", "1", "2"), "content", None),
    ],
)
def test_recall(content: Content, dedupe: Dedupe, expected: Duplicate | None) -> None:
    """A known identity is a duplicate or a conflict, an unknown one nothing (JN-191)."""
    before = holding(7, status="pending")
    answer = cache.recall(before, ("r", "p", 7), content, dedupe)

    assert answer == expected if expected is not None else isinstance(answer, JournalError)
    assert cache.recall(before, ("r", "p", 8), content, dedupe) is None


def test_forget() -> None:
    """Only what is named goes; where nothing is named nothing changes."""
    before = holding(1, 2, 3)

    assert list(cache.forget(before, frozenset({("r", "p", 2), ("r", "p", 9)}))) == [("r", "p", 1), ("r", "p", 3)]
    assert cache.forget(before, frozenset({("r", "p", 9)})) is before
