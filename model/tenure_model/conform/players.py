"""How a trace is played: which systems can, what one step of it does to a system, and what its end state is."""

from collections.abc import Mapping
from typing import Any, Final, Protocol

import attrs

from tenure_model.admission.attempt_options import admit_attempt_options
from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.conform.journal_model import JournalModelSystem
from tenure_model.conform.journal_view import JournalSystem, JournalView, tables_of
from tenure_model.conform.model_system import ModelSystem
from tenure_model.conform.systems import System, SystemState, row_to_wire, state_to_wire
from tenure_model.conform.traces import CONTROLS, FIRST_SESSION, RAW_OPERATIONS, Trace, TraceError, TraceStep
from tenure_model.conform.wire import result_to_wire
from tenure_model.semantics.journal.commands import OPERATIONS as JOURNAL_OPERATIONS
from tenure_model.semantics.profiles import Profile
from tenure_model.vocabulary.attempt_operations import ATTEMPT_OPERATIONS
from tenure_model.vocabulary.attempts import PutMode
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.journal import MAX_ENTRIES_LIMIT
from tenure_model.vocabulary.operations import RUN_OPERATIONS

_RUN_STEPS: Final = frozenset((*RUN_OPERATIONS, *ATTEMPT_OPERATIONS, *RAW_OPERATIONS, *CONTROLS))
_JOURNAL_STEPS: Final = frozenset((*RUN_OPERATIONS, *RAW_OPERATIONS, *CONTROLS, *JOURNAL_OPERATIONS, "reopen"))

_NUMBERS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "lossy.begin": ("token", ("ok", "token")),
    **dict.fromkeys(
        (
            *("flush.begin", "flush.poll", "journal.flush", "compact.begin", "compact.poll"),
            *("close.begin", "close.poll", "journal.close"),
        ),
        ("ticket", ("ok", "ticket")),
    ),
    "stream.open": ("stream", ("ok",)),
    "changes.open": ("changes", ("ok",)),
}
"""Steps that answer a number which later steps name; each system gives its own."""


@attrs.frozen
class Answer:
    """One system's side of one step: its result in wire form, and the run's row after it where the trace has one."""

    result: Mapping[str, Any]
    row: Mapping[str, Any] | None


