"""What shows a hazard of the journal: a shortest history, a fixed one, or why there is none."""

from collections.abc import Callable

from tenure_model.explore.hazards.hazard import Evidence
from tenure_model.explore.journal.scopes import named
from tenure_model.explore.journal.system import JournalSystem
from tenure_model.explore.journal.telling import told
from tenure_model.explore.journal.traces import Trace, shortest
from tenure_model.explore.journal.witnesses import WITNESSES
from tenure_model.semantics.profiles import ORIGINAL, Profile


def witnessed(hazard_id: str, profile: Profile) -> Trace | None:
    """A shortest history that shows the hazard in its scope; ``None`` where the scope has none under the profile."""
    witness = WITNESSES[hazard_id]
    system = JournalSystem(named(witness.scope, profile), properties=(witness.property(hazard_id),))
    return shortest(system)


def traced(hazard_id: str) -> Evidence:
    """The shortest history under ``original``. ``AssertionError`` where there is none."""
    trace = witnessed(hazard_id, ORIGINAL)
    if trace is None:
        raise AssertionError(f"{hazard_id} does not show under original")
    return Evidence("trace", told(trace), WITNESSES[hazard_id].scope, ORIGINAL.name, len(trace.steps))


def demonstrated(lines: Callable[[], tuple[str, ...]]) -> Evidence:
    """What a demonstration shows."""
    return Evidence("demonstration", lines())


def outside(reason: str) -> Evidence:
    """Why the model does not show it."""
    return Evidence("outside", (reason,))
