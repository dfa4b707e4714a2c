"""Every cell of `specs/rules/admission.md`, read from the page itself."""

from typing import Final

import pytest

from tests.admission.table import COLUMNS, OTHER_TEXTS, OTHERS, TABLE, answer, cell, read_document
from tests.admission.values import VALUES

DOCUMENT: Final = read_document(TABLE.read_text(encoding="utf-8"))


def test_every_value_is_described_and_every_description_has_a_value() -> None:
    """A value that the page does not describe, or a description without a value, is an error."""
    assert set(DOCUMENT.descriptions) == set(VALUES)
    assert all(DOCUMENT.descriptions.values())


def test_every_column_is_tested_and_every_kind_of_argument_has_a_column() -> None:
    """A column without a function, or a function without a column, is an error."""
    assert set(DOCUMENT.cells) == set(COLUMNS)


@pytest.mark.parametrize("column", COLUMNS)
def test_rows_name_known_values_and_every_value_has_a_row(column: str) -> None:
    """Rows name values of the page, and one row speaks for all the rest, so no cell is left open."""
    rows = set(DOCUMENT.cells[column])

    assert rows - set(VALUES) <= {OTHER_TEXTS, OTHERS}
    assert OTHERS in rows


def test_every_refusal_of_the_page_occurs_in_a_cell() -> None:
    """A refusal that no cell names would be a rule that nothing tests."""
    used = {text for cells in DOCUMENT.cells.values() for text in cells.values()}

    assert set(DOCUMENT.refusals) <= used


def test_cells_are_known_words() -> None:
    """A cell is an acceptance, a named refusal, or the two facts about a refused run state."""
    for column, cells in DOCUMENT.cells.items():
        for name, text in cells.items():
            known = text in DOCUMENT.refusals or text in ("accept", "nothing")
            state = column == "run state" and text.startswith("length ") and text.endswith("valid")

            assert known or state, (column, name, text)


@pytest.mark.parametrize("name", VALUES)
def test_br_54_every_argument_answers_the_value_as_its_cell_says(name: str) -> None:
    """Admission accepts or refuses the value in every column exactly as the page states (RS-300..RS-329)."""
    value = VALUES[name]()

    wrong = {
        column: (actual, expected)
        for column in COLUMNS
        if (actual := answer(DOCUMENT, column, value)) != (expected := cell(DOCUMENT, column, name, value))
    }

    assert wrong == {}
