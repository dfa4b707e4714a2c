"""The evidence of a hazard under a profile of one's choice."""

from tenure_model.explore.hazards.hazard import Evidence, Hazard
from tenure_model.explore.hazards.looking import Signs, Stuck, absence, evidence
from tenure_model.explore.journal.scopes import named
from tenure_model.explore.journal.system import JournalSystem
from tenure_model.explore.journal.telling import told
from tenure_model.explore.journal.traces import trace_of
from tenure_model.explore.journal.witnesses import WITNESSES
from tenure_model.explore.search import explore
from tenure_model.semantics.profiles import Profile


def evidence_under(hazard: Hazard, profile: Profile) -> Evidence:
    """The shortest history under the profile, or that there is none, with ``steps`` of ``None``.

    What is not searched for, a bound or a fixed sequence, is what it is whatever the profile.
    """
    search = hazard.evidence
    if isinstance(search, Signs | Stuck):
        return evidence(search, profile)
    return _of_the_journal(hazard.id, profile) if hazard.id in WITNESSES else search()


def _of_the_journal(hazard_id: str, profile: Profile) -> Evidence:
    witness = WITNESSES[hazard_id]
    system = JournalSystem(named(witness.scope, profile), properties=(witness.property(hazard_id),))
    explored = explore(system.initial(), system.successors, first=True)
    finding = explored.findings.get(hazard_id)
    if finding is None:
        return Evidence("trace", (absence(len(explored.states), explored.transitions),), witness.scope, profile.name)
    trace = trace_of(system, explored, finding)
    return Evidence("trace", told(trace), witness.scope, profile.name, len(trace.steps))
