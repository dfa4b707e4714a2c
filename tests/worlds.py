"""What every test over a store has: a clock to set, an owner, raw SQL, and the errors that calls raise."""

from collections.abc import Callable
from typing import ClassVar, Final, TypeVar

import pytest

import tenure
from tenure.database.engine import SqlRow

NOW: Final = 1_000_000
A: Final = tenure.OwnerId("h1", 1, "a")

Error = TypeVar("Error", bound=Exception)


class Clock:
    """The store's clock, set by hand."""

    def __init__(self, ms: float = NOW) -> None:
        self.ms = ms

    def __call__(self) -> float:
        return self.ms


class StoreWorld:
    """A store, looked at and written to past its operations; ``TABLES`` are those that its digest is of."""

    __slots__ = ()

    TABLES: ClassVar[tuple[str, ...]]
    store: tenure.Store

    def sql(self, statement: str, *bindings: str | int | bytes | None) -> list[SqlRow]:
        """Raw SQL, as a stray program would run it."""
        return self.store.database.write(self.store.database.rows, statement, bindings)

    def corrupt(self, statement: str, *bindings: str | int | bytes | None) -> None:
        """Raw SQL that no constraint stops."""
        self.store.database.rows("PRAGMA ignore_check_constraints = 1")
        self.sql(statement, *bindings)
        self.store.database.rows("PRAGMA ignore_check_constraints = 0")

    def digest(self) -> dict[str, list[SqlRow]]:
        """Every row of every table."""
        return {table: self.store.database.read(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in self.TABLES}


def raised(kind: type[Error], call: Callable[[], object]) -> Error:
    """The error of this kind that a call raises."""
    with pytest.raises(kind) as caught:
        call()
    return caught.value


def error_of(kind: type[Error], call: Callable[[], object]) -> Error | None:
    """The error of this kind that a call raises, if it does."""
    try:
        call()
    except kind as error:
        return error
    return None


def shown_by(error: BaseException | None) -> str:
    """All that an error and those behind it would show of themselves."""
    shown: list[str] = []
    while error is not None:
        shown += [str(error), repr(error), repr(error.args)]
        error = error.__cause__
    return "\n".join(shown)
