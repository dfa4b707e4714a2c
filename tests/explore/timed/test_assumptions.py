"""Each assumption holds at its limit and breaks 1 ms beyond it, both found by searching."""

import attrs
import pytest

from tenure_model.explore.timed.assumptions import ASSUMPTIONS, borne_ms, is_safe, violating_scope
from tenure_model.explore.timed.conditions import Conditions
from tenure_model.explore.timed.extremes import smallest_margin

BY_FIELD = {assumption.field: assumption for assumption in ASSUMPTIONS}
SKEWED = [field for field in BY_FIELD if field != "skew_ms"]


def test_every_condition_is_assumed_about() -> None:
    """But for the commit of the activation, which the start delay bounds, and the limit of reconfirming, a constant."""
    assert {field.name for field in attrs.fields(Conditions)} - set(BY_FIELD) == {"activation_ms", "reconfirm_ms"}


@pytest.mark.parametrize("field", [field for field in BY_FIELD if field != "ahead_ms"])
def test_at_equal_clocks_each_bears_the_allowance_and_not_a_millisecond_more(field: str) -> None:
    """10,000 ms leave 1 ms, 10,001 are an instant in which both are at work (hazards H-10, H-11, H-14, H-15)."""
    at_limit = BY_FIELD[field].at(Conditions(), 10_000)
    beyond = BY_FIELD[field].at(Conditions(), 10_001)

    assert borne_ms(BY_FIELD[field], Conditions()) == 10_000
    assert [smallest_margin(violating_scope(given)).margin_ms for given in (at_limit, beyond)] == [1, 0]
    assert [is_safe(given) for given in (at_limit, beyond)] == [True, False]


@pytest.mark.parametrize("field", SKEWED)
def test_at_the_allowed_skew_the_first_millisecond_breaks_it(field: str) -> None:
    """The skew has spent the whole allowance (hazards H-09, H-11, H-14, H-15)."""
    given = Conditions(skew_ms=10_000)
    beyond = BY_FIELD[field].at(given, 1)

    assert borne_ms(BY_FIELD[field], given) == 0
    assert [smallest_margin(violating_scope(conditions)).margin_ms for conditions in (given, beyond)] == [1, 0]


def test_readings_ahead_are_all_borne_by_equal_clocks_and_not_by_others() -> None:
    """The allowance is spent twice: 10,000 ms of it leave 1 ms, with a skew of 1 none (hazard H-09, RS-309)."""
    ahead = BY_FIELD["ahead_ms"]
    margins = [
        smallest_margin(violating_scope(Conditions(skew_ms, ahead_ms=ahead_ms))).margin_ms
        for skew_ms, ahead_ms in [(0, 10_000), (1, 9_999), (1, 10_000)]
    ]

    assert borne_ms(ahead, Conditions()) is None
    assert borne_ms(ahead, Conditions(skew_ms=1)) == 9_999
    assert margins == [1, 1, 0]


@pytest.mark.parametrize(("rest", "expected"), [(10_000, 1), (10_001, 0)])
def test_the_assumptions_share_one_allowance(rest: int, expected: int) -> None:
    """It is the sum that counts: a ms of each but one, and what is left in the skew."""
    spent = Conditions(rest - 5, 1, 0, 1, set_back_ms=0, wake_late_ms=1, limit_late_ms=1, hook_ms=1)

    assert smallest_margin(violating_scope(spent)).margin_ms == expected
    assert is_safe(spent) is (expected == 1)
