"""Volume: seeded episodes, one after another, until the time is up or model and store disagree."""

import time
from collections import Counter
from collections.abc import Callable, Iterator

import attrs

from tests.differential.cells import Cell
from tests.differential.choice import RandomChooser
from tests.differential.pair import close_pair
from tests.differential.pairs import ROTA, Arena, is_on_file


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
    def arena(self) -> Arena:
        """Where it takes place."""
        return ROTA[self.index % len(ROTA)]

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
    arena = episode.arena
    pair = arena.make_pair()
    tally.episodes += 1
    tally.instances += len(pair.sessions)
    try:
        scenario = arena.scenario(episode.chooser, pair)
        crashes_before = tally.crashes
        for _ in range(arena.steps):
            cell = scenario.step()
            tally.steps += 1
            tally.by_file += is_on_file(pair)
            tally.crashes = crashes_before + scenario.crashes
            if cell is not None:
                tally.cells[cell] += 1
            progress(tally)
            if now() >= deadline:
                return
    finally:
        close_pair(pair)
