"""The journal as a labelled transition system: situations, and what every call makes of them, by the model itself."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import attrs

from tenure_model.explore.journal.calls import Call, calls
from tenure_model.explore.journal.canonical import Encoder, Names, renamings
from tenure_model.explore.journal.properties import PROPERTIES, Judge, Property
from tenure_model.explore.journal.scope import JournalScope
from tenure_model.explore.search import Edge
from tenure_model.semantics.commands import Command
from tenure_model.semantics.journal.commands import apply
from tenure_model.semantics.journal.instance import Instance
from tenure_model.semantics.journal.invariants import Transition
from tenure_model.semantics.journal.state import JournalState, JournalStep, Store, empty_state
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.journal_errors import JournalError

State: TypeAlias = tuple[int, ...]
"""A node: the numbers of the codes of its parts, and how often each move is left."""

WHENEVER = -1
"""How often a move is left that is not counted."""


class Label(NamedTuple):
    """What happened: which session took which step, and what it answered. ``move`` is its place in the scope."""

    session: str
    operation: str
    outcome: str
    move: int


Apply: TypeAlias = Callable[[JournalState, str, Command], JournalStep]
JournalEdge: TypeAlias = Edge[Label, State]


@attrs.frozen
class Situation:
    """A state of the journal, and how often each move of the scope is left."""

    state: JournalState
    left: tuple[int, ...]


@attrs.frozen
class Taken:
    """One step: who called what, what came of it, where it led, and the names of the properties that it breaks."""

    call: Call
    step: JournalStep
    after: Situation
    broken: tuple[str, ...]

    @property
    def label(self) -> Label:
        """The step as a label has it."""
        return Label(self.call.session, self.call.command.operation, outcome_name(self.step.outcome), self.call.move)


class JournalSystem:
    """The situations of a scope and the steps between them.

    ``apply`` is the semantics that is searched; a test gives a wrong one to see a property fail. A state is known by
    its code alone: the search asks for the steps out of it once, and until then one situation stands for it.
    """

    __slots__ = ("_apply", "_encoder", "_judge", "_known", "_names", "_numbers", "_waiting", "scope")

    def __init__(self, scope: JournalScope, apply: Apply = apply, properties: Sequence[Property] = PROPERTIES) -> None:
        self.scope = scope
        self._apply = apply
        self._judge = Judge(tuple(properties))
        self._encoder = Encoder(scope.runs)
        self._numbers: dict[object, int] = {}
        self._waiting: dict[State, Situation | None] = {}
        self._known: tuple[tuple[object, Names, int], ...] = ()
        self._names = self._symmetries()

    def _symmetries(self) -> tuple[Names, ...]:
        """The renamings of the moves that leave the start as it is."""
        start = self.start()
        found = renamings(self.scope)
        same = self._encoded(start, found[0])
        return tuple(names for names in found if self._encoded(start, names) == same)

    def start(self) -> Situation:
        """Where the search begins. ``AssertionError`` where what comes before it is refused."""
        state = empty_state(self.scope.profile)
        for move in self.scope.opening():
            step = self._apply(state, move.session, move.command())
            if isinstance(step.outcome, JournalError | RunStoreError):
                raise AssertionError(f"{move} is refused: {step.outcome}")
            state = step.state
        return Situation(state, tuple(WHENEVER if move.times is None else move.times for move in self.scope.moves))

    def initial(self) -> State:
        """The code of the start."""
        start = self.start()
        code = self.code(start)
        self._waiting[code] = start
        return code

    def code(self, situation: Situation) -> State:
        """The node of a situation: of all names it could go by, those with the smallest numbers."""
        if len(self._names) == 1:
            return self._encoded(situation, self._names[0])
        return min([self._encoded(situation, names) for names in self._names])

    def reached(self, code: State) -> Situation:
        """What stands for a state that a search has reached and not yet asked about. ``ValueError`` once it has."""
        situation = self._waiting[code]
        if situation is None:
            raise ValueError("the steps out of a state are given once")
        return situation

    def successors(self, code: State) -> Iterator[JournalEdge]:
        """Every distinct edge out of a state that a search has reached, in the order of the moves; to be asked once."""
        situation = self.reached(code)
        self._waiting[code] = None
        seen: set[tuple[Label, State]] = set()
        for taken in self.steps(situation):
            after = code if taken.after is situation else self.code(taken.after)
            label = taken.label
            if not taken.broken and (label, after) in seen:
                continue
            seen.add((label, after))
            if after != code:
                self._waiting.setdefault(after, taken.after)
            yield Edge(label, after, taken.broken, tuple(sorted(taken.step.fired)))

    def steps(self, situation: Situation) -> Iterator[Taken]:
        """Every step out of a situation. One that changes nothing leaves its move as often as it was."""
        self._remember(situation.state)
        for call in calls(self.scope, situation.state, situation.left):
            step = self._apply(situation.state, call.session, call.command)
            after = situation
            if step.state is not situation.state:
                left = situation.left
                if left[call.move] > 0:
                    left = (*left[: call.move], left[call.move] - 1, *left[call.move + 1 :])
                after = Situation(step.state, left)
            taken = Transition(situation.state, call.session, call.command, step)
            yield Taken(call, step, after, self._judge.broken(taken))

    def _encoded(self, situation: Situation, names: Names) -> State:
        state, encoder = situation.state, self._encoder
        sessions: list[int] = [0] * len(names.sessions)
        for session, number in names.sessions.items():
            instance = state.instances.get(session)
            sessions[number] = self._instance(names, instance)
        held = state.transaction
        transaction = None if held is None else encoder.transaction(names, held, state.instances.get(held.session))
        left = [0] * len(names.moves)
        for place, count in zip(names.moves, situation.left, strict=True):
            left[place] = count
        return (self._store(names, state.committed), self._number(transaction), *sessions, self._number(tuple(left)))

    def _store(self, names: Names, store: Store) -> int:
        for known, of, number in self._known:
            if known is store and of is names:
                return number
        return self._number(self._encoder.store(names, store))

    def _instance(self, names: Names, instance: Instance | None) -> int:
        for known, of, number in self._known:
            if known is instance and of is names:
                return number
        return self._number(None if instance is None else self._encoder.instance(names, instance))

    def _remember(self, state: JournalState) -> None:
        """Keep the numbers of a state's parts at hand: most steps out of it leave most of them as they are."""
        self._known = ()
        self._known = (
            *((state.committed, names, self._store(names, state.committed)) for names in self._names),
            *((one, names, self._instance(names, one)) for one in state.instances.values() for names in self._names),
        )

    def _number(self, code: object) -> int:
        return self._numbers.setdefault(code, len(self._numbers))


def outcome_name(outcome: object) -> str:
    """The outcome as a label has it: the code of an error, the class of anything else, ``ok`` for what has no name."""
    if isinstance(outcome, JournalError | RunStoreError):
        return outcome.code
    if outcome is None or isinstance(outcome, tuple | int):
        return "ok"
    return type(outcome).__name__
