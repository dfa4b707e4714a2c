"""Where a scenario's decisions come from: a seeded generator for volume, Hypothesis for shrinking and odd values."""

import random
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from hypothesis import strategies

T = TypeVar("T")


class Chooser(Protocol):
    """Makes every decision of a scenario. Whatever is listed first is the simplest, for whoever shrinks."""

    def below(self, limit: int) -> int:
        """A number in 0..limit-1."""
        ...


def pick(chooser: Chooser, options: Sequence[T]) -> T:
    """One of the options, all equally likely."""
    return options[chooser.below(len(options))]


def chance(chooser: Chooser, percent: int) -> bool:
    """True in about ``percent`` of a hundred cases; false is the simpler answer."""
    return chooser.below(100) >= 100 - percent


class RandomChooser:
    """Decisions from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def below(self, limit: int) -> int:
        # Random.randrange is five times as slow, and a bias of 2**-53 does not matter here.
        return int(self._random() * limit)


class DrawnChooser:
    """Decisions drawn from Hypothesis, so that it can replay and shrink them."""

    def __init__(self, draw: Callable[..., int]) -> None:
        self._draw = draw

    def below(self, limit: int) -> int:
        return self._draw(strategies.integers(0, limit - 1))