class Player(Protocol):
    """Plays one trace on one system."""

    def start(self) -> None:
        """What comes before the first step."""
        ...

    def take(self, step: TraceStep) -> Answer:
        """Take one step."""
        ...

    def end(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Those parts of the end state that the trace has recorded."""
        ...


def check_operations(trace: Trace) -> None:
    """Raise ``TraceError`` for a trace of an unknown kind, or with operations or a put mode that nothing here knows."""
    known = {"runs": _RUN_STEPS, "journal": _JOURNAL_STEPS}.get(trace.kind)
    if known is None:
        raise TraceError(f"{trace.name}: traces of this kind cannot be replayed")
    for index, step in enumerate(trace.steps):
        if step.operation not in known:
            raise TraceError(f"{trace.name}: step {index}: op is not a known operation")
        if step.operation in RAW_OPERATIONS and not isinstance(step.arguments.get("runId"), str):
            raise TraceError(f"{trace.name}: step {index}: runId must be a string")
    put_mode_of(trace)


def put_mode_of(trace: Trace) -> PutMode:
    """How the trace configures the attempt store (RS-803). Raises ``TraceError`` for what is no mode."""
    options = admit_attempt_options({"putMode": trace.about.get("putMode")})
    if isinstance(options, AttemptRefusal):
        raise TraceError(f"{trace.name}: {options.text}")
    return options.put_mode


def model_for(trace: Trace, profile: Profile) -> ModelSystem | JournalModelSystem:
    """A fresh model that can play the trace."""
    return (
        JournalModelSystem(profile)
        if trace.kind == "journal"
        else ModelSystem(profile, trace.sessions, put_mode_of(trace))
    )


def player_for(trace: Trace, system: Any) -> Player:
    """A player of the trace on a system of its kind."""
    return JournalPlayer(trace, system) if trace.kind == "journal" else RunsPlayer(trace, system)


def _drive(system: System, step: TraceStep, arguments: Mapping[str, object]) -> Mapping[str, Any]:
    if step.operation in CONTROLS:
        return {"ok": system.control(step.session, step.operation, step.clock_ms)}
    return result_to_wire(system.call(step.session, step.operation, arguments, step.clock_ms), step.operation)


def _row(state: SystemState, step: TraceStep) -> Mapping[str, Any] | None:
    columns = state.runs.get(str(step.arguments.get("runId")))
    return None if columns is None else row_to_wire(columns)


class RunsPlayer:
    """Plays a trace of runs."""

    def __init__(self, trace: Trace, system: System) -> None:
        self._trace = trace
        self._system = system

    def start(self) -> None:
        """Nothing: every step is recorded."""

    def take(self, step: TraceStep) -> Answer:
        """Take one step."""
        result = _drive(self._system, step, step.arguments)
        return Answer(result, None if step.row is None else _row(self._system.state(step.session), step))

    def end(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Rows, changes, source, leases, facts."""
        session = self._trace.steps[-1].session if self._trace.steps else FIRST_SESSION
        whole = state_to_wire(self._system.state(session))
        return {field: whole.get(field) for field in fields}


class JournalPlayer:
    """Plays a trace of a journal. Unless it is stepped, its journal is opened first, and its writer idle in between."""

    def __init__(self, trace: Trace, system: JournalSystem) -> None:
        self._trace = trace
        self._system = system
        self._is_stepped = trace.about.get("stepped") is True
        self._numbers: dict[tuple[str, str, object], object] = {}

    def start(self) -> None:
        """Open the journal with the recorded options."""
        if not self._is_stepped:
            self._open(self._trace.steps[0].clock_ms if self._trace.steps else 0.0)

    def take(self, step: TraceStep) -> Answer:
        """Take one step, and let the queue empty after it (JN-216)."""
        if step.operation == "reopen":
            for operation in ("journal.close", "session.crash"):
                self._call(operation, step.clock_ms)
            self._open(step.clock_ms)
            return Answer({}, None)
        result = _drive(self._system, step, self._translated(step))
        self._learn(step, result)
        if not self._is_stepped:
            self._call("writer.drain", step.clock_ms)
        return Answer(result, None if step.row is None else _row(self._system.state(step.session), step))

    def end(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """``final``: the page of each run from its floor on; ``tables`` whole."""
        session = self._trace.steps[-1].session if self._trace.steps else FIRST_SESSION
        view = self._system.journal(session)
        ends: dict[str, Any] = {}
        if "tables" in fields:
            ends["tables"] = tables_of(view)
        if "final" in fields:
            ends["final"] = {run_id: self._page(view, run_id) for run_id in fields["final"]}
        return {field: ends.get(field) for field in fields}

    def _page(self, view: JournalView, run_id: str) -> Mapping[str, Any]:
        arguments: dict[str, object] = {"runId": run_id, "limit": MAX_ENTRIES_LIMIT}
        compacted = [row[0] for row in view.checkpoints.get(run_id, ()) if row[3] is not None]
        floor = max((seq for seq in compacted if isinstance(seq, int)), default=0)
        if floor > 0:
            arguments["after"] = floor - 1
        return result_to_wire(self._system.call(FIRST_SESSION, "journal.entries", arguments, 0.0))

    def _open(self, clock_ms: float) -> None:
        self._system.call(FIRST_SESSION, "journal.open", {"options": self._trace.about.get("options")}, clock_ms)

    def _call(self, operation: str, clock_ms: float) -> None:
        if operation in CONTROLS:
            self._system.control(FIRST_SESSION, operation, clock_ms)
        else:
            self._system.call(FIRST_SESSION, operation, {}, clock_ms)

    def _translated(self, step: TraceStep) -> Mapping[str, object]:
        return {
            name: self._numbers.get((step.session, name, value), value) if type(value) is int else value
            for name, value in step.arguments.items()
        }

    def _learn(self, step: TraceStep, result: Mapping[str, Any]) -> None:
        name, path = _NUMBERS.get(step.operation, ("", ()))
        recorded, given = _at(step.result, path), _at(result, path)
        if name and type(recorded) is int and type(given) is int:
            self._numbers[step.session, name, recorded] = given


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def without_numbers(operation: str, result: Mapping[str, Any]) -> Mapping[str, Any]:
    """A result without the number that the system gave what it began."""
    _, path = _NUMBERS.get(operation, ("", ()))
    if type(_at(result, path)) is not int or not path:
        return result
    return {"ok": MAX_SAFE_INTEGER} if path == ("ok",) else {"ok": {**result["ok"], path[-1]: MAX_SAFE_INTEGER}}
