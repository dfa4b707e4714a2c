"""Two systems on the same steps: after each the same answer, and the same whole state."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import attrs

from tenure_model.conform.model_system import ModelSystem
from tenure_model.conform.replay import leaves
from tenure_model.conform.systems import System, SystemState, state_to_wire
from tenure_model.conform.traces import CONTROLS
from tenure_model.conform.wire import result_to_wire
from tenure_model.semantics.wellformed import Violation, replay_facts, violated_between, violated_invariants
from tenure_model.semantics.world import World
from tenure_model.vocabulary.errors import RunStoreError
from tests.differential.actions import Action


@attrs.frozen
class Divergence(Exception):
    """The first step after which the two disagree: in the answer, or in what one part of the state holds."""

    actions: tuple[Action, ...]
    where: str
    model: Any
    store: Any

    def __str__(self) -> str:
        return f"step {len(self.actions) - 1} ({self.actions[-1].operation}) differs in {self.where}"


def state_difference(model: SystemState, store: SystemState) -> tuple[str, Any, Any] | None:
    if model == store:
        return None
    for path, left, right in leaves(state_to_wire(model), state_to_wire(store)):
        return f"state {path}", left, right
    # A column has another type.
    return "state", repr(model), repr(store)


def _take(system: System, action: Action) -> object:
    if action.operation in CONTROLS:
        return system.control(action.session, action.operation, action.clock_ms)
    return system.call(action.session, action.operation, action.arguments, action.clock_ms)


def _describe(result: object) -> Any:
    """The wire form, with an error's cause, which is compared as well."""
    cause = {"cause": dict(result.cause)} if isinstance(result, RunStoreError) else {}
    return result_to_wire(result) | cause


class Pair:
    """The model and the system held against it. ``sessions`` names the instances that act."""

    def __init__(self, model: ModelSystem, store: System, sessions: Sequence[str]) -> None:
        self.model = model
        self.store = store
        self.sessions = tuple(sessions)
        self.actions: list[Action] = []
        self._deleted: set[str] = set()

    def take(self, action: Action) -> object:
        """Take one step on both; answers the outcome, or raises ``Divergence``."""
        self.actions.append(action)
        before = self.model.world(action.session)
        result, answer = _take(self.model, action), _take(self.store, action)
        if type(answer) is not type(result) or answer != result:
            raise Divergence(tuple(self.actions), "answer", _describe(result), _describe(answer))
        # The acting session's view always, another session's in turn: it must not see what is not committed.
        self._compare(action.session)
        if len(self.sessions) > 1:
            other = self.sessions[len(self.actions) % len(self.sessions)]
            if other != action.session:
                self._compare(other)
        self._check_invariants(before, action)
        return result

    def _check_invariants(self, before: World, action: Action) -> None:
        """What both systems agree on must also be right in itself."""
        if action.operation == "row.delete":
            # The facts of a run that is deleted and created anew begin with the old one's.
            self._deleted.add(str(action.arguments["runId"]))
        after = self.model.world(action.session)
        if after is before:
            return
        violations = [*violated_invariants(after)]
        if action.operation not in CONTROLS:
            violations += violated_between(before, after)
        for run_id, run in after.runs.items():
            standing = replay_facts(after.facts.get(run_id, ()))
            if run_id not in self._deleted and (standing.owner, standing.claim) != (run.owner, run.claim):
                violations.append(Violation("RS-1007", run_id))
        if violations:
            told = ", ".join(f"{violation.rule_id} for {violation.run_id}" for violation in violations)
            raise Divergence(tuple(self.actions), f"invariants: {told}", None, None)

    def _compare(self, session: str) -> None:
        difference = state_difference(self.model.state(session), self.store.state(session))
        if difference is not None:
            where, model, store = difference
            raise Divergence(tuple(self.actions), f"{where} as {session} sees it", model, store)


class AnyPair(Protocol):
    """Two systems that take the same steps."""

    model: Any
    store: Any
    sessions: tuple[str, ...]
    actions: list[Action]

    def take(self, action: Action) -> object:
        """Take one step on both; answers the outcome, or raises ``Divergence``."""
        ...


MakePair: TypeAlias = Callable[[], AnyPair]


def run_actions(make_pair: MakePair, actions: Sequence[Action]) -> Divergence | None:
    """Take the actions on a fresh pair; the divergence they end in, if any."""
    pair = make_pair()
    try:
        for action in actions:
            pair.take(action)
    except Divergence as divergence:
        return divergence
    finally:
        close_pair(pair)
    return None


def close_pair(pair: AnyPair) -> None:
    """Release what the systems hold (files, connections)."""
    for system in (pair.model, pair.store):
        close = getattr(system, "close", None)
        if close is not None:
            close()
