"""``make fuzz``: model and store side by side for a while, and a short counterexample where they disagree.

Exit codes: 0 they agreed, 1 they disagreed or a cell was lost, 2 usage, 3 the harness itself failed.
"""

import logging
import math
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis import seed as hypothesis_seed
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.stateful import run_state_machine_as_test
from rich.console import Console

from tests.differential.cells import CELLS_FILE, Cell, read_cells, write_cells
from tests.differential.machine import StoreAgainstModel
from tests.differential.pair import Divergence, MakePair
from tests.differential.report import describe, trace_document, write_failure
from tests.differential.shrink import shrink
from tests.differential.simulator import Tally, episodes, play

FULL_RUN_STEPS: Final = 100_000
"""A run at least this long must reach every cell that an earlier one did: half a minute on an ordinary machine.

What it has not met by chance it looks for, for as long again, before it calls it lost.
"""

SHOWN_CELLS: Final = 10

HYPOTHESIS_SHARE: Final = 0.25
PLAIN_EVERY_SECONDS: Final = 5.0
LIVE_EVERY_SECONDS: Final = 0.2


class Progress:
    """A live line on a terminal, a plain line every five seconds elsewhere."""

    def __init__(self, console: Console, seconds: float, expected_cells: frozenset[Cell]) -> None:
        self._console = console
        self._seconds = seconds
        self._expected = expected_cells
        self._start = self._last = time.monotonic()
        self._status = console.status("starting") if console.is_terminal else None
        if self._status is not None:
            self._status.start()

    def __call__(self, tally: Tally) -> None:
        now = time.monotonic()
        if now - self._last < (LIVE_EVERY_SECONDS if self._status is not None else PLAIN_EVERY_SECONDS):
            return
        self._last = now
        line = self.line(tally)
        if self._status is not None:
            self._status.update(line)
        else:
            self.say(line)

    def line(self, tally: Tally) -> str:
        """One line: how far, how fast, what was reached."""
        elapsed = time.monotonic() - self._start
        return (
            f"{elapsed:5.1f} s of {self._seconds:g}  {tally.steps:,} steps ({tally.by_file:,} on file)  "
            f"{tally.steps / max(elapsed, 1e-9):,.0f} steps/s  "
            f"{len(self._expected & tally.cells.keys())} of {len(self._expected)} cells  "
            f"{tally.crashes} crashes  {tally.instances} instances"
        )

    def say(self, text: str) -> None:
        """Print without markup and without wrapping."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def stop(self) -> None:
        """Leave the terminal as it was."""
        if self._status is not None:
            self._status.stop()


def simulate(
    seed: int, tally: Tally, deadline: float, progress: Progress, enough: Callable[[], bool] = lambda: False
) -> tuple[Divergence, MakePair] | None:
    """Play episodes until the deadline, or until it is enough; the first divergence and the pair it was found on."""
    for episode in episodes(seed):
        if time.monotonic() >= deadline or enough():
            return None
        try:
            play(episode, tally, deadline=deadline, progress=progress)
        except Divergence as divergence:
            return divergence, episode.arena.make_pair
    return None


def explore_with_hypothesis(
    seed: int, tally: Tally, deadline: float, progress: Progress
) -> tuple[Divergence, MakePair] | None:
    """Run batches of Hypothesis examples until the deadline; what a failing one shrank to.

    Our own settings, never the profile that Hypothesis loads by itself under CI: that one is derandomised and would
    repeat the same examples for ever.
    """
    machine = type("StoreAgainstModel", (StoreAgainstModel,), {"tally": tally, "failed_in": []})
    batch = 0
    while time.monotonic() < deadline:
        ours = settings(
            settings.get_profile("default"),
            max_examples=25,
            stateful_step_count=40,
            deadline=None,
            derandomize=False,
            database=DirectoryBasedExampleDatabase(".hypothesis/examples"),
            suppress_health_check=list(HealthCheck),
            phases=(Phase.reuse, Phase.generate, Phase.shrink),
            print_blob=False,
            verbosity=Verbosity.quiet,
        )
        try:
            hypothesis_seed(seed * 1_000_003 + batch)(machine)
            run_state_machine_as_test(machine, settings=ours)
        except Divergence as divergence:
            return divergence, machine.failed_in[-1].make_pair  # type: ignore[attr-defined]  # of the class just made
        batch += 1
        progress(tally)
    return None


def fail(found: Divergence, make_pair: MakePair, seed: int, folder: Path, progress: Progress) -> None:
    """Shrink, describe, and write the file that replays."""
    progress.say(f"model and store disagree after {len(found.actions)} steps: looking for a shorter history")
    shortest = shrink(found, make_pair, progress=lambda length: progress.say(f"  {length} steps"))
    document = trace_document(shortest, make_pair, {"seed": seed})
    path = write_failure(document, folder, f"seed-{seed}")
    progress.say(f"\n{describe(shortest, document)}\n\nReplay: .venv/bin/tenure replay {path} --system store")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--seconds", type=click.FloatRange(min=0.1), default=60.0, show_default=True, help="How long to fuzz.")
@click.option("--seed", type=click.IntRange(min=0), default=None, help="Where decisions come from; random by default.")
@click.option("--failures", type=click.Path(path_type=Path), default=Path("fuzz-failures"), show_default=True)
@click.option("--accept-cells", is_flag=True, help="Write the cells reached into the list of those that must be.")
def main(seconds: float, seed: int | None, failures: Path, accept_cells: bool) -> None:
    """Drive the reference model and the SQLite store through the same random histories."""
    if not math.isfinite(seconds):
        raise click.BadParameter("must be a finite number", param_hint="--seconds")
    # What a library logs of lost entries is part of the game here.
    logging.getLogger("tenure").setLevel(logging.CRITICAL)
    seed = random.SystemRandom().randrange(2**31) if seed is None else seed
    expected = read_cells()
    progress = Progress(Console(), seconds, expected)
    progress.say(f"fuzzing for {seconds:g} s, seed {seed} (again: make fuzz FUZZ_SECONDS={seconds:g} FUZZ_SEED={seed})")
    tally = Tally()
    start = time.monotonic()
    try:
        simulated_until = start + seconds * (1 - HYPOTHESIS_SHARE)
        failure = simulate(seed, tally, simulated_until, progress)
        if failure is None:
            failure = explore_with_hypothesis(seed, tally, start + seconds, progress)
        if failure is None and tally.steps >= FULL_RUN_STEPS and not expected <= tally.cells.keys():
            progress.say(f"looking for {len(expected - tally.cells.keys())} cells more")
            failure = simulate(
                seed + 1, tally, time.monotonic() + seconds, progress, lambda: expected <= tally.cells.keys()
            )
        progress.say(progress.line(tally))
        if failure is not None:
            fail(*failure, seed, failures, progress)
            sys.exit(1)
    finally:
        progress.stop()
    reached = frozenset(tally.cells)
    if accept_cells:
        write_cells(expected | reached)
    report_cells(expected, reached, tally, progress)
    progress.say("model and store agree after every step")


def report_cells(expected: frozenset[Cell], reached: frozenset[Cell], tally: Tally, progress: Progress) -> None:
    """Say which cells are new, and exit with 1 where a full run has lost one."""
    new = sorted(reached - expected)
    if new:
        progress.say(f"{len(new)} new cells (--accept-cells adds them to {CELLS_FILE.name}):")
        for cell in new[:SHOWN_CELLS]:
            progress.say(f"  {' '.join(cell)}")
    lost = sorted(expected - reached)
    progress.say(f"{len(expected & reached)} of {len(expected)} cells reached")
    if lost and tally.steps < FULL_RUN_STEPS:
        progress.say(
            f"not a full run: {tally.steps:,} steps of {FULL_RUN_STEPS:,}, so the missing cells are not judged"
        )
    elif lost:
        for cell in lost:
            progress.say(f"lost cell: {' '.join(cell)}")
        sys.exit(1)


if __name__ == "__main__":
    main()
