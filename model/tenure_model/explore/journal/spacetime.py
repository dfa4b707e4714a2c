"""A history of the journal as a space-time diagram, a lane a session."""

from collections.abc import Iterator

from tenure_model.explore.journal.scope import START_MS
from tenure_model.explore.journal.system import outcome_name
from tenure_model.explore.journal.telling import situation
from tenure_model.explore.journal.traces import Trace
from tenure_model.explore.spacetime import Dot, drawn


def spacetime_svg(trace: Trace, title: str) -> str:
    """The diagram of a trace. A step that breaks a property, or that a repair made differ, is drawn in red."""
    return drawn(trace.scope.sessions, _dots(trace), title)


def _dots(trace: Trace) -> Iterator[Dot]:
    for taken in trace.steps:
        session, command = taken.call.session, taken.call.command
        yield Dot(
            trace.scope.sessions.index(session),
            f"{int(command.clock_ms) - START_MS:,}",
            command.operation,
            outcome_name(taken.step.outcome),
            situation(taken.step.state),
            bool(taken.broken or taken.step.fired),
        )
