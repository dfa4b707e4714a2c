"""Replaying a trace: drive a system through recorded steps and say where it first answers otherwise.

Under the profile ``original`` every recorded answer must come back. Under ``reference`` a trace recorded from a system
with the wedges may differ once a repair has fired. Such a difference is allowed only when the model explains it
completely: the model under ``original`` answers as recorded, the model under ``reference`` answers as the system did,
and at least one repair has fired by then. The replay stops there and does not compare the end state.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

import attrs

from tenure_model.conform.model_system import ModelSystem
from tenure_model.conform.systems import System, SystemState, row_to_wire, state_to_wire
from tenure_model.conform.traces import CONTROLS, FINAL_FIELDS, RAW_OPERATIONS, Trace, TraceError, TraceStep
from tenure_model.conform.wire import result_to_wire
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tenure_model.vocabulary.operations import RUN_OPERATIONS

Verdict: TypeAlias = Literal["agrees", "allowed", "differs"]

_KNOWN: Final = frozenset((*RUN_OPERATIONS, *RAW_OPERATIONS, *CONTROLS))

NOT_COMPARED_PREFIXES: Final = ("attempt.",)
"""Operations that traces of runs contain and nothing here implements yet; no step compared depends on them."""


@attrs.frozen
class Difference:
    """Where a system first answered otherwise. ``step`` is an index, or ``None`` for the end state.

    ``repairs`` maps each repair that had fired by then to the step at which it first did.
    """

    step: int | None
    operation: str | None
    where: str
    recorded: Any
    answered: Any
    repairs: Mapping[str, int]


@attrs.frozen
class Replay:
    """What came of replaying one trace on one system: steps compared, steps that agreed, and the first difference."""

    trace: str
    compared: int
    agreed: int
    not_compared: int
    verdict: Verdict
    difference: Difference | None


def _comparable(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """A result without what equality ignores: an error's message."""
    error = result.get("error")
    if error is None:
        return result
    return {"error": {key: error[key] for key in ("code", "method", "checkpointSeq") if key in error}}


def _final_comparable(final: Mapping[str, Any]) -> Mapping[str, Any]:
    comparable = dict(final)
    if "facts" in comparable:
        comparable["facts"] = {run_id: facts for run_id, facts in final["facts"].items() if facts}
    for field, key in (("leases", "run_id"), ("changes", "run_id")):
        if field in comparable:
            comparable[field] = sorted(comparable[field], key=lambda row: str(row[key]))
    return comparable


def _row(state: SystemState, step: TraceStep) -> Mapping[str, Any] | None:
    columns = state.runs.get(str(step.arguments.get("runId")))
    return None if columns is None else row_to_wire(columns)


@attrs.define
class _Answer:
    """One system's side of one step."""

    result: Mapping[str, Any]
    row: Mapping[str, Any] | None

    def first_mismatch(self, step: TraceStep) -> tuple[str, Any, Any] | None:
        if step.result and not _same(_comparable(step.result), _comparable(self.result)):
            return "result", step.result, self.result
        if step.row is not None and not _same(step.row, self.row):
            return "row", step.row, self.row
        return None


