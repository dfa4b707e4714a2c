"""Tests of the numbers that an instance gives out."""

import pytest

import tenure
from tenure.journal.floors import Floors
from tests.journal.support import MAX


def test_numbers_are_the_higher_of_what_is_on_disk_and_what_was_given_out() -> None:
    """For seq and sourceSeq alike (JN-173)."""
    floors = Floors()

    assert floors.allocate("r", "p", tenure.ABSENT, 5, 3) == (5, 3)
    assert floors.allocate("r", "p", tenure.ABSENT, 0, 0) == (6, 4)
    assert floors.allocate("r", "p", tenure.ABSENT, 9, 9) == (9, 9)
    assert floors.allocate("r", "q", 7, 0, 0) == (10, 7)
    assert floors.allocate("r", "q", 2, 0, 0) == (11, 2)
    assert (floors.seq, floors.source) == ({"r": 12}, {("r", "p"): 10, ("r", "q"): 8})


def test_only_an_implicit_number_warms() -> None:
    """R-5."""
    floors = Floors()
    floors.allocate("r", "p", 3, 0, 0)
    before = set(floors.warm)
    floors.allocate("r", "p", tenure.ABSENT, 0, 0)

    assert (before, floors.warm) == (set(), {("r", "p")})


@pytest.mark.parametrize(
    ("given", "run_floor", "producer_floor"), [(tenure.ABSENT, MAX, 0), (tenure.ABSENT, 0, MAX), (3, MAX + 1, 0)]
)
def test_what_is_used_up_uses_up_nothing(given: int, run_floor: int, producer_floor: int) -> None:
    """A refusal moves no floor and warms nobody (JN-194)."""
    floors = Floors()
    with pytest.raises(tenure.JournalError):
        floors.allocate("r", "p", given, run_floor, producer_floor)

    assert (floors.seq, floors.source, floors.warm) == ({}, {}, set())


def test_floors_rise_above_what_has_settled_and_never_fall() -> None:
    """A settled number is not given out again, whoever gave it out first (JN-161, JN-179)."""
    floors = Floors()
    floors.rise("r", 0, "p", 0)
    first = (dict(floors.seq), dict(floors.source))
    floors.rise("r", 1, "p", 1)
    second = (dict(floors.seq), dict(floors.source))
    floors.rise("r", 0, "p", 0)

    assert first == ({"r": 1}, {("r", "p"): 1})
    assert second == ({"r": 2}, {("r", "p"): 2})
    assert (floors.seq, floors.source) == second
    assert floors.warm == set()


def test_forgetting_drops_all_of_a_run() -> None:
    """JN-342."""
    floors = Floors()
    for run_id in ("r", "other"):
        floors.allocate(run_id, "p", tenure.ABSENT, 0, 0)
    floors.forget({"r"})

    assert (floors.seq, floors.source, floors.warm) == ({"other": 1}, {("other", "p"): 1}, {("other", "p")})
