"""The formulas at the values that matter, worked out by hand; that they are attained is shown by the search."""

import pytest

from tenure_model.explore.timed.conditions import Conditions
from tenure_model.explore.timed.figures import (
    earliest_grant_ms,
    healthy_margin_ms,
    healthy_overlap_ms,
    largest_overlap_ms,
    latest_end_ms,
    smallest_margin_ms,
)


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (Conditions(), 30_001),
        (Conditions(10_000), 20_001),
        (Conditions(10_000, ahead_ms=10_000), 10_001),
        (Conditions(-5), 30_006),
        (Conditions(30_001), 0),
        (Conditions(50_000, activation_ms=7), 7),
    ],
)
def test_the_earliest_grant(conditions: Conditions, expected: int) -> None:
    """The first stale reading, never before the stamp is there (RS-004, RS-309)."""
    assert earliest_grant_ms(conditions) == expected


def test_the_latest_end_is_a_sum() -> None:
    """Each quantity counts once (RS-912..RS-915)."""
    assert latest_end_ms(Conditions()) == 20_000
    assert latest_end_ms(Conditions(0, 0, 0, 100_000, 1, 200_000, 300_000, 400_000, 500_000)) == 1_519_001


@pytest.mark.parametrize(
    ("skew_ms", "margin", "overlap"),
    [
        (0, 10_001, 0),
        (10_000, 1, 0),
        (10_001, 0, 0),
        (10_002, -1, 1),
        (30_001, -20_000, 20_000),
        (60_000, -20_000, 20_000),
    ],
)
def test_margin_and_overlap_over_the_skew(skew_ms: int, margin: int, overlap: int) -> None:
    """Of an owner whose writes fail (RS-013, hazard H-10)."""
    assert smallest_margin_ms(Conditions(skew_ms)) == margin
    assert largest_overlap_ms(Conditions(skew_ms)) == overlap


@pytest.mark.parametrize(
    ("skew_ms", "write_ms", "ahead_ms", "margin", "overlap"),
    [
        (29_000, 0, 0, 1, 0),
        (29_001, 0, 0, 0, 0),
        (28_001, 500, 0, 0, 0),
        (19_002, 0, 10_000, -1, 1),
        (60_000, 0, 0, -1_000, 1_000),
        (60_000, 500, 0, -2_000, 2_000),
    ],
)
def test_a_healthy_owner(skew_ms: int, write_ms: int, ahead_ms: int, margin: int, overlap: int) -> None:
    """Robbed only by clocks 29 s apart, and told by its next beat (hazard H-28)."""
    assert healthy_margin_ms(skew_ms, write_ms=write_ms, ahead_ms=ahead_ms) == margin
    assert healthy_overlap_ms(skew_ms, write_ms=write_ms, ahead_ms=ahead_ms) == overlap
