"""Times and readings: `tenure_model.admission.integers`."""

import pytest

from tenure_model.admission.integers import admit_lease_reading, admit_timestamp, is_safe_integer
from tenure_model.admission.refusal import Refusal
from tests.admission import hostile


@pytest.mark.parametrize("value", [0, 1, 2**53 - 1])
def test_safe_integers_run_from_zero_to_the_largest_exact_double(value: int) -> None:
    """Both ends of the range belong to it (RS-303)."""
    assert is_safe_integer(value)
    assert admit_timestamp(value, "nowMs") == value


@pytest.mark.parametrize("value", [-1, 2**53, True, False, 1.0, "1", None, hostile.Executed])
def test_everything_else_is_no_safe_integer(value: object) -> None:
    """Booleans and integral doubles are no integers, and the refusal names the field only (RS-303, RS-308)."""
    assert not is_safe_integer(value)
    assert admit_timestamp(value, "checkedAtMs") == Refusal(
        {"field": "checkedAtMs", "detail": "must be a non-negative safe integer"}
    )


@pytest.mark.parametrize("reading", [0, 1_000, 10_999, 11_000])
def test_a_reading_may_lag_without_bound_and_lead_by_the_allowance(reading: int) -> None:
    """Exactly 10,000 ms ahead of the store's clock is admitted (RS-309)."""
    assert admit_lease_reading(reading, 1_000, "run-1") == reading


def test_a_reading_too_far_ahead_is_refused_with_both_readings() -> None:
    """One millisecond more is refused, and the cause compares two admitted numbers (RS-309)."""
    refusal = admit_lease_reading(11_001, 1_000, "run-1")

    assert refusal == Refusal(
        {
            "runId": "run-1",
            "field": "nowMs",
            "nowMs": 11_001,
            "clockMs": 1_000,
            "detail": "runs ahead of the store clock by more than the heartbeat skew allowance",
        }
    )


def test_the_refusal_names_the_claim_where_there_is_one() -> None:
    """The cause of `recoverClaim` carries the claim's token right after the run id (RS-309, RS-485)."""
    refusal = admit_lease_reading(11_001, 1_000, "run-1", claimed_at_ms=0)

    assert isinstance(refusal, Refusal)
    assert list(refusal.cause) == ["runId", "claimedAtMs", "field", "nowMs", "clockMs", "detail"]
    assert refusal.cause["claimedAtMs"] == 0


def test_what_is_no_time_is_refused_before_clocks_are_compared() -> None:
    """The plain refusal of a time has no readings in its cause, claim or not (RS-308, RS-362)."""
    refusal = admit_lease_reading(2**53, 1_000, "run-1", claimed_at_ms=5)

    assert refusal == Refusal({"field": "nowMs", "detail": "must be a non-negative safe integer"})
