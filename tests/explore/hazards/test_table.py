"""The hazards of runs: how soon each shows, and that what is repaired does not show under ``reference``."""

import pytest

from tenure_model.explore.hazards.profiles import evidence_under
from tenure_model.explore.hazards.table import HAZARDS
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE

STEPS = {"H-01": 5, "H-02": 5, "H-03": 4, "H-04": 5, "H-05": 4}
"""How many steps the shortest history of each takes."""

REPAIRED = {"H-01": "R-1", "H-02": "R-2", "H-03": "R-3", "H-04": "R-4"}


@pytest.mark.parametrize("hazard_id", STEPS)
def test_the_shortest_history(hazard_id: str) -> None:
    """``original`` shows the hazard after so many steps, and no sooner."""
    shown = HAZARDS[hazard_id].evidence()

    assert (shown.kind, shown.profile, shown.steps) == ("trace", "original", STEPS[hazard_id])


@pytest.mark.parametrize("hazard_id", STEPS)
def test_under_reference(hazard_id: str) -> None:
    """In the same scope ``reference`` shows it as soon, unless it is repaired: then never."""
    shown = evidence_under(HAZARDS[hazard_id], REFERENCE)

    assert shown.steps == (None if hazard_id in REPAIRED else STEPS[hazard_id])


def test_what_is_repaired() -> None:
    """Each repair of the run store stands against one hazard."""
    repaired = {one.id: one.repaired_by for one in HAZARDS.values() if one.id.startswith("H-") and one.repaired_by}

    assert repaired == REPAIRED


def test_evidence_does_not_vary() -> None:
    """Worked out again, it is the same."""
    assert evidence_under(HAZARDS["H-02"], ORIGINAL) == HAZARDS["H-02"].evidence()
