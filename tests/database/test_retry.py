"""Tests of the retry policy."""

import itertools

import pytest

from tenure.database.engine import CommitUnknownError, DatabaseError, find_database_error
from tenure.database.retry import RetryPolicy, is_transient


def chain(*errors: BaseException) -> BaseException:
    """The first error, each caused by the next."""
    for error, cause in itertools.pairwise(errors):
        error.__cause__ = cause
    return errors[0]


def test_ten_attempts() -> None:
    """Ten attempts in all, nine of them repeats (RS-391)."""
    policy = RetryPolicy()

    assert [made for made in range(1, 12) if policy.allows(made)] == [1, 2, 3, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize("attempts", [0, -1, 1, 2.5, "3", None, True])
def test_odd_attempts_mean_one(attempts: object) -> None:
    """A policy that is not an integer of at least one allows no repeat (JN-143)."""
    policy = RetryPolicy(attempts=attempts)  # type: ignore[arg-type]  # what the rule is about

    assert not policy.allows(1)


def test_delays_double_up_to_the_cap() -> None:
    """50 ms doubling, capped at 10 s; a jitter of one half changes nothing (RS-391, JN-143)."""
    policy = RetryPolicy()

    assert [policy.delay_ms(made, lambda: 0.5) for made in range(1, 10)] == [
        50,
        100,
        200,
        400,
        800,
        1_600,
        3_200,
        6_400,
        10_000,
    ]


def test_jitter_spans_a_fifth_either_way() -> None:
    """The random number moves a delay between 80 and 120 per cent."""
    policy = RetryPolicy()

    assert policy.delay_ms(1, lambda: 0.0) == 40
    assert policy.delay_ms(1, lambda: 1.0) == pytest.approx(60)


def test_cap_comes_after_the_jitter() -> None:
    """No jitter lifts a delay above the cap (JN-143)."""
    policy = RetryPolicy(first_delay_ms=9_000)

    assert policy.delay_ms(1, lambda: 1.0) == 10_000


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (DatabaseError("busy"), True),
        (DatabaseError("constraint"), False),
        (DatabaseError("io"), False),
        (DatabaseError("unknown"), False),
        (ValueError("busy"), False),
        (CommitUnknownError("busy"), False),
        (chain(ValueError(), DatabaseError("busy")), True),
        (chain(DatabaseError("io"), DatabaseError("busy")), False),
        (chain(*(ValueError() for _ in range(7)), DatabaseError("busy")), True),
        (chain(*(ValueError() for _ in range(8)), DatabaseError("busy")), False),
    ],
)
def test_only_a_lock_conflict_is_transient(error: BaseException, transient: bool) -> None:
    """Busy is found along at most eight causes, and whatever stands above it decides (RS-363, JN-142)."""
    assert is_transient(error) is transient


def test_a_circle_of_causes_ends() -> None:
    """A chain that bites its tail is given up on."""
    error = ValueError()
    error.__cause__ = KeyError()
    error.__cause__.__cause__ = error

    assert find_database_error(error) is None
