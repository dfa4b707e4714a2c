"""Every hazard, by its id."""

from collections.abc import Mapping
from typing import Final

from tenure_model.explore.hazards.hazard import Hazard
from tenure_model.explore.hazards.wedges import WEDGES
from tenure_model.explore.journal.hazards import JOURNAL_HAZARDS

HAZARDS: Final[Mapping[str, Hazard]] = {
    **{hazard.id: hazard for hazard in WEDGES},
    **JOURNAL_HAZARDS,
}
"""The hazards in the order of their ids."""
