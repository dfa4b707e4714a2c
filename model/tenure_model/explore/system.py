"""The run store as a labelled transition system: states, and what every call makes of them, by the model itself."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from tenure_model.explore.calls import Call, calls
from tenure_model.explore.canonical import (
    NO_RUN,
    NOW_MS,
    RunCode,
    decode,
    encode,
    horizon,
    rename,
    renamings,
    settle,
    shift,
)
from tenure_model.explore.properties import GRANTS, STEP_PROPERTIES, Property, Transition
from tenure_model.explore.scope import DELETE, Scope
from tenure_model.explore.search import Edge
from tenure_model.semantics.commands import Command, apply
from tenure_model.semantics.steps import Outcome, Step
from tenure_model.semantics.world import World
from tenure_model.vocabulary.errors import RunStoreError

State: TypeAlias = tuple[int, ...]
"""A node: for each run of the scope, in order, the number of its code (``RunSystem.codes``)."""

NOBODY: Final = -1
"""The owner's and the run's number in the label of time passing."""

TIME: Final = "time.passes"
"""The operation in the label of time passing."""

_JOINT: Final = frozenset({"run.create", "run.lineage", "run.latestRound", "run.requestCancelLineage", DELETE})
"""Operations that look at other runs than the one they name."""


class Label(NamedTuple):
    """What happened: the operation, its outcome (of time passing: how many milliseconds), who called, which run."""

    operation: str
    outcome: str
    owner: int
    run: int


Apply: TypeAlias = Callable[[World, Command], Step]
RunEdge: TypeAlias = Edge[Label, State]


class RunSystem:
    """The states of a scope and the edges between them.

    ``apply`` is the semantics that is searched; a test gives a wrong one to see a property fail. In a scope of several
    runs the edges of one run are worked out once for each of its codes, wherever the other runs stand.
    """

    __slots__ = ("_apply", "_codes", "_horizon_ms", "_known", "_later", "_numbers", "_properties", "_renamed", "scope")

    def __init__(self, scope: Scope, apply: Apply = apply, properties: Sequence[Property] = STEP_PROPERTIES) -> None:
        self.scope = scope
        self._apply = apply
        self._properties = tuple(properties)
        self._horizon_ms = horizon(scope)
        self._codes: list[RunCode] = []
        self._numbers: dict[RunCode, int] = {}
        self._renamed = [(renaming, dict[int, int]()) for renaming in renamings(scope)]
        self._known: dict[tuple[int, int], tuple[Edge[Label, int], ...]] = {}
        self._later: dict[tuple[int, int], int] = {}

    def initial(self) -> State:
        """The state without a run."""
        return (self._number(NO_RUN),) * len(self.scope.runs)

    def codes(self, state: State) -> tuple[RunCode, ...]:
        """What a state says of each run."""
        return tuple([self._codes[number] for number in state])

    def world(self, state: State) -> World:
        """A world in this state, at ``NOW_MS``."""
        return decode(self.scope, self.codes(state))

    def place(self, world: World, now_ms: int) -> State:
        """The state of a world at an instant."""
        codes = [encode(self.scope.owners, world, plan.run_id, now_ms) for plan in self.scope.runs]
        return self._canonical(tuple([self._number(settle(code, self._horizon_ms)) for code in codes]))

    def successors(self, state: State) -> Iterator[RunEdge]:
        """Every distinct edge out of a state: calls first, in their order, then time."""
        seen: set[tuple[Label, State]] = set()
        for number in range(len(state)):
            for edge in self._edges_of(state, number):
                if (key := edge[:2]) not in seen:
                    seen.add(key)
                    yield edge
        for by_ms in self.scope.advances:
            later = tuple([self._after(number, by_ms) for number in state])
            yield Edge(Label(TIME, str(by_ms), NOBODY, NOBODY), self._canonical(later))

    def judged(self, world: World, call: Call, run_id: str) -> tuple[Step, tuple[str, ...]]:
        """What the semantics makes of a call, and the names of the properties that the step breaks.

        A step that grants nothing and leaves the world it met is right by every property, so none is asked.
        """
        step = self._apply(world, call.command)
        if step.world is world and not isinstance(step.outcome, GRANTS):
            return step, ()
        taken = Transition(world, call.command, self.scope.owners[call.owner], step, run_id)
        return step, tuple([judge.name for judge in self._properties if not judge.holds(taken)])

    def _edges_of(self, state: State, number: int) -> Iterator[RunEdge]:
        if len(state) == 1:
            for label, after, broken, fired in self._steps(state, number, joint=None):
                yield Edge(label, self._canonical((after,)), broken, fired)
            return
        known = self._known.get((number, state[number]))
        if known is None:
            alone = [self._number(NO_RUN)] * len(state)
            alone[number] = state[number]
            known = self._known[number, state[number]] = tuple(self._steps(tuple(alone), number, joint=False))
        for label, after, broken, fired in known:
            moved = (*state[:number], after, *state[number + 1 :])
            yield Edge(label, state if after == state[number] else self._canonical(moved), broken, fired)
        yield from self._joint_steps(state, number)

    def _steps(self, state: State, number: int, *, joint: bool | None) -> list[Edge[Label, int]]:
        """The distinct edges of one run; ``joint`` admits only operations that do, or do not, look at other runs."""
        found: dict[tuple[Label, int], Edge[Label, int]] = {}
        plan, world = self.scope.runs[number], self.world(state)
        for call in calls(self.scope, world, plan):
            if joint is not None and (call.command.operation in _JOINT) != joint:
                continue
            step, broken = self.judged(world, call, plan.run_id)
            after = state[number]
            if step.world is not world:
                code = encode(self.scope.owners, step.world, plan.run_id, NOW_MS)
                after = self._number(settle(code, self._horizon_ms))
            label = Label(call.command.operation, outcome_name(step.outcome), call.owner, number)
            if broken or (label, after) not in found:
                found[label, after] = Edge(label, after, broken, tuple(sorted(step.fired)))
        return list(found.values())

    def _joint_steps(self, state: State, number: int) -> Iterator[RunEdge]:
        plan, world = self.scope.runs[number], self.world(state)
        for call in calls(self.scope, world, plan):
            if call.command.operation in _JOINT:
                step, broken = self.judged(world, call, plan.run_id)
                after = state if step.world is world else self.place(step.world, NOW_MS)
                label = Label(call.command.operation, outcome_name(step.outcome), call.owner, number)
                yield Edge(label, after, broken, tuple(sorted(step.fired)))

    def _number(self, code: RunCode) -> int:
        number = self._numbers.get(code)
        if number is None:
            number = self._numbers[code] = len(self._codes)
            self._codes.append(code)
        return number

    def _canonical(self, state: State) -> State:
        """The one state that stands for all that differ from this by a renaming of interchangeable owners."""
        if len(self._renamed) == 1:
            return state
        return min([tuple([self._rename(number, place) for number in state]) for place in range(len(self._renamed))])

    def _rename(self, number: int, place: int) -> int:
        renaming, known = self._renamed[place]
        renamed = known.get(number)
        if renamed is None:
            renamed = known[number] = self._number(rename(self._codes[number], renaming))
        return renamed

    def _after(self, number: int, by_ms: int) -> int:
        later = self._later.get((number, by_ms))
        if later is None:
            later = self._number(settle(shift(self._codes[number], by_ms), self._horizon_ms))
            self._later[number, by_ms] = later
        return later


def outcome_name(outcome: Outcome) -> str:
    """The outcome as a label has it: its tag, an error's code, ``true`` or ``false``, or ``ok`` for what was read."""
    if isinstance(outcome, RunStoreError):
        return outcome.code
    if isinstance(outcome, bool):
        return "true" if outcome else "false"
    tag = type(outcome).__name__
    return "ok" if outcome is None or tag in ("RunRow", "tuple") else tag
