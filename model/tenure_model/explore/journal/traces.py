"""A way through a scope of the journal, taken for real: the commands, answers and states that lead to what was looked
for.
"""

import attrs

from tenure_model.explore.journal.scope import JournalScope
from tenure_model.explore.journal.system import JournalSystem, Label, Situation, State, Taken
from tenure_model.explore.search import Explored, Finding, explore


@attrs.frozen
class Trace:
    """A concrete history within a scope: where it starts, and each step it takes."""

    scope: JournalScope
    start: Situation
    steps: tuple[Taken, ...]


def shortest(system: JournalSystem) -> Trace | None:
    """A shortest history whose last step breaks a property of the system; ``None`` where no step of the scope does.

    Nothing is searched beyond the first such step.
    """
    explored = explore(system.initial(), system.successors, first=True)
    finding = next(iter(explored.findings.values()), None)
    return None if finding is None else trace_of(system, explored, finding)


def trace_of(system: JournalSystem, explored: Explored[State, Label], finding: Finding[Label]) -> Trace:
    """A shortest history whose last step is the one that was found.

    States stand for many situations, so the way is walked again; of the steps out of each the first that leads to the
    next state is the one taken.
    """
    start = situation = system.start()
    steps: list[Taken] = []
    for _, after in explored.way_to(finding.state):
        taken = next(taken for taken in system.steps(situation) if system.code(taken.after) == after)
        steps.append(taken)
        situation = taken.after
    steps.append(next(taken for taken in system.steps(situation) if finding.name in taken.broken))
    return Trace(system.scope, start, tuple(steps))
