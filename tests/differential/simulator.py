"""Volume: seeded episodes, one after another, until the time is up or model and store disagree."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

import attrs

from tests.differential.cells import Cell
from tests.differential.choice import RandomChooser
from tests.differential.pair import MakePair, close_pair
from tests.differential.pairs import file_pair, memory_pair
from tests.differential.scenario import Scenario

EPISODE_STEPS: Final = 250
FILE_EPISODE_EVERY: Final = 5
"""One episode in so many runs on a real file with three instances; the others in memory, ten times as fast."""


@attrs.define
class Tally:
    """What a run has done so far. ``by_file`` counts the steps among ``steps`` that were taken on a file."""

    steps: int = 0
    by_file: int = 0
    episodes: int = 0
    instances: int = 0
    crashes: int = 0
    cells: Counter[Cell] = attrs.field(factory=Counter)


@attrs.frozen
class Episode:
    """One seeded history. The same seed and index give the same history again."""

    seed: int
    index: int

    @property
    def make_pair(self) -> MakePair:
        return file_pair if self.index % FILE_EPISODE_EVERY == FILE_EPISODE_EVERY - 1 else memory_pair

    @property
    def chooser(self) -> RandomChooser:
        return RandomChooser(self.seed * 1_000_003 + self.index)


def episodes(seed: int) -> Iterator[Episode]:
    """The episodes of a seed, without end."""
    index = 0
    while True:
        yield Episode(seed, index)
        index += 1


def play(
    episode: Episode,
    tally: Tally,
    *,
    deadline: float = float("inf"),
    now: Callable[[], float] = time.monotonic,
    progress: Callable[[Tally], None] = lambda tally: None,
) -> None:
    """Play one episode to its end or to the deadline. Raises ``Divergence`` where model and store disagree."""
    pair = episode.make_pair()
    tally.episodes += 1
    tally.instances += len(pair.sessions)
    try:
        scenario = Scenario(episode.chooser, pair)
        crashes_before = tally.crashes
        for _ in range(EPISODE_STEPS):
            cell = scenario.step()
            tally.steps += 1
            tally.by_file += len(pair.sessions) > 1
            tally.crashes = crashes_before + scenario.crashes
            if cell is not None:
                tally.cells[cell] += 1
            progress(tally)
            if now() >= deadline:
                return
    finally:
        close_pair(pair)
