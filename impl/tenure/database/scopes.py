"""Explicit transactions as context managers, and the mark that each leaves in the context that opened it."""

from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING

from tenure.database.engine import UsageError

if TYPE_CHECKING:
    from tenure.database.writer import Database


class Scope:
    """Marks, in the context that opened it, one outermost explicit transaction.

    It knows neither transaction nor database: whoever drops a database without closing it must be rid of it at once,
    and of its locks, whatever contexts live on.
    """

    __slots__ = ()


open_scopes: ContextVar[tuple[Scope, ...]] = ContextVar("tenure_open_scopes", default=())


class Transaction:
    """One managed scope: the outermost is a transaction, an inner one a savepoint. It is entered once at a time."""

    __slots__ = ("_database", "_is_entered", "_mark", "_outer")

    def __init__(self, database: "Database") -> None:
        self._database = database
        self._is_entered = False
        self._mark: int | None = None
        self._outer: tuple[Scope, ...] = ()

    def __enter__(self) -> None:
        if self._is_entered:
            # It remembers one scope: the outer one would never end.
            raise UsageError("this transaction is open already; nest another one in it")
        scope = Scope()
        self._mark = self._database.enter(scope)
        self._is_entered = True
        self._outer = open_scopes.get()
        if self._mark is None:
            open_scopes.set((*self._outer, scope))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._is_entered = False
        if self._mark is None:
            open_scopes.set(self._outer)
        self._database.exit(self._mark, error)
