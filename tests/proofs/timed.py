"""The arithmetic of time, asked in whole ms: the tolerance, the margin, the overlap; and wrong twins of each.

The contracts do not repeat the formulas: they say through the predicates that decide, ``is_stale`` and its like, what
the numbers must mean.
"""

from tenure_model.explore.timed import figures
from tenure_model.explore.timed.conditions import Conditions
from tenure_model.semantics.predicates import is_stale, within_skew
from tenure_model.semantics.supervision import margins
from tenure_model.semantics.supervision.state import remaining_ms
from tests.proofs.contracts import Contract, Predicate, Question


def ask_overdue(is_overdue: Predicate) -> Question:
    """Must a lease be expired so long after the reading it was confirmed with? The owner does not know of the skew."""

    def overdue(last_ms: int, gap_ms: int, skew_ms: int) -> object:
        return is_overdue(last_ms, last_ms + gap_ms)

    return overdue


def tolerance_contract(overdue: Question) -> Contract:
    """Work goes on through 19 s of failing writes; 1,000 ms after it could last go on, no peer whose clock is within
    the allowance finds the stamp stale (RS-004, RS-013, RS-912, RS-915).
    """

    def holds(last_ms: int, gap_ms: int, skew_ms: int) -> None:
        assert skew_ms <= 10_000

        if gap_ms < 19_000:
            assert overdue(last_ms, gap_ms, skew_ms) is False
        if overdue(last_ms, gap_ms, skew_ms) is False:
            # Where it is looked at again 1 ms later and found overdue, the work ends 1,000 ms after that.
            assert not is_stale(last_ms, last_ms + gap_ms + 1 + 1_000 + skew_ms)

    return holds


def ask_margin(smallest_margin: Predicate) -> Question:
    """How many ms are between the end of the owner's work and the grant? Lateness and hook are one sum."""

    def margin(
        skew_ms: int, ahead_ms: int, start_delay_ms: int, reconfirm_ms: int, set_back_ms: int, rest_ms: int
    ) -> object:
        return smallest_margin(skew_ms, ahead_ms, start_delay_ms, reconfirm_ms, set_back_ms, rest_ms)

    return margin


def margin_contract(margin: Question) -> Contract:
    """At the last instant of the work, the most forward admitted reading of the peer finds the stamp stale exactly
    where the margin is 0 or less; as many ms later as the margin says it does, and one less it does not (RS-309).
    """

    def holds(
        skew_ms: int, ahead_ms: int, start_delay_ms: int, reconfirm_ms: int, set_back_ms: int, rest_ms: int
    ) -> None:
        assert within_skew(ahead_ms, 0)
        assert ahead_ms + skew_ms <= 30_000
        assert min(ahead_ms, start_delay_ms, reconfirm_ms, set_back_ms, rest_ms) >= 0

        end_ms = start_delay_ms + 19_000 + set_back_ms + reconfirm_ms + rest_ms
        answer = margin(skew_ms, ahead_ms, start_delay_ms, reconfirm_ms, set_back_ms, rest_ms)
        assert isinstance(answer, int)
        reading_ms = end_ms + skew_ms + ahead_ms + answer
        assert is_stale(0, reading_ms)
        assert not is_stale(0, reading_ms - 1)

    return holds


def margin_by_figures(
    skew_ms: int, ahead_ms: int, start_delay_ms: int, reconfirm_ms: int, set_back_ms: int, rest_ms: int
) -> int:
    """The figure, of an activation that commits at its reading."""
    return figures.smallest_margin_ms(
        Conditions(skew_ms, ahead_ms, 0, start_delay_ms, reconfirm_ms, set_back_ms, hook_ms=rest_ms)
    )


def margin_by_semantics(
    skew_ms: int, ahead_ms: int, start_delay_ms: int, reconfirm_ms: int, set_back_ms: int, rest_ms: int
) -> float:
    """The arithmetic beside the machine, which knows no earliest instant, where it is the same (RS-013, RS-915)."""
    margin_ms = margins.margin_ms(
        skew_ms,
        ahead_ms=ahead_ms,
        start_delay_ms=start_delay_ms,
        reconfirm_ms=reconfirm_ms,
        setback_ms=set_back_ms,
        hook_ms=rest_ms,
    )
    return margin_ms + max(0, skew_ms + ahead_ms - 30_001)


