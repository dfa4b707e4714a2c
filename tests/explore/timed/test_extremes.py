"""Each figure is attained: the nearest that two owners come in all schedules of a grid is what the formula says."""

from itertools import product

import attrs
import pytest

from tenure_model.explore.search import Edge, explore
from tenure_model.explore.timed.conditions import Conditions
from tenure_model.explore.timed.extremes import smallest_margin
from tenure_model.explore.timed.figures import healthy_margin_ms, healthy_overlap_ms, smallest_margin_ms
from tenure_model.explore.timed.situations import Fate, Scope, Takes, beginning, succeeding
from tenure_model.explore.timed.system import moves

DONE = succeeding(0, 0)
FAILS = Fate(0)
HANGS = Fate(None)
SKEWS = (-10_000, -1, 0, 1, 9_999, 10_000, 10_001, 10_002, 30_000, 30_001, 40_000)
EACH = ("ahead_ms", "start_delay_ms", "set_back_ms", "wake_late_ms", "limit_late_ms", "hook_ms")


def failing(conditions: Conditions) -> Scope:
    """One beat may succeed, the rest fail or hang, and so does reconfirming; one sleep may last too long."""
    return Scope(conditions, (DONE, FAILS, HANGS), (FAILS, HANGS), beats=1, stalls=1)


@pytest.mark.parametrize("skew_ms", SKEWS)
def test_the_margin_at_a_skew_is_attained_in_lives_of_any_length(skew_ms: int) -> None:
    """Beats and reconfirms succeed, fail and hang in any order, as often as they like (RS-013, RS-915)."""
    conditions = Conditions(skew_ms=skew_ms)
    found = smallest_margin(Scope(conditions, (DONE, FAILS, HANGS), (DONE, FAILS, HANGS), (0, None)))

    assert found.margin_ms == smallest_margin_ms(conditions)


@pytest.mark.parametrize(("skew_ms", "bound_ms"), [(0, 9_999), (0, 10_000), (10_000, 1), (10_001, 1), (20_000, 500)])
@pytest.mark.parametrize("name", EACH)
def test_each_condition_costs_its_whole_bound(name: str, skew_ms: int, bound_ms: int) -> None:
    """Alone beside a skew: millisecond by millisecond, up to the whole life of a stamp (hazards H-09, H-11..H-15)."""
    conditions = attrs.evolve(Conditions(skew_ms=skew_ms), **{name: bound_ms})
    found = smallest_margin(failing(conditions))

    assert found.margin_ms == smallest_margin_ms(conditions)


@pytest.mark.parametrize("skew_ms", [0, 9_999, 10_000, 10_001, 20_001])
@pytest.mark.parametrize("write_ms", [1, 999, 1_000, 17_999, 18_000])
def test_how_long_writes_take_does_not_matter(write_ms: int, skew_ms: int) -> None:
    """A stamp takes effect later than it was read, an answer comes later still, a failed write may have taken effect:
    none of it brings the peer nearer, since all count from the reading (RS-918).
    """
    heartbeats = (succeeding(write_ms, write_ms), Fate(write_ms, write_ms), Fate(None, write_ms), HANGS)
    conditions = Conditions(skew_ms=skew_ms)
    found = smallest_margin(Scope(conditions, heartbeats, (Fate(write_ms, write_ms), HANGS), beats=1))

    assert found.margin_ms == smallest_margin_ms(conditions)


@pytest.mark.parametrize("reconfirm_ms", [0, 1, 999])
def test_a_reconfirm_that_fails_sooner_gives_the_difference_back(reconfirm_ms: int) -> None:
    """What does not hang leaves 1,000 ms less what it took (RS-913, RS-915)."""
    conditions = Conditions(skew_ms=10_000, reconfirm_ms=reconfirm_ms)
    found = smallest_margin(Scope(conditions, (DONE, FAILS, HANGS), (FAILS, Fate(reconfirm_ms)), beats=1))

    assert (found.margin_ms, smallest_margin_ms(conditions)) == (1_001 - reconfirm_ms,) * 2


@pytest.mark.parametrize("skew_ms", [0, 20_000])
@pytest.mark.parametrize("others", [("set_back_ms", "limit_late_ms"), ("wake_late_ms", "hook_ms")])
def test_conditions_add_up(others: tuple[str, str], skew_ms: int) -> None:
    """Boundary values of five at once, where no beat succeeds (hazards H-09, H-11..H-15)."""
    for ahead_ms, activation_ms, start_delay_ms in product((0, 10_000), (0, 1), (1, 23_000)):
        given = Conditions(skew_ms, ahead_ms, activation_ms, start_delay_ms)
        conditions = attrs.evolve(given, **dict.fromkeys(others, 500))
        found = smallest_margin(Scope(conditions, (HANGS,), (FAILS, HANGS), stalls=1))

        assert found.margin_ms == smallest_margin_ms(conditions)


