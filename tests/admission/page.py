"""Reads `specs/rules/admission.md`: which cell speaks for a value in a column, and which an answer would write."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs

from tenure_model.admission.json_values import JsonComplaint
from tenure_model.admission.refusal import Refusal

PAGE: Final = Path(__file__).parents[2] / "specs" / "rules" / "admission.md"

OTHER_TEXTS: Final = "every other text"
"""The row of a section that speaks for every exact `str` without a row of its own; not every section has one."""

OTHER_RECORDS: Final = "every other dict of text keys"
"""The row of a section that speaks for every exact `dict` whose keys are exact texts."""

OTHER_ARRAYS: Final = "every other array or tuple"
"""The row of a section that speaks for every exact `list` and `tuple`."""

OTHERS: Final = "every other value"
"""The row of a section that speaks for all the rest."""

ACCEPTED_AS: Final = "every value accepted as "
"""With a column's name, the row for all that this column accepts and that has no row of its own."""

SAME_AS: Final = "as "
"""With a column's name, the cell that says what that column says of the value."""

SHARED_WORDS: Final = ("record", "values")
"""Cells that stand for a refusal of each operation: `record` is `put-record` for a put."""

Column = Callable[[object], Iterable[object]]
"""From a value to whatever the column's places make of it, one after the other."""


@attrs.frozen
class TextRefusal:
    """What an operation refused with a text alone, told by the text; ``operation`` is its prefix on the page."""

    operation: str
    text: str


@attrs.frozen
class Document:
    """The page: what the values are, what the refusals say, and every cell by column and value."""

    descriptions: Mapping[str, str]
    refusals: Mapping[str, tuple[str, str]]
    texts: Mapping[str, str]
    cells: Mapping[str, Mapping[str, str]]

    def names(self) -> set[str]:
        """Every word that a refusal may have in a cell."""
        return {*self.refusals, *(_shared_word(name)[1] for name in self.texts)}


def read_document(text: str) -> Document:
    """The tables of the page, told apart by their first header cell."""
    descriptions: dict[str, str] = {}
    refusals: dict[str, tuple[str, str]] = {}
    texts: dict[str, str] = {}
    cells: dict[str, dict[str, str]] = {}
    for header, rows in _tables(text):
        if header == ["name", "value"]:
            for name, description in rows:
                assert name not in descriptions, name
                descriptions[name] = description
        elif header == ["refusal", "field", "detail"]:
            for name, field, detail in rows:
                assert name not in refusals, name
                refusals[name] = (field, detail)
        elif header == ["refusal", "text"]:
            for name, detail in rows:
                assert name not in texts, name
                texts[name] = detail
        else:
            assert header[0] == "value", header
            for column in header[1:]:
                assert column not in cells, column
                cells[column] = {}
            for row in rows:
                for column, cell in zip(header[1:], row[1:], strict=True):
                    assert row[0] not in cells[column], row[0]
                    cells[column][row[0]] = cell
    return Document(descriptions, refusals, texts, cells)


def _tables(text: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    for block in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        lines = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in block.splitlines()]
        yield lines[0], lines[2:]


def cell(document: Document, column: str, name: str, value: object) -> str:
    """The cell that speaks for a value: its own, or that of the values or texts without one."""
    cells = document.cells[column]
    return _followed(document, cells[_row(document, cells, name, value)], name, value)


def _row(document: Document, cells: Mapping[str, str], name: str, value: object) -> str:
    if name in cells:
        return name
    for row in cells:
        if row.startswith(ACCEPTED_AS) and cell(document, row.removeprefix(ACCEPTED_AS), name, value) == "accept":
            return row
    row = OTHERS
    if type(value) is str:
        row = OTHER_TEXTS
    elif type(value) is list or type(value) is tuple:
        row = OTHER_ARRAYS
    elif type(value) is dict and all(type(key) is str for key in value):
        row = OTHER_RECORDS
    return row if row in cells else OTHERS


def _followed(document: Document, text: str, name: str, value: object) -> str:
    return cell(document, text.removeprefix(SAME_AS), name, value) if text.startswith(SAME_AS) else text


def answer(document: Document, column: Column, value: object) -> str:
    """The cell that the column's places would write: `accept`, `nothing`, the name of a refusal, or facts of a text."""
    answers = {_name(document, outcome) for outcome in column(value)}
    assert len(answers) == 1, answers
    return answers.pop()


def in_turn(*places: Column) -> Column:
    """A column of several places, each of which must make the same of a value."""

    def outcomes(value: object) -> Iterator[object]:
        for place in places:
            yield from place(value)

    return outcomes


def _name(document: Document, outcome: object) -> str:
    if isinstance(outcome, str):
        return outcome
    if isinstance(outcome, TextRefusal):
        names = [name for name, text in document.texts.items() if text == outcome.text]
        assert len(names) == 1, outcome
        operation, word = _shared_word(names[0])
        assert operation in ("", outcome.operation), outcome
        return word
    if isinstance(outcome, JsonComplaint):
        wanted = ("", outcome.text)
    else:
        assert isinstance(outcome, Refusal)
        wanted = (str(outcome.cause["field"]), str(outcome.cause["detail"]))
    names = [name for name, refusal in document.refusals.items() if refusal == wanted]
    assert len(names) == 1, wanted
    return names[0]


def _shared_word(name: str) -> tuple[str, str]:
    """Which operation a refusal belongs to, none unless its word is shared, and what a cell calls it."""
    operation, _, word = name.rpartition("-")
    return (operation, word) if word in SHARED_WORDS else ("", name)
