"""The document of the bounds: figures, assumptions, and for each the schedule that breaks it, as Markdown."""

from collections.abc import Iterable, Iterator
from typing import Final

from tenure_model.explore.timed.assumptions import ASSUMPTIONS, Assumption, borne_ms, violating_scope
from tenure_model.explore.timed.conditions import Conditions
from tenure_model.explore.timed.extremes import smallest_margin
from tenure_model.explore.timed.figures import (
    healthy_margin_ms,
    healthy_overlap_ms,
    largest_overlap_ms,
    smallest_margin_ms,
)
from tenure_model.explore.timed.schedules import told
from tenure_model.vocabulary.constants import HEARTBEAT_SKEW_ALLOWANCE_MS

SKEWS: Final = (-10_000, 0, 1, 9_999, 10_000, 10_001, 10_002, 20_000, 29_000, 29_001, 30_001, 40_000)
ALLOWANCE: Final = HEARTBEAT_SKEW_ALLOWANCE_MS

HEAD: Final = """# How close two owners come

`make bounds` writes this file and the picture from the formulas of `model/tenure_model/explore/timed/figures.py`
and from the search beside it; a test holds them equal. All numbers are whole ms.

One timed system: the supervising machine of the model, its lease, a peer that takes the run as soon as the lease
lets it, two clocks, writes that are stamped earlier than they take effect, answer later still, fail or hang, timers
that are late. The owner may be at work from the commit of its activation to the instant at which its work stands
still, both included; the peer from the instant of its grant. The **margin** is from the one to the other, at the
worst. At 0 both are at work in one instant, below 0 for as many ms: the **overlap**. All of this is outside the
database. Inside it there is one owner at any instant, whatever clocks do: every fenced write asks who that is
(RS-210).

![margin over skew](bounds.svg)

## Figures

With a stamp read at 0, the owner counts its budget from the start of its loop, the peer its patience from the
stamp:

```
grant   = max(commit of the activation, 30,001 - reading ahead - skew)                           RS-004, RS-309
end     = start delay + 19,000 + set back + late wake + reconfirm + late limit + hook            RS-912..RS-915
margin  = grant - end                    overlap = max(0, end - grant)
```

Neither when the last beat was sent occurs in it, nor how many writes fail after it, nor how: budget and lease count
from the reading that was sent, never from an answer (RS-918). An owner whose writes all succeed within `w` is
robbed once `30,001 - reading ahead - skew` is at most `1,000 + 2 w`: its stamp is stale before the next one has
landed, and the next beat tells it, so that `1,000 + 2 w` is the longest overlap as well (RS-911, H-28).
"""

FOOT: Final = """
## What else is assumed, and is not counted in ms

- The peer is granted the run by the store's own decision on a stale stamp. One that activates an old claim with a
  snapshot read again needs no stale stamp (H-31).
- The owner loses its run by time only, and beats with readings of its clock: one that beats with older ones is
  confirmed and protects nothing (H-13).
- The owner's clock may be set forward at any time: that ends its work early and brings nobody nearer.
- Clocks run at one rate for the 30 s that count; what they drift apart meanwhile is skew, or set back.
- Readings are whole ms. The start of the loop is counted unrounded: its fraction is a start delay below 1 ms, which
  leaves something of the last ms (RS-910).

An owner is not told needlessly soon either: it works for 19,000 past its last confirmed reading, through failing
writes of any pattern. Only a beat that is confirmed while a reconfirm or a receipt hangs already saves nothing: the
lease lapses when that is cut off, and work ends on a fresh stamp (RS-913, RS-917).

## How it is known

Each figure is attained: a breadth-first search of the timed system over boundary values finds exactly the margin of
the formula, for each condition alone and for several together, and in lives of any length (`tests/explore/timed/`).
While writes succeed there is nothing to attain above 0: no schedule robs the owner, and the margin says how much more
skew it takes. Its schedules are replayed by the operations of the run store. For all integers that the conditions
admit, the solver has confirmed the formulas by the predicates that decide, and the arithmetic beside the machine as
well; wrong twins of each are refuted (`make prove`, which says of each line whether it is confirmed).
"""


def written() -> str:
    """The whole file; searches for each schedule that is shown, which takes a few seconds."""
    parts = [HEAD, *_figures(), "", *_hazards(), "", *_assumptions()]
    return "\n".join(parts) + FOOT


