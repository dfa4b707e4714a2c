"""The clock that a test sets."""

from tenure.testing import ManualClock, open_store


def test_it_stands_still() -> None:
    """Two readings are one."""
    clock = ManualClock(5)

    assert (clock(), clock()) == (5, 5)


def test_it_is_set_and_advanced() -> None:
    """Forward and back."""
    clock = ManualClock(5)

    clock.advance(10)
    assert clock() == 15

    clock.set(7)
    assert clock() == 7

    clock.advance(-3)
    assert clock() == 4


def test_a_sleep_moves_it() -> None:
    """By the seconds slept, to the nearest millisecond."""
    clock = ManualClock(0)

    clock.sleep(1.2346)

    assert clock() == 1_235


def test_a_store_goes_by_it() -> None:
    """What a store reads is what the test set."""
    clock = ManualClock()
    with open_store(clock=clock) as store:
        clock.set(1_000)
        before = store.now()
        clock.advance(30_001)

        assert (before, store.now()) == (1_000, 31_001)
