"""The committed bounds are what the figures and the search say today."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tenure_model.explore.timed.__main__ import main
from tenure_model.explore.timed.conditions import Conditions
from tenure_model.explore.timed.figures import smallest_margin_ms
from tenure_model.explore.timed.plot import ahead, corners, drawn, failing, healthy

SPECS = Path(__file__).parents[3] / "specs"


def test_the_committed_bounds_are_what_is_generated(tmp_path: Path) -> None:
    """`make bounds` changes nothing: the document and the picture, byte for byte."""
    main(tmp_path)

    for name in ("bounds.md", "bounds.svg"):
        assert (tmp_path / name).read_text("utf-8") == (SPECS / name).read_text("utf-8")


def test_the_picture_is_well_formed() -> None:
    """An SVG with one line for each of the three cases."""
    root = ElementTree.fromstring(drawn())

    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(root.findall("{http://www.w3.org/2000/svg}polyline")) == 3


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        (failing, [(0, 10_001), (30_001, -20_000), (40_000, -20_000)]),
        (ahead, [(0, 1), (20_001, -20_000), (40_000, -20_000)]),
        (healthy, [(17_001, 12_000), (30_001, -1_000), (40_000, -1_000)]),
    ],
)
def test_a_curve_is_drawn_by_its_corners(curve, expected) -> None:
    """Between them it is straight; what is above the picture is left out (hazards H-09, H-28)."""
    assert corners(curve) == expected


def test_the_promise_stands_in_the_document() -> None:
    """The row of the allowed skew says 1 ms (RS-013)."""
    row = next(line for line in (SPECS / "bounds.md").read_text("utf-8").splitlines() if line.startswith("| 10,000 |"))

    assert row.split("|")[2].strip() == f"{smallest_margin_ms(Conditions(10_000))}"
