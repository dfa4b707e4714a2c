"""The run store as a labelled transition system: states, and what every call makes of them, by the model itself."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias, TypeVar

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
from tenure_model.explore.judging import Property, Transition, broken_by, says_written
from tenure_model.explore.properties import STEP_PROPERTIES
from tenure_model.explore.scope import Scope
from tenure_model.explore.search import Edge
from tenure_model.semantics.commands import Command, apply
from tenure_model.semantics.steps import Outcome, Step
from tenure_model.semantics.world import World
from tenure_model.vocabulary.errors import RunStoreError

State: TypeAlias = tuple[int, ...]
"""A node: for each family of the scope's runs, in order, the number of its situation (``RunSystem.codes``)."""

NOBODY: Final = -1
"""The owner's and the run's number in the label of time passing."""

TIME: Final = "time.passes"
"""The operation in the label of time passing."""


class Label(NamedTuple):
    """What happened: the operation, its outcome (of time passing: how many milliseconds), who called, which run."""

    operation: str
    outcome: str
    owner: int
    run: int


Apply: TypeAlias = Callable[[World, Command], Step]
RunEdge: TypeAlias = Edge[Label, State]
Target = TypeVar("Target", bound=Hashable)
_Codes: TypeAlias = tuple[RunCode, ...]


class Moves(NamedTuple):
    """The edges of one family by themselves: how many, where they lead other than back, and the properties broken."""

    edges: int
    afters: tuple[int, ...]
    broken: tuple[str, ...]


class RunSystem:
    """The states of a scope and the edges between them.

    ``apply`` is the semantics that is searched; a test gives a wrong one to see a property fail. Runs that share a
    lineage or a parent are a family; no call looks beyond one. So in a scope of several families what one of them may
    do is worked out once for each of its situations, wherever the others stand.
    """

    __slots__ = (
        "_apply",
        "_codes",
        "_families",
        "_horizon_ms",
        "_known",
        "_later",
        "_moves",
        "_numbers",
        "_properties",
        "_renamed",
        "scope",
    )

    def __init__(self, scope: Scope, apply: Apply = apply, properties: Sequence[Property] = STEP_PROPERTIES) -> None:
        self.scope = scope
        self._apply = apply
        self._properties = tuple(properties)
        self._families = families(scope)
        self._horizon_ms = horizon(scope)
        self._codes: list[_Codes] = []
        self._numbers: dict[_Codes, int] = {}
        self._renamed = [(renaming, dict[int, int]()) for renaming in renamings(scope)]
        self._known: dict[tuple[int, int], tuple[Edge[Label, int], ...]] = {}
        self._moves: dict[tuple[int, int], Moves] = {}
        self._later: dict[tuple[int, int], int] = {}

    def over(self, scope: Scope) -> "RunSystem":
        """The same semantics over another scope, without properties."""
        return RunSystem(scope, self._apply, ())

    def initial(self) -> State:
        """The state without a run."""
        return tuple([self._number((NO_RUN,) * len(family)) for family in self._families])

    def codes(self, state: State) -> tuple[RunCode, ...]:
        """What a state says of each run, in the scope's order."""
        codes = [NO_RUN] * len(self.scope.runs)
        for family, number in zip(self._families, state, strict=True):
            for run, code in zip(family, self._codes[number], strict=True):
                codes[run] = code
        return tuple(codes)

    def world(self, state: State) -> World:
        """A world in this state, at ``NOW_MS``."""
        return decode(self.scope, self.codes(state))

    def place(self, world: World, now_ms: int) -> State:
        """The state of a world at an instant."""
        return self._canonical(tuple([self._placed(family, world, now_ms) for family in self._families]))

    def successors(self, state: State) -> Iterator[RunEdge]:
        """Every distinct edge out of a state: calls first, in their order, then time."""
        found: dict[tuple[Label, State], RunEdge] = {}
        for place, number in enumerate(state):
            for label, after, broken, fired in self._edges(place, number):
                moved = state
                if after != number or len(state) == 1:
                    moved = self._canonical((*state[:place], after, *state[place + 1 :]))
                _put(found, Edge(label, moved, broken, fired))
        yield from found.values()
        for by_ms in self.scope.advances:
            later = tuple([self._after(number, by_ms) for number in state])
            yield Edge(Label(TIME, str(by_ms), NOBODY, NOBODY), self._canonical(later))

    def neighbours(self, state: State) -> tuple[int, list[State], tuple[str, ...]]:
        """What a search without labels needs: the number of edges, where they lead other than back, what they break."""
        edges, afters = len(self.scope.advances), []
        broken: tuple[str, ...] = ()
        for place, number in enumerate(state):
            moves = self._moves_of(place, number)
            edges += moves.edges
            broken += moves.broken
            head, tail = state[:place], state[place + 1 :]
            afters += [self._canonical((*head, after, *tail)) for after in moves.afters]
        for by_ms in self.scope.advances:
            afters.append(self._canonical(tuple([self._after(number, by_ms) for number in state])))
        return edges, afters, broken

    def judged(self, world: World, call: Call, run_id: str) -> tuple[Step, tuple[str, ...]]:
        """What the semantics makes of a call, and the names of the properties that the step breaks.

        A step that leaves the world it met, and does not say otherwise, is right by every property, so none is asked.
        """
        step = self._apply(world, call.command)
        if step.world is world and not says_written(step.outcome):
            return step, ()
        taken = Transition(world, call.command, self.scope.owners[call.owner], step, run_id)
        return step, broken_by(taken, self._properties)

    def _edges(self, place: int, number: int) -> Sequence[Edge[Label, int]]:
        """The distinct edges of one family in one situation, kept where other families make it come up again."""
        if len(self._families) == 1:
            return self._worked_out(place, number)
        known = self._known.get((place, number))
        if known is None:
            known = self._known[place, number] = tuple(self._worked_out(place, number))
        return known

    def _worked_out(self, place: int, number: int) -> list[Edge[Label, int]]:
        found: dict[tuple[Label, int], Edge[Label, int]] = {}
        family = self._families[place]
        codes = [NO_RUN] * len(self.scope.runs)
        for run, code in zip(family, self._codes[number], strict=True):
            codes[run] = code
        world = decode(self.scope, codes)
        for run in family:
            plan = self.scope.runs[run]
            for call in calls(self.scope, world, plan):
                step, broken = self.judged(world, call, plan.run_id)
                after = number if step.world is world else self._placed(family, step.world, NOW_MS)
                label = Label(call.command.operation, outcome_name(step.outcome), call.owner, run)
                _put(found, Edge(label, after, broken, tuple(sorted(step.fired))))
        return list(found.values())

    def _moves_of(self, place: int, number: int) -> Moves:
        moves = self._moves.get((place, number))
        if moves is None:
            edges = self._edges(place, number)
            afters = dict.fromkeys(edge.after for edge in edges if edge.after != number)
            broken = tuple(sorted({name for edge in edges for name in edge.broken}))
            moves = Moves(len(edges), tuple(afters), broken)
            if len(self._families) > 1:
                self._moves[place, number] = moves
                self._known.pop((place, number), None)
        return moves

    def _placed(self, family: tuple[int, ...], world: World, now_ms: int) -> int:
        owners, runs = self.scope.owners, self.scope.runs
        codes = [settle(encode(owners, world, runs[run].run_id, now_ms), self._horizon_ms) for run in family]
        return self._number(tuple(codes))

    def _number(self, codes: _Codes) -> int:
        number = self._numbers.get(codes)
        if number is None:
            number = self._numbers[codes] = len(self._codes)
            self._codes.append(codes)
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
            codes = tuple([rename(code, renaming) for code in self._codes[number]])
            renamed = known[number] = self._number(codes)
        return renamed

    def _after(self, number: int, by_ms: int) -> int:
        later = self._later.get((number, by_ms))
        if later is None:
            codes = tuple([settle(shift(code, by_ms), self._horizon_ms) for code in self._codes[number]])
            later = self._later[number, by_ms] = self._number(codes)
        return later