def _figures() -> Iterator[str]:
    """Margins over the skew, in the three cases that the picture shows."""
    yield from _table(
        (
            *("skew", "writes fail: margin", "overlap", "reading 10,000 ahead: margin", "overlap"),
            *("writes succeed at once: margin", "overlap"),
        ),
        (
            (
                skew_ms,
                smallest_margin_ms(Conditions(skew_ms)),
                largest_overlap_ms(Conditions(skew_ms)),
                smallest_margin_ms(Conditions(skew_ms, ALLOWANCE)),
                largest_overlap_ms(Conditions(skew_ms, ALLOWANCE)),
                healthy_margin_ms(skew_ms),
                healthy_overlap_ms(skew_ms),
            )
            for skew_ms in SKEWS
        ),
    )


def _hazards() -> Iterator[str]:
    """The exact margins where the promise of the tolerance does not hold."""
    yield "## Where the tolerance does not keep its promise\n"
    cases = (
        ("nothing else is against it", "RS-013", Conditions()),
        ("the peer presents the most forward reading admitted", "H-09", Conditions(ahead_ms=ALLOWANCE)),
        ("the loop starts 10,000 after the stamp", "H-11", Conditions(start_delay_ms=10_000)),
        ("the loop starts 23,000 after it, as after busy retries", "H-11", Conditions(start_delay_ms=23_000)),
        ("the owner's clock is set back by 10,000", "H-14", Conditions(set_back_ms=10_000)),
        ("`onLapse` takes 10,000", "H-15", Conditions(hook_ms=10_000)),
        ("`onLapse` takes 60,000", "H-15", Conditions(hook_ms=60_000)),
    )
    yield from _table(
        ("while writes fail", "cites", "margin at equal clocks", "at a skew of 10,000"),
        (
            (words, cites, smallest_margin_ms(given), smallest_margin_ms(ASSUMPTIONS[0].at(given, ALLOWANCE)))
            for words, cites, given in cases
        ),
    )


def _assumptions() -> Iterator[str]:
    """What is assumed, the least violation that breaks it, and a schedule that does."""
    yield "## Assumptions, and the smallest violation of each\n"
    yield "Two owners are never at work at once as long as"
    yield "\n```"
    yield "skew + reading ahead + start delay + set back + late wake + late limit + hook <= 10,000"
    yield "```\n"
    yield "and there is a schedule in which they are as soon as it is 10,001. So each of these may be violated by what"
    yield "the others leave, and by no ms more:\n"
    tight = Conditions(skew_ms=ALLOWANCE)
    yield from _table(
        ("assumption", "cites", "borne at equal clocks", "breaks at", "borne at a skew of 10,000", "breaks at"),
        (
            (
                assumption.words,
                assumption.cites,
                *_limits(borne_ms(assumption, Conditions())),
                *(("", "") if assumption.field == "skew_ms" else _limits(borne_ms(assumption, tight))),
            )
            for assumption in ASSUMPTIONS
        ),
    )
    yield "\nReadings further ahead than 10,000 are refused (RS-309). The schedules, in ms of true time:\n"
    for assumption in ASSUMPTIONS:
        yield from _example(assumption)


def _example(assumption: Assumption) -> Iterator[str]:
    """The schedule with the fewest moves in which both are at work, one ms beyond what is borne.

    At equal clocks, or where those bear all that is admitted at the allowed skew.
    """
    given = Conditions()
    borne = borne_ms(assumption, given)
    if borne is None:
        given = Conditions(skew_ms=ALLOWANCE)
        borne = borne_ms(assumption, given)
    assert borne is not None
    found = smallest_margin(violating_scope(assumption.at(given, borne + 1)))
    skew = f" at a skew of {given.skew_ms:,}" if given.skew_ms else ""
    yield f"`{assumption.field}` = {borne + 1:,}{skew} ({found.situations:,} situations searched):\n"
    yield "```"
    yield from told(found.schedule)
    yield "```\n"


def _limits(borne: int | None) -> tuple[str, str]:
    """What is borne and what is too much."""
    return ("all admitted", "-") if borne is None else (f"{borne:,}", f"{borne + 1:,}")


def _table(heads: Iterable[str], rows: Iterable[Iterable[int | str]]) -> Iterator[str]:
    """A Markdown table; numbers get their separators."""
    heads = tuple(heads)
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else cell for cell in row)} |"
