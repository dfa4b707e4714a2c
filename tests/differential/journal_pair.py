"""Runs and journal of two systems on the same steps: the same answers, tables and memory after each."""

from collections.abc import Mapping
from typing import Any, Final

import attrs

from tenure_model.conform.journal_model import JournalModelSystem
from tenure_model.conform.journal_view import JournalSystem, JournalView, plain
from tenure_model.conform.replay import leaves
from tenure_model.conform.traces import CONTROLS
from tenure_model.semantics.journal.answers import Begun, Blocked, Waiting
from tenure_model.semantics.journal.invariants import violated_between, violated_invariants
from tenure_model.vocabulary.journal_errors import JournalUsageError
from tests.differential.actions import Action
from tests.differential.journal_waits import would_wait
from tests.differential.pair import Divergence, state_difference

NUMBERS: Final = ("token", "ticket", "stream", "changes")
"""Arguments that name something begun by the number it was given; each system gives its own."""

_OPENED: Final = {"stream.open": "stream", "changes.open": "changes"}

_BEGINS: Final = frozenset(
    {*_OPENED, "lossy.begin", "flush.begin", "journal.flush", "compact.begin", "close.begin", "journal.close"}
)

_UNKNOWN: Final = (-1, -1)


def is_same(model: object, store: object) -> bool:
    """Whether two answers are the same, but for numbers and the wording of usage errors."""
    if isinstance(model, Begun | Waiting | JournalUsageError):
        return type(model) is type(store)
    if isinstance(model, tuple) and isinstance(store, tuple):
        return len(model) == len(store) and all(map(is_same, model, store))
    return type(model) is type(store) and model == store


def _number(action: Action, result: object) -> int | None:
    """The number that a step gave to what it began."""
    if isinstance(result, Begun):
        return result.token
    if isinstance(result, Waiting):
        return result.ticket
    return result if action.operation in _OPENED and type(result) is int else None


def _take(system: Any, action: Action) -> object:
    if action.operation in CONTROLS:
        return system.control(action.session, action.operation, action.clock_ms)
    return system.call(action.session, action.operation, action.arguments, action.clock_ms)


class JournalPair:
    """The model and the system held against it, journals included."""

    def __init__(self, model: JournalModelSystem, store: JournalSystem, sessions: tuple[str, ...]) -> None:
        self.model = model
        self.store = store
        self.sessions = sessions
        self.actions: list[Action] = []
        self._numbers: dict[tuple[str, str, object], tuple[int, int]] = {}

    def take(self, action: Action) -> object:
        """Take one step on both; answers the model's outcome, or raises ``Divergence``.

        A step in which a thread would wait is not taken, and not remembered either: whoever shrinks a history leaves
        out steps that let it go on.
        """
        if self.would_wait(action.session, action.operation, action.arguments):
            return Blocked()
        self.actions.append(action)
        result, answer = self._both(action)
        self._check_invariants()
        is_number = action.operation in _OPENED and type(result) is type(answer) is int
        if not is_number and not is_same(result, answer):
            raise Divergence(tuple(self.actions), "answer", repr(result), repr(answer))
        self.actions[-1] = self._learn(action, result, answer)
        self._compare(action.session)
        other = self.sessions[len(self.actions) % len(self.sessions)]
        if other != action.session:
            self._compare(other)
        return result

    def would_wait(self, session: str, operation: str, arguments: Mapping[str, object]) -> bool:
        """Whether a thread of the session would wait in this step, as things stand."""
        return would_wait(self.model.model, session, operation, arguments, in_memory=len(self.sessions) == 1)

    def take_in_model(self, action: Action) -> tuple[Action, object]:
        """Take one step in the model alone; answers the step with the model's numbers, and its outcome."""
        step = self._translated(action, 0)
        result = _take(self.model, step)
        self._learn(action, result, result)
        return step, result

    def _both(self, action: Action) -> tuple[object, object]:
        return _take(self.model, self._translated(action, 0)), _take(self.store, self._translated(action, 1))

    def _translated(self, action: Action, index: int) -> Action:
        """The action with the numbers that the model (0) or the store (1) gave."""
        if not any(name in action.arguments for name in NUMBERS):
            return action
        arguments = {
            name: self._numbers.get((action.session, name, value), _UNKNOWN)[index] if name in NUMBERS else value
            for name, value in action.arguments.items()
        }
        return attrs.evolve(action, arguments=arguments)

    def _learn(self, action: Action, result: object, answer: object) -> Action:
        """Note the numbers that both gave to what the action begins; answers the action with its own."""
        name, mine, theirs = "ticket", _number(action, result), _number(action, answer)
        if action.operation in _OPENED:
            name = _OPENED[action.operation]
        elif isinstance(result, Begun):
            name = "token"
        if mine is None or theirs is None:
            return action
        begun = mine if action.begun is None else action.begun
        if action.operation in _BEGINS:
            self._numbers[action.session, name, begun] = mine, theirs
        return attrs.evolve(action, begun=begun)

    def _compare(self, session: str) -> None:
        runs = attrs.evolve(self.model.state(session), facts={})
        difference = state_difference(runs, attrs.evolve(self.store.state(session), facts={}))
        if difference is None:
            difference = _view_difference(self.model.journal(session), self.store.journal(session))
        if difference is not None:
            where, model, store = difference
            raise Divergence(tuple(self.actions), f"{where} as {session} sees it", model, store)

    def _check_invariants(self) -> None:
        """What both systems agree on must also be right in itself."""
        if self.model.last_step is None:
            return
        violations = [*violated_invariants(self.model.model), *violated_between(*self.model.last_step)]
        if violations:
            raise Divergence(tuple(self.actions), f"invariants: {violations}", None, None)


def _view_difference(model: JournalView, store: JournalView) -> tuple[str, Any, Any] | None:
    if model == store:
        return None
    for path, left, right in leaves(plain(model), plain(store)):
        return f"journal {path}", left, right
    return "journal", plain(model), plain(store)
