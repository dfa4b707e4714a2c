"""The document of hazards: what is committed is what is found."""

from pathlib import Path

import attrs
import pytest

from tenure_model.explore.hazards.document import document, page
from tenure_model.explore.hazards.table import HAZARDS

COMMITTED = Path(__file__).parents[3] / "specs" / "hazards.md"


def test_the_committed_document_is_the_generated_one() -> None:
    """``make hazards`` would leave the file as it is."""
    assert document(HAZARDS.values()).splitlines() == COMMITTED.read_text(encoding="utf-8").splitlines()


def test_a_repair_comes_with_its_proof() -> None:
    """The size of the search under ``reference`` stands beside what it does instead."""
    said = page(HAZARDS["H-01"])

    assert said.head == "The shortest history under `original`, 5 steps, right clocks:"
    assert said.reference.endswith("no history shows it: all 119 states and 5,333 transitions were searched.")


def test_a_repair_that_repairs_nothing_is_a_defect() -> None:
    """A hazard that shows under ``reference`` cannot be said to be repaired."""
    pretended = attrs.evolve(HAZARDS["H-05"], repaired_by="R-4")

    with pytest.raises(AssertionError, match="R-4 does not repair H-05"):
        page(pretended)
