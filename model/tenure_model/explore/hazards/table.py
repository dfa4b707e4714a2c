"""Every hazard, by its id."""

from collections.abc import Mapping
from typing import Final

from tenure_model.explore.hazards.beyond import BEYOND
from tenure_model.explore.hazards.clocks import CLOCKS
from tenure_model.explore.hazards.fences import FENCES
from tenure_model.explore.hazards.hazard import Hazard
from tenure_model.explore.hazards.lineages import LINEAGES
from tenure_model.explore.hazards.surroundings import SURROUNDINGS
from tenure_model.explore.hazards.takeovers import TAKEOVERS
from tenure_model.explore.hazards.wedges import WEDGES
from tenure_model.explore.journal.hazards import JOURNAL_HAZARDS

_OF_RUNS: Final = (*WEDGES, *FENCES, *CLOCKS, *TAKEOVERS, *LINEAGES, *SURROUNDINGS, *BEYOND)

HAZARDS: Final[Mapping[str, Hazard]] = {
    **{hazard.id: hazard for hazard in sorted(_OF_RUNS, key=lambda hazard: hazard.id)},
    **JOURNAL_HAZARDS,
}
"""The hazards of runs, then those of the journal, each in the order of their ids."""
