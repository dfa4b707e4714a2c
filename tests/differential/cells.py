"""What a fuzz run has reached: (situation of the run, operation, outcome tag), and what it must reach.

A situation is the run's status with the state of its claim, or ``missing``; for steps of a journal it is whether a
transaction is open (its own, another's, none) and how the instance stands; it is ``any`` for what is refused before a
row is looked at (invalid input, a busy database). ``cells.txt`` lists what full runs have reached, but for what
they meet only now and then; a full run that misses one of them fails.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final, TypeAlias

from tenure_model.conform.systems import RUN_COLUMNS, Columns
from tenure_model.vocabulary.attempt_errors import AttemptStoreError
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.journal_errors import JournalError

Cell: TypeAlias = tuple[str, str, str]

CELLS_FILE: Final = Path(__file__).with_name("cells.txt")

_REGARDLESS: Final = ("error:invalid_run", "error:invalid_attempt", "error:persistence_failed")

_STATUS: Final = RUN_COLUMNS.index("status")
_CLAIM: Final = RUN_COLUMNS.index("claim_host_id")


def situation(run: Columns | None) -> str:
    """``missing``, or the status, with ``+claim`` while a claim is pending."""
    if run is None:
        return "missing"
    return f"{run[_STATUS]}+claim" if run[_CLAIM] is not None else str(run[_STATUS])


def cell(before: str, operation: str, result: object) -> Cell:
    """The cell that a call in a situation has reached."""
    answer = tag(result)
    return ("any" if answer in _REGARDLESS else before), operation, answer


def tag(result: object) -> str:
    """The outcome's tag, the error's code, or what kind of plain value came back."""
    if isinstance(result, RunStoreError | AttemptStoreError | JournalError):
        return f"error:{result.code}"
    if result is None or isinstance(result, bool):
        return str(result).lower()
    if isinstance(result, tuple | list):
        return "empty" if not result else "one" if len(result) == 1 else "several"
    return type(result).__name__


def read_cells(path: Path = CELLS_FILE) -> frozenset[Cell]:
    """The cells a full run must reach."""
    if not path.exists():
        return frozenset()
    lines = (line.split() for line in path.read_text().splitlines() if line and not line.startswith("#"))
    return frozenset((where, operation, answer) for where, operation, answer in lines)


def write_cells(cells: Iterable[Cell], path: Path = CELLS_FILE) -> None:
    """Write the list anew, sorted."""
    header = "# situation  operation  outcome: every cell that a full run of the fuzzer has reached\n"
    path.write_text(header + "".join(f"{' '.join(cell)}\n" for cell in sorted(cells)))
