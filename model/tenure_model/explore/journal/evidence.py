"""What shows a hazard of the journal: a shortest history, a fixed one, or why there is none."""

from collections.abc import Callable
from textwrap import wrap
from typing import Final

from tenure_model.explore.hazards.hazard import Evidence
from tenure_model.explore.journal.looking import look
from tenure_model.explore.journal.telling import told
from tenure_model.explore.journal.traces import Trace
from tenure_model.explore.journal.witnesses import WITNESSES
from tenure_model.semantics.profiles import ORIGINAL, Profile

_WIDTH: Final = 118
"""The characters of a line that says why."""


def witnessed(hazard_id: str, profile: Profile) -> Trace | None:
    """A shortest history that shows the hazard in its scope; ``None`` where the scope has none under the profile."""
    return look(hazard_id, WITNESSES[hazard_id], profile).trace


def traced(hazard_id: str) -> Evidence:
    """The shortest history under ``original``. ``AssertionError`` where there is none."""
    trace = witnessed(hazard_id, ORIGINAL)
    if trace is None:
        raise AssertionError(f"{hazard_id} does not show under original")
    return Evidence("trace", told(trace), WITNESSES[hazard_id].scope, ORIGINAL.name, len(trace.steps))


def demonstrated(lines: Callable[[], tuple[str, ...]], unsearched: str) -> Evidence:
    """What a demonstration shows, and why no search does."""
    return Evidence("demonstration", (*lines(), *not_searched(unsearched)))


def not_searched(reason: str) -> tuple[str, ...]:
    """The last lines of a demonstration: why nothing of its kind is searched for."""
    return ("", *wrap(f"Not searched for: {reason}", _WIDTH))


def outside(reason: str) -> Evidence:
    """Why the model does not show it."""
    return Evidence("outside", tuple(wrap(reason, _WIDTH)))
