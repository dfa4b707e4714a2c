"""Every cell of `specs/rules/admission.md`, read from the page itself."""

from collections.abc import Iterator, Mapping
from typing import Final

import pytest

from tests.admission.attempt_columns import attempt_columns, owning_store
from tests.admission.attempt_values import ATTEMPT_VALUES
from tests.admission.journal_columns import journal_columns
from tests.admission.journal_values import JOURNAL_VALUES, OPTIONS
from tests.admission.page import (
    ACCEPTED_AS,
    OTHER_ARRAYS,
    OTHER_RECORDS,
    OTHER_TEXTS,
    OTHERS,
    PAGE,
    SAME_AS,
    Column,
    answer,
    cell,
    read_document,
)
from tests.admission.run_columns import RUN_COLUMNS
from tests.admission.values import VALUES

DOCUMENT: Final = read_document(PAGE.read_text(encoding="utf-8"))
PAGE_VALUES: Final = {**VALUES, **ATTEMPT_VALUES, **JOURNAL_VALUES}


@pytest.fixture(scope="module")
def columns() -> Iterator[Mapping[str, Column]]:
    """Every column of the page, those about attempts and the journal over a store."""
    with owning_store(journal=OPTIONS) as store:
        yield {**RUN_COLUMNS, **attempt_columns(store), **journal_columns(store)}


def test_every_value_is_described_and_every_description_has_a_value() -> None:
    """A value that the page does not describe, or a description without a value, is an error."""
    assert set(DOCUMENT.descriptions) == set(PAGE_VALUES)
    assert all(DOCUMENT.descriptions.values())


def test_every_column_is_tested_and_every_kind_of_argument_has_a_column(columns: Mapping[str, Column]) -> None:
    """A column without a function, or a function without a column, is an error."""
    assert set(DOCUMENT.cells) == set(columns)


@pytest.mark.parametrize("column", DOCUMENT.cells)
def test_rows_name_known_values_and_every_value_has_a_row(column: str) -> None:
    """Rows name values or columns of the page, and one row speaks for all the rest, so no cell is left open."""
    rows = set(DOCUMENT.cells[column])
    accepted = {f"{ACCEPTED_AS}{other}" for other in DOCUMENT.cells}

    assert rows - set(PAGE_VALUES) - accepted <= {OTHER_TEXTS, OTHER_RECORDS, OTHER_ARRAYS, OTHERS}
    assert OTHERS in rows


def test_every_refusal_of_the_page_occurs_in_a_cell() -> None:
    """A refusal that no cell names would be a rule that nothing tests."""
    used = {text for cells in DOCUMENT.cells.values() for text in cells.values()}

    assert used >= DOCUMENT.names()


def test_cells_are_known_words() -> None:
    """A cell is an acceptance, a named refusal, another column, or the two facts about a refused run state."""
    words = {"accept", "nothing", *DOCUMENT.names(), *(f"{SAME_AS}{column}" for column in DOCUMENT.cells)}
    for column, cells in DOCUMENT.cells.items():
        for name, text in cells.items():
            state = column == "run state" and text.startswith("length ") and text.endswith("valid")

            assert text in words or state, (column, name, text)


@pytest.mark.parametrize("name", PAGE_VALUES)
def test_br_54_every_argument_answers_the_value_as_its_cell_says(columns: Mapping[str, Column], name: str) -> None:
    """Admission, and the store, accept or refuse the value in every column as the page states (RS-300..RS-329,
    RS-800..RS-860, JN-024, JN-082, JN-150, JN-250..JN-280)."""
    value = PAGE_VALUES[name]()

    wrong = {
        column: (actual, expected)
        for column, places in columns.items()
        if (actual := answer(DOCUMENT, places, value)) != (expected := cell(DOCUMENT, column, name, value))
    }

    assert wrong == {}