def _same(left: object, right: object) -> bool:
    """JSON equality that tells ``true`` from ``1``; number formats do not matter."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)


def _drive(system: System, step: TraceStep) -> _Answer:
    """Take one step on a system; a control answers whether it could be done."""
    if step.operation in CONTROLS:
        return _Answer({"ok": system.control(step.session, step.operation, step.clock_ms)}, None)
    result = result_to_wire(system.call(step.session, step.operation, step.arguments, step.clock_ms))
    return _Answer(result, None if step.row is None else _row(system.state(step.session), step))


def is_compared(operation: str) -> bool:
    """Whether a step with this operation is driven and compared at all."""
    return not operation.startswith(NOT_COMPARED_PREFIXES)


def check_operations(trace: Trace) -> None:
    """Raise ``TraceError`` for a trace with operations that nothing here knows."""
    if trace.kind != "runs":
        raise TraceError(f"{trace.name}: traces of this kind cannot be replayed")
    for index, step in enumerate(trace.steps):
        if not (step.operation in _KNOWN or not is_compared(step.operation)):
            raise TraceError(f"{trace.name}: step {index}: op is not a known operation")


class _Explanation:
    """The two models beside the system under ``reference``: they decide whether a difference is a repair's."""

    def __init__(self, trace: Trace) -> None:
        self.reference = ModelSystem(REFERENCE, trace.sessions)
        self.original = ModelSystem(ORIGINAL, trace.sessions)
        self.repairs: dict[str, int] = {}

    def follow(self, index: int, step: TraceStep) -> tuple[_Answer, _Answer]:
        answers = _drive(self.original, step), _drive(self.reference, step)
        for repair in sorted(self.reference.fired):
            self.repairs.setdefault(repair, index)
        return answers

    def explains_step(self, step: TraceStep, answer: _Answer, models: tuple[_Answer, _Answer]) -> bool:
        original, reference = models
        return (
            bool(self.repairs)
            and original.first_mismatch(step) is None
            and _same(_comparable(reference.result), _comparable(answer.result))
            and _same(reference.row, answer.row)
        )

    def explains_end(self, session: str, recorded: Mapping[str, Any], answered: Mapping[str, Any]) -> bool:
        def final(system: System) -> Mapping[str, Any]:
            whole = state_to_wire(system.state(session))
            return _final_comparable({field: whole[field] for field in recorded})

        return bool(self.repairs) and _same(final(self.original), recorded) and _same(final(self.reference), answered)


def replay(
    trace: Trace, system: System, profile: Profile, progress: Callable[[int], None] = lambda step: None
) -> Replay:
    """Replay one trace on one fresh system, which implements ``profile``.

    ``progress`` is told the index of each step before it is taken. Raises ``TraceError`` for unknown operations.
    """
    check_operations(trace)
    explanation = _Explanation(trace) if profile == REFERENCE else None
    compared = agreed = skipped = 0
    for index, step in enumerate(trace.steps):
        progress(index)
        if not is_compared(step.operation):
            skipped += 1
            continue
        answer = _drive(system, step)
        models = None if explanation is None else explanation.follow(index, step)
        if not step.result and step.row is None:
            continue
        compared += 1
        mismatch = answer.first_mismatch(step)
        if mismatch is None:
            agreed += 1
            continue
        allowed = explanation is not None and models is not None and explanation.explains_step(step, answer, models)
        difference = Difference(index, step.operation, *mismatch, {} if explanation is None else explanation.repairs)
        return Replay(trace.name, compared, agreed, skipped, "allowed" if allowed else "differs", difference)
    return _compare_end(trace, system, explanation, Replay(trace.name, compared, agreed, skipped, "agrees", None))


def _compare_end(trace: Trace, system: System, explanation: _Explanation | None, so_far: Replay) -> Replay:
    if not trace.final:
        return so_far
    session = trace.steps[-1].session if trace.steps else trace.sessions[0]
    whole = state_to_wire(system.state(session))
    recorded = _final_comparable(trace.final)
    answered = _final_comparable({field: whole[field] for field in recorded})
    field = next(
        (name for name in FINAL_FIELDS if name in recorded and not _same(recorded[name], answered[name])), None
    )
    if field is None:
        return so_far
    allowed = explanation is not None and explanation.explains_end(session, recorded, answered)
    repairs = {} if explanation is None else explanation.repairs
    difference = Difference(None, None, field, recorded[field], answered[field], repairs)
    return attrs.evolve(so_far, verdict="allowed" if allowed else "differs", difference=difference)


def _by_run(value: Any) -> Any:
    """A table as a mapping by run id, so that one row more does not make the whole table differ."""
    if isinstance(value, list) and value and all(isinstance(row, Mapping) and "run_id" in row for row in value):
        return {row["run_id"]: row for row in value}
    return value


def leaves(recorded: Any, answered: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The smallest parts in which two JSON values differ, each with its path: what a reader wants to see."""
    recorded, answered = _by_run(recorded), _by_run(answered)
    if isinstance(recorded, Mapping) and isinstance(answered, Mapping):
        for key in dict.fromkeys((*recorded, *answered)):
            yield from leaves(recorded.get(key), answered.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(recorded, list) and isinstance(answered, list) and len(recorded) == len(answered):
        for index, (left, right) in enumerate(zip(recorded, answered, strict=True)):
            yield from leaves(left, right, f"{path}[{index}]")
    elif not _same(recorded, answered):
        yield path, recorded, answered
