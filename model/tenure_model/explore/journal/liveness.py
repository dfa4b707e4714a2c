"""Whether what was begun can always come to its end: entries, flushes, compactions, admissions, transactions, a close.

Nothing here says how soon: as long as the steps in the background are taken, whatever is waited for is answered.
"""

import attrs

from tenure_model.explore.journal.system import JournalEdge, JournalSystem, Label, State
from tenure_model.explore.search import Explored, explore
from tenure_model.semantics.journal.instance import Instance, pending
from tenure_model.semantics.journal.state import JournalState


@attrs.frozen
class Lasting:
    """A searched scope, and the numbers of its states from which no way leads to rest, ascending."""

    explored: Explored[State, Label]
    stuck: tuple[int, ...]


def search_for_rest(system: JournalSystem) -> Lasting:
    """Search a whole scope, and find the states in which something waits for ever, whatever is done."""
    initial = system.initial()
    into: list[list[int]] = [[]]
    resting = [0] if is_at_rest(system.reached(initial).state) else []

    def on_edge(number: int, edge: JournalEdge, target: int) -> None:
        if target == len(into):
            into.append([])
            if is_at_rest(system.reached(edge.after).state):
                resting.append(target)
        into[target].append(number)

    explored = explore(initial, system.successors, on_edge=on_edge)
    saved = set(resting)
    while resting:
        for number in into[resting.pop()]:
            if number not in saved:
                saved.add(number)
                resting.append(number)
    return Lasting(explored, tuple(number for number in range(len(into)) if number not in saved))


def is_at_rest(state: JournalState) -> bool:
    """Whether nobody waits for anything: no transaction is open, and every instance has done what it was asked."""
    return state.transaction is None and all(_has_done(instance) for instance in state.instances.values())


def _has_done(instance: Instance) -> bool:
    return (
        instance.status != "closing"
        and not any(pending(instance))
        and not (instance.maintenance or instance.compactions or instance.admissions)
        and all(flush.answer is not None for flush in instance.flushes.values())
    )
