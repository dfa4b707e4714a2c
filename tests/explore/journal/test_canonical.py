"""One code, one future: what has the same code can do the same, with the same answers, and gets to the same codes."""

from random import Random

import pytest

from tenure_model.explore.journal.canonical import renamings
from tenure_model.explore.journal.scopes import OVERFLOWS, SCOPES, STREAMS, TWO_INSTANCES, named
from tenure_model.explore.journal.system import JournalSystem, Situation, State
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile

CASES = (
    *((name, REFERENCE) for name in SCOPES if name not in ("fence", "rewind")),
    *((name, ORIGINAL) for name in ("closing", "overflow-reject", "retries", "policy", "capture")),
)
"""What is walked: nothing is left out of the codes of the other two scopes, so no two states there have one code."""

Future = list[tuple[str, str, tuple[str, ...], tuple[str, ...], State]]


def future(system: JournalSystem, situation: Situation) -> Future:
    """All that can happen next, whoever does it: step, answer, what it breaks, what fires, and the code after."""
    return sorted(
        (
            taken.label.operation,
            taken.label.outcome,
            taken.broken,
            tuple(sorted(taken.step.fired)),
            system.code(taken.after),
        )
        for taken in system.steps(situation)
    )


@pytest.mark.parametrize(("name", "profile"), CASES)
def test_one_code_one_future(name: str, profile: Profile) -> None:
    """Walks that come to one code by different histories find the same there."""
    system = JournalSystem(named(name, profile))
    random = Random(name)
    futures: dict[State, tuple[Situation, Future]] = {}
    compared = 0
    for _ in range(25):
        situation = system.start()
        for _ in range(18):
            steps = [taken for taken in system.steps(situation) if taken.after is not situation]
            if not steps:
                break
            situation = random.choice(steps).after
            code = system.code(situation)
            if code not in futures:
                futures[code] = situation, future(system, situation)
            elif futures[code][0].state != situation.state:
                compared += 1
                assert future(system, situation) == futures[code][1]

    assert compared > 0


def test_symmetry() -> None:
    """Two producers or two runs that may do the same are one; two that differ in what they emit are not."""
    assert len(renamings(TWO_INSTANCES)) == 1
    assert len(renamings(STREAMS)) == 2
    assert len(renamings(OVERFLOWS[0])) == 2
