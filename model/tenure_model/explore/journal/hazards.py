"""The hazards of the journal and what shows each: HZ-01 to HZ-40 were known, HZ-41 the search has found.

A hazard that a named scope exhibits is shown by a shortest history under ``original``. Where no repair stands against
it, ``reference`` has one as short in that scope; where one does, none.
"""

from collections.abc import Mapping
from typing import Final

from tenure_model.explore.hazards.hazard import Hazard
from tenure_model.explore.journal.emitting import EMITTING
from tenure_model.explore.journal.retention import RETENTION
from tenure_model.explore.journal.surroundings import SURROUNDINGS

JOURNAL_HAZARDS: Final[Mapping[str, Hazard]] = {
    hazard.id: hazard for hazard in sorted((*EMITTING, *RETENTION, *SURROUNDINGS), key=lambda hazard: hazard.id)
}
"""Every hazard of the journal, by its id and in the order of ids."""
