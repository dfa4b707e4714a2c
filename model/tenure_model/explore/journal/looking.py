"""How a hazard of the journal is looked for: steps that must show in order, in one scope.

What came before is no part of a state, so the search goes through pairs of a state and of how many signs have shown.
"""

from collections.abc import Iterator
from typing import Final

import attrs

from tenure_model.explore.journal.properties import Property
from tenure_model.explore.journal.scopes import named
from tenure_model.explore.journal.system import JournalSystem, Label, Situation, State, Taken
from tenure_model.explore.journal.traces import Trace
from tenure_model.explore.journal.witnesses import Shows, Witness
from tenure_model.explore.search import Edge, explore
from tenure_model.semantics.journal.invariants import Transition
from tenure_model.semantics.profiles import Profile

_SHOWN: Final = "shown"


@attrs.frozen
class Found:
    """What a search came to: a shortest history, or ``None`` after all of so many states and transitions."""

    trace: Trace | None
    states: int
    transitions: int


def look(hazard_id: str, witness: Witness, profile: Profile) -> Found:
    """A shortest history in which all signs of the witness show; each step that is one is marked with the hazard's id.

    Nothing is searched beyond the last sign.
    """
    signs = tuple(_sign(number, shows) for number, shows in enumerate(witness.signs))
    system = JournalSystem(named(witness.scope, profile), properties=signs)
    start = system.start()
    initial = system.code(start), 0
    situations: dict[tuple[State, int], Situation] = {initial: start}

    def ways(node: tuple[State, int]) -> Iterator[tuple[Taken, tuple[State, int]]]:
        code, shown = node
        situation = situations[node]
        for taken in system.steps(situation):
            after = code if taken.after is situation else system.code(taken.after)
            yield taken, (after, shown + (str(shown) in taken.broken))

    def successors(node: tuple[State, int]) -> Iterator[Edge[Label, tuple[State, int]]]:
        seen: set[tuple[Label, tuple[State, int]]] = set()
        for taken, after in ways(node):
            edge = taken.label, after
            if edge not in seen:
                seen.add(edge)
                situations.setdefault(after, taken.after)
                yield Edge(*edge, (_SHOWN,) if after[1] == len(signs) else ())

    explored = explore(initial, successors, first=True)
    codes = {code for code, _ in explored.states}
    if not explored.findings:
        return Found(None, len(codes), explored.transitions)
    last = next(number for (_, shown), number in explored.states.items() if shown == len(signs))
    # The way is walked through the very situations that stood for the nodes when they were searched.
    node, steps = initial, list[Taken]()
    for label, after in explored.way_to(last):
        taken = next(taken for taken, there in ways(node) if (taken.label, there) == (label, after))
        is_sign = after[1] > node[1]
        steps.append(attrs.evolve(taken, broken=(hazard_id,) if is_sign else ()))
        node = after
    return Found(Trace(system.scope, start, tuple(steps)), len(codes), explored.transitions)


def _sign(number: int, shows: Shows) -> Property:
    def check(taken: Transition) -> Iterator[str]:
        if shows(taken):
            yield taken.session

    return Property(str(number), "The sign does not show.", (), of_steps=(check,))
