"""The driver that counts: stamps, limits and the distance to a steal."""

import pytest

from tenure_model.semantics.supervision.timeline import (
    Answer,
    Circumstances,
    Life,
    Stamp,
    live,
    observed_margin_ms,
)
from tenure_model.vocabulary.outcomes import FenceLost
from tenure_model.vocabulary.supervision import Interrupt, Raise
from tests.semantics.supervision.scripts import BROKEN, UPDATED, T


def life_of(*beats: Answer, until_ms: float, activated_ms: int = T) -> Life:
    """A life under a right clock whose heartbeats have these fates, the rest hanging."""

    def fate(number: int) -> Answer:
        return beats[number] if number < len(beats) else Answer(BROKEN, after_ms=None)

    return live(Circumstances(lambda at_ms: at_ms, fate, lambda _: Answer(BROKEN)), T, Stamp(activated_ms, T), until_ms)


def test_a_stamp_stands_when_the_write_reaches_the_lease() -> None:
    """With the reading that was sent, before the answer (RS-204, RS-918)."""
    life = life_of(Answer(UPDATED, after_ms=700, stamps_after_ms=300), until_ms=T + 2_000)

    assert life.stamps == (Stamp(T, T), Stamp(T + 1_000, T + 1_300))


def test_a_write_that_fails_may_have_stamped() -> None:
    """The lease is younger than the owner knows, which only helps it (RS-205)."""
    life = life_of(Answer(BROKEN, stamps_after_ms=5), until_ms=T + 50_000)

    assert life.stamps == (Stamp(T, T), Stamp(T + 1_000, T + 1_005))
    assert life.ended_at_ms == T + 19_000


def test_a_stamp_never_falls() -> None:
    """A reading at or below the one that stands changes nothing (RS-204)."""
    life = life_of(Answer(UPDATED, stamps_after_ms=0), until_ms=T + 1_500, activated_ms=T + 1_000)

    assert life.stamps == (Stamp(T + 1_000, T),)


def test_what_happens_after_the_observation_is_not_seen() -> None:
    """A stamp at its very end is, one after it is not."""
    beat = Answer(UPDATED, after_ms=None, stamps_after_ms=500)

    assert len(life_of(beat, until_ms=T + 1_500).stamps) == 2
    assert len(life_of(beat, until_ms=T + 1_499).stamps) == 1


@pytest.mark.parametrize(
    ("stands_from_ms", "ended_at_ms", "expected"),
    [(T + 30_000, T + 30_500, 1), (T + 30_001, T + 30_500, 0), (T + 1_000, T + 40_000, -8_999)],
)
def test_the_margin_is_the_least_of_all_stamps(stands_from_ms: float, ended_at_ms: float, expected: int) -> None:
    """A stamp is in danger until the next one stands, the last one until the work ends (RS-208)."""
    stamps = (Stamp(T, T), Stamp(T + 1_000, stands_from_ms))
    life = Life((), stamps, ended_at_ms, Interrupt("lapsed"))

    # The peer's clock is right, so a stamp is stealable 30,001 ms after its reading.
    assert observed_margin_ms(life, 0) == expected


@pytest.mark.parametrize(
    ("beat", "ended_by"),
    [(Answer(FenceLost(), after_ms=250), Interrupt("fence-lost")), (Answer(UPDATED), None)],
)
def test_a_life_ends_with_the_machine(beat: Answer, ended_by: Interrupt | Raise | None) -> None:
    """At the true time of the event that ended it, or where the observation does (RS-910)."""
    life = life_of(beat, until_ms=T + 1_500)

    assert life.ended_by == ended_by
    assert life.ended_at_ms == (T + 1_250 if ended_by else T + 1_500)