def _put(found: dict[tuple[Label, Target], Edge[Label, Target]], edge: Edge[Label, Target]) -> None:
    """Add an edge; one that is there already gets what this one breaks, and what fired, beside its own."""
    key = edge.label, edge.after
    known = found.get(key)
    if known is None:
        found[key] = edge
    elif edge.broken != known.broken or edge.fired != known.fired:
        broken = tuple(dict.fromkeys((*known.broken, *edge.broken)))
        fired = tuple(sorted({*known.fired, *edge.fired}))
        found[key] = Edge(edge.label, edge.after, broken, fired)


def families(scope: Scope) -> tuple[tuple[int, ...], ...]:
    """The runs that calls may look at together, by their numbers: those of one lineage, and parents with children."""
    families: list[tuple[set[str], tuple[int, ...]]] = []
    for number, plan in enumerate(scope.runs):
        names = {plan.run_id, plan.options.parent_run_id, plan.options.lineage_id} - {None}
        kin = [family for family in families if family[0] & names]
        joined = {name for family in kin for name in family[0]} | {name for name in names if name is not None}
        members = tuple(sorted([member for family in kin for member in family[1]] + [number]))
        families = [*[family for family in families if family not in kin], (joined, members)]
    return tuple(members for _, members in families)


def outcome_name(outcome: Outcome) -> str:
    """The outcome as a label has it: its tag, an error's code, ``true`` or ``false``, or ``ok`` for what was read."""
    if isinstance(outcome, RunStoreError):
        return outcome.code
    if isinstance(outcome, bool):
        return "true" if outcome else "false"
    tag = type(outcome).__name__
    return "ok" if outcome is None or tag in ("RunRow", "tuple") else tag