def margin_without_reconfirm(
    skew_ms: int, ahead_ms: int, start_delay_ms: int, reconfirm_ms: int, set_back_ms: int, rest_ms: int
) -> int:
    """Wrong: the owner is told as soon as its budget is spent."""
    return margin_by_figures(skew_ms, ahead_ms, start_delay_ms, 0, set_back_ms, rest_ms)


def margin_of_a_clock_gone_forward(
    skew_ms: int, ahead_ms: int, start_delay_ms: int, reconfirm_ms: int, set_back_ms: int, rest_ms: int
) -> int:
    """Wrong: a clock that is set back makes the budget shorter."""
    return margin_by_figures(skew_ms, ahead_ms, start_delay_ms, reconfirm_ms, -set_back_ms, rest_ms)


def ask_overlap(largest_overlap: Predicate) -> Question:
    """How long may both be at work, at a skew and with a late start?"""

    def overlap(skew_ms: int, start_delay_ms: int) -> object:
        return largest_overlap(skew_ms, start_delay_ms)

    return overlap


def overlap_contract(overlap: Question) -> Contract:
    """From the first stale reading, or from the stamp where it is stale at once, to the end; none below (RS-004)."""

    def holds(skew_ms: int, start_delay_ms: int) -> None:
        assert start_delay_ms >= 0

        end_ms = start_delay_ms + 20_000
        answer = overlap(skew_ms, start_delay_ms)
        assert isinstance(answer, int)
        assert 0 <= answer <= end_ms
        if answer < end_ms:
            assert not is_stale(0, end_ms - answer - 1 + skew_ms)
        if answer > 0:
            assert is_stale(0, end_ms - answer + skew_ms)

    return holds


def overlap_by_figures(skew_ms: int, start_delay_ms: int) -> int:
    """The figure."""
    return figures.largest_overlap_ms(Conditions(skew_ms, start_delay_ms=start_delay_ms))


def overlap_without_end(skew_ms: int, start_delay_ms: int) -> int:
    """Wrong: grows with the skew for ever."""
    return max(0, skew_ms + start_delay_ms - 10_001)


def ask_robbery(healthy_margin: Predicate) -> Question:
    """How far is an owner whose writes take so long at most, and succeed, from being robbed?"""

    def robbery(skew_ms: int, write_ms: int, ahead_ms: int) -> object:
        return healthy_margin(skew_ms, write_ms, ahead_ms)

    return robbery


def robbery_contract(robbery: Question) -> Contract:
    """When the next stamp lands at the latest, the last one is stale exactly where the margin is 0 or less (RS-911)."""

    def holds(skew_ms: int, write_ms: int, ahead_ms: int) -> None:
        assert write_ms >= 0
        assert ahead_ms >= 0
        assert within_skew(ahead_ms, 0)

        answered_ms = write_ms
        landed_ms = answered_ms + 1_000 + write_ms
        answer = robbery(skew_ms, write_ms, ahead_ms)
        assert isinstance(answer, int)
        assert (answer <= 0) is is_stale(0, landed_ms + skew_ms + ahead_ms)

    return holds


def robbery_by_figures(skew_ms: int, write_ms: int, ahead_ms: int) -> int:
    """The figure."""
    return figures.healthy_margin_ms(skew_ms, write_ms=write_ms, ahead_ms=ahead_ms)


def robbery_of_writes_that_answer_at_once(skew_ms: int, write_ms: int, ahead_ms: int) -> int:
    """Wrong: the pulse keeps its period whatever a write takes."""
    return robbery_by_figures(skew_ms, 0, ahead_ms) - write_ms


def spent(last_ms: int, now_ms: int) -> bool:
    """Overdue as the deadline sees it: nothing is left of the budget (RS-912)."""
    return remaining_ms(last_ms, now_ms) <= 0


def overdue_past_the_budget(last_ms: int, now_ms: int) -> bool:
    """Wrong: at exactly 19,000 ms there is time for one more look."""
    return now_ms - last_ms > 19_000


def overdue_when_stale(last_ms: int, now_ms: int) -> bool:
    """Wrong: the owner goes by what the peer goes by."""
    return is_stale(last_ms, now_ms)
