"""One code, one future: what has the same code can do the same, with the same answers, and gets to the same codes."""

from random import Random

import pytest

from tenure_model.explore.journal.canonical import renamings
from tenure_model.explore.journal.scope import JournalScope, Move, durable, event, lossy, options, writer
from tenure_model.explore.journal.scopes import OVERFLOWS, SCOPES, STREAMS, TWO_INSTANCES, named
from tenure_model.explore.journal.system import JournalSystem, Situation, State
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE

MIXED = JournalScope(
    "mixed",
    {"a": options(1, "drop-newest", sourceEventCache=1, batchSize=1)},
    (
        lossy("a", times=2),
        lossy("a", event("x", sourceSeq=2)),
        lossy("a", event("y", sourceSeq=2, dedupe="identity")),
        durable("a", event("y", sourceSeq=2)),
        *writer("a", sink_failures=1),
        Move("a", "journal.forget", {"runIds": ("r",)}, 1),
    ),
)
"""Numbers that are given, left out, dropped, lost and forgotten: the memory is no function of the tables here."""

TOLD_APART = {"fence", "rewind", "one-millisecond", "unfenced"}
"""Scopes of which nothing is left out of the codes, so no two states there have one code."""

CASES = {
    "mixed": MIXED,
    **{name: scope for name, scope in SCOPES.items() if name not in TOLD_APART},
    **{f"{name} original": named(name, ORIGINAL) for name in ("closing", "overflow-reject", "retries", "policy")},
}
"""What is walked."""

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


@pytest.mark.parametrize("name", CASES)
def test_one_code_one_future(name: str) -> None:
    """Wherever two histories come to one code, the same can happen: breadth first, in the first states of a scope."""
    system = JournalSystem(CASES[name])
    start = system.start()
    futures = {system.code(start): (start, future(system, start))}
    frontier, compared = [start], 0
    while frontier and len(futures) < 1_000:
        following = []
        for situation in frontier:
            for taken in system.steps(situation):
                code = system.code(taken.after)
                if code not in futures:
                    futures[code] = taken.after, future(system, taken.after)
                    following.append(taken.after)
                elif futures[code][0].state != taken.after.state:
                    compared += 1
                    assert future(system, taken.after) == futures[code][1]
        frontier = following

    assert compared > 0


@pytest.mark.parametrize("name", SCOPES)
def test_one_code_one_future_far_away(name: str) -> None:
    """The same of walks that go on for long."""
    system = JournalSystem(named(name, REFERENCE))
    random = Random(name)
    futures: dict[State, tuple[Situation, Future]] = {}
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
                assert future(system, situation) == futures[code][1]


def test_symmetry() -> None:
    """Two producers or two runs that may do the same are one; two that differ in what they emit are not."""
    assert len(renamings(TWO_INSTANCES)) == 1
    assert len(renamings(STREAMS)) == 2
    assert len(renamings(OVERFLOWS[0])) == 2