@pytest.mark.parametrize("activation_ms", [0, 1, 1_000])
def test_a_stamp_that_is_stale_at_once_is_safe_until_it_is_there(activation_ms: int) -> None:
    """The later the activation commits, the shorter they overlap (hazard H-12)."""
    conditions = Conditions(40_000, activation_ms=activation_ms, start_delay_ms=1_000)
    found = smallest_margin(failing(conditions))

    assert (found.margin_ms, smallest_margin_ms(conditions)) == (activation_ms - 21_000,) * 2


@pytest.mark.parametrize("forward_ms", [1, 5_000, 30_000])
def test_a_clock_set_forward_brings_nobody_nearer(forward_ms: int) -> None:
    """Whenever it is, the worst is that it is not (RS-912)."""
    found = smallest_margin(failing(Conditions(10_000, set_back_ms=-forward_ms)))

    assert found.margin_ms == smallest_margin_ms(Conditions(10_000))


@pytest.mark.parametrize("write_ms", [0, 1, 500, 1_000])
def test_a_healthy_owner_is_robbed_from_the_skew_that_the_formula_says(write_ms: int) -> None:
    """Not 1 ms before; then for as long as it says, however far apart the clocks (hazard H-28, RS-911)."""
    fates = dict.fromkeys(succeeding(*times) for times in ((0, 0), (write_ms, 0), (write_ms, write_ms)))
    from_ms = healthy_margin_ms(0, write_ms=write_ms)
    found = {
        skew_ms: smallest_margin(Scope(Conditions(skew_ms), tuple(fates), (DONE,), beats=3)).margin_ms
        for skew_ms in (from_ms - 1, from_ms, from_ms + 1, from_ms + 999, from_ms + 5_000)
    }

    assert found == {
        skew_ms: None if skew_ms < from_ms else -healthy_overlap_ms(skew_ms, write_ms=write_ms) for skew_ms in found
    }


@pytest.mark.parametrize(
    ("heartbeats", "receipts_ms", "soonest_ms"),
    [
        ((DONE, FAILS, HANGS), (0,), 19_000),
        ((DONE, FAILS, succeeding(999, 1)), (0,), 1),
        ((DONE, FAILS, HANGS), (0, None), 0),
    ],
    ids=["writes that answer at once", "a write that answers late", "a receipt that hangs"],
)
def test_an_owner_works_on_for_19_seconds_unless_it_is_expiring(heartbeats, receipts_ms, soonest_ms: int) -> None:
    """In lives of any length, never more than 20 s past the last confirmed reading, and 19 s at the least, unless that
    is confirmed while a reconfirm or a receipt hangs already: then it saves nothing (RS-013, RS-913, RS-915, RS-917).
    """
    scope = Scope(Conditions(), heartbeats, (DONE, FAILS, HANGS), receipts_ms, beats=3)
    explored = explore(beginning(scope), lambda now: (Edge(move, after) for move, after in moves(scope, now)))
    ages_ms = {-now.stamp_ms for now in explored.states if now.ended_ms == 0 and now.taken_ms is None}

    assert (min(ages_ms), max(ages_ms)) == (soonest_ms, 20_000)


def test_a_reading_beyond_the_allowance_takes_nothing() -> None:
    """At 10,001 ms ahead only readings of the peer's own clock are left, which come 10,001 ms later (RS-309)."""
    found = smallest_margin(failing(Conditions(ahead_ms=10_001)))

    assert found.margin_ms == smallest_margin_ms(Conditions())


def test_the_schedule_attains_the_margin() -> None:
    """From the commit of the activation, its times add up to the instant of the grant, and it ends there."""
    found = smallest_margin(failing(Conditions(skew_ms=10_000)))

    assert found.schedule[-1].what == Takes(0)
    assert sum(move.after_ms for move in found.schedule) == 20_001


def test_without_a_failure_nobody_takes_and_nobody_stops() -> None:
    """There is no margin where beats succeed at once and clocks agree."""
    found = smallest_margin(Scope(Conditions(), (DONE,), (DONE,)))

    assert (found.margin_ms, found.schedule) == (None, ())
