"""The model alone, and the simulator: model and in-memory store compared on every step."""

import time
from collections.abc import Iterator

from tenure_model.semantics.commands import Command, apply
from tenure_model.semantics.profiles import REFERENCE
from tenure_model.semantics.world import empty_world
from tests.bench.table import rate_line
from tests.differential.choice import RandomChooser
from tests.differential.pair import close_pair
from tests.differential.pairs import memory_pair
from tests.differential.scenario import Scenario

EPISODES = 40
STEPS = 250


def rows() -> Iterator[str]:
    """Steps a second of the simulator, commands a second of the model on the same histories, of one core's time."""
    histories = []
    start = time.process_time()
    for seed in range(EPISODES):
        pair = memory_pair()
        scenario = Scenario(RandomChooser(seed), pair)
        for _ in range(STEPS):
            scenario.step()
        histories.append([action for action in pair.actions if not action.operation.startswith("session.")])
        close_pair(pair)
    elapsed = time.process_time() - start
    yield rate_line("simulator, compared in memory", EPISODES * STEPS / elapsed, 5_000, "steps")

    commands = [[Command(step.operation, step.arguments, step.clock_ms) for step in history] for history in histories]
    start = time.process_time()
    for history in commands:
        world = empty_world(REFERENCE)
        for command in history:
            world = apply(world, command).world
    elapsed = time.process_time() - start
    yield rate_line("model alone", sum(map(len, commands)) / elapsed, 50_000, "commands")
