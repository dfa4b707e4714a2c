"""Replaying a trace: drive a system through recorded steps and say where it first answers otherwise.

Under the profile ``original`` every recorded answer must come back. Under ``reference`` a trace recorded from a system
with the wedges may differ once a repair has fired. Such a difference is allowed only when the model explains it
completely: the model under ``original`` answers as recorded, the model under ``reference`` answers as the system did,
and at least one repair has fired by then. The replay stops there and does not compare the end state.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

import attrs

from tenure_model.conform.players import (
    Answer,
    Player,
    check_operations,
    model_for,
    player_for,
    without_numbers,
)
from tenure_model.conform.systems import System
from tenure_model.conform.traces import FINAL_FIELDS, Trace, TraceStep
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile

Verdict: TypeAlias = Literal["agrees", "allowed", "differs"]


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
    """What came of replaying one trace on one system: steps compared, steps that agreed, and the first difference.

    ``not_compared`` counts the steps that were taken and have nothing recorded to compare with.
    """

    trace: str
    compared: int
    agreed: int
    not_compared: int
    verdict: Verdict
    difference: Difference | None


def _comparable(step: TraceStep, result: Mapping[str, Any]) -> Mapping[str, Any]:
    """A result without what equality ignores: an error's message, the number of something begun."""
    error = result.get("error")
    if error is None:
        return without_numbers(step.operation, result)
    return {"error": {key: error[key] for key in ("code", "method", "checkpointSeq") if key in error}}


def _final_comparable(final: Mapping[str, Any]) -> Mapping[str, Any]:
    comparable = dict(final)
    if "facts" in comparable:
        comparable["facts"] = {run_id: facts for run_id, facts in final["facts"].items() if facts}
    for field, key in (("leases", "run_id"), ("changes", "run_id")):
        if field in comparable:
            comparable[field] = sorted(comparable[field], key=lambda row: str(row[key]))
    return comparable


def first_mismatch(step: TraceStep, answer: Answer) -> tuple[str, Any, Any] | None:
    """Where an answer differs from what was recorded: result or row, and both sides of it."""
    if step.result and not _same(_comparable(step, step.result), _comparable(step, answer.result)):
        return "result", step.result, answer.result
    if step.row is not None and not _same(step.row, answer.row):
        return "row", step.row, answer.row
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


class _Explanation:
    """The two models beside the system under ``reference``: they decide whether a difference is a repair's."""

    def __init__(self, trace: Trace) -> None:
        self._model = model_for(trace, REFERENCE)
        self._reference = player_for(trace, self._model)
        self._original = player_for(trace, model_for(trace, ORIGINAL))
        self.repairs: dict[str, int] = {}

    def start(self) -> None:
        self._reference.start()
        self._original.start()

    def follow(self, index: int, step: TraceStep) -> tuple[Answer, Answer]:
        answers = self._original.take(step), self._reference.take(step)
        for repair in sorted(self._model.take_fired()):
            self.repairs.setdefault(repair, index)
        return answers

    def explains_step(self, step: TraceStep, answer: Answer, models: tuple[Answer, Answer]) -> bool:
        original, reference = models
        return (
            bool(self.repairs)
            and first_mismatch(step, original) is None
            and _same(_comparable(step, reference.result), _comparable(step, answer.result))
            and _same(reference.row, answer.row)
        )

    def explains_end(self, recorded: Mapping[str, Any], answered: Mapping[str, Any]) -> bool:
        def final(player: Player) -> Mapping[str, Any]:
            return _final_comparable(player.end(recorded))

        return bool(self.repairs) and _same(final(self._original), recorded) and _same(final(self._reference), answered)


def replay(
    trace: Trace, system: System, profile: Profile, progress: Callable[[int], None] = lambda step: None
) -> Replay:
    """Replay one trace on one fresh system of its kind, which implements ``profile``.

    ``progress`` is told the index of each step before it is taken. Raises ``TraceError`` for unknown operations.
    """
    check_operations(trace)
    player = player_for(trace, system)
    explanation = _Explanation(trace) if profile == REFERENCE else None
    player.start()
    if explanation is not None:
        explanation.start()
    compared = agreed = unrecorded = 0
    for index, step in enumerate(trace.steps):
        progress(index)
        answer = player.take(step)
        models = None if explanation is None else explanation.follow(index, step)
        if not step.result and step.row is None:
            unrecorded += 1
            continue
        compared += 1
        mismatch = first_mismatch(step, answer)
        if mismatch is None:
            agreed += 1
            continue
        allowed = explanation is not None and models is not None and explanation.explains_step(step, answer, models)
        difference = Difference(index, step.operation, *mismatch, {} if explanation is None else explanation.repairs)
        return Replay(trace.name, compared, agreed, unrecorded, "allowed" if allowed else "differs", difference)
    return _compare_end(trace, player, explanation, Replay(trace.name, compared, agreed, unrecorded, "agrees", None))


def _compare_end(trace: Trace, player: Player, explanation: _Explanation | None, so_far: Replay) -> Replay:
    if not trace.final:
        return so_far
    recorded = _final_comparable(trace.final)
    answered = _final_comparable(player.end(recorded))
    field = next(
        (name for name in FINAL_FIELDS if name in recorded and not _same(recorded[name], answered[name])), None
    )
    if field is None:
        return so_far
    allowed = explanation is not None and explanation.explains_end(recorded, answered)
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
