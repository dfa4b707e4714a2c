"""The evidence of a hazard under a profile of one's choice."""

from tenure_model.explore.hazards.hazard import Evidence, Hazard
from tenure_model.explore.hazards.looking import Signs, Stuck, absence, evidence
from tenure_model.explore.journal.looking import look
from tenure_model.explore.journal.telling import told
from tenure_model.explore.journal.witnesses import WITNESSES
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
    found = look(hazard_id, witness, profile)
    if found.trace is None:
        return Evidence("trace", (absence(found.states, found.transitions),), witness.scope, profile.name)
    return Evidence("trace", told(found.trace), witness.scope, profile.name, len(found.trace.steps))
