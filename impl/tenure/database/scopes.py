"""Explicit transactions as context managers, and how the context that opened one is told from others."""

from contextvars import ContextVar, Token
from types import TracebackType
from typing import TYPE_CHECKING

from tenure.database.engine import UsageError

if TYPE_CHECKING:
    from tenure.database.writer import Database

_here: ContextVar[None] = ContextVar("tenure_scope")


class Scope:
    """The context in which it is made: that of one task, or of a thread that runs none.

    A value set in a context would tell less. Whatever is started from there, a task of a loop as well, has a copy of
    it; but a token is taken back by the very context that gave it, and by no copy.
    """

    __slots__ = ("_token",)

    def __init__(self) -> None:
        self._token: Token[None] = _here.set(None)

    def is_here(self) -> bool:
        """Whether the caller runs in this context."""
        try:
            _here.reset(self._token)
        except ValueError:
            return False
        except RuntimeError:
            # Ctrl-C came after the token was taken back, and before there was another.
            pass
        self._token = _here.set(None)
        return True


class Transaction:
    """One managed scope: the outermost is a transaction, an inner one a savepoint. It is entered once at a time."""

    __slots__ = ("_database", "_is_entered", "_mark")

    def __init__(self, database: "Database") -> None:
        self._database = database
        self._is_entered = False
        self._mark: int | None = None

    def __enter__(self) -> None:
        if self._is_entered:
            # It remembers one scope: the outer one would never end.
            raise UsageError("this transaction is open already; nest another one in it")
        self._mark = self._database.enter()
        self._is_entered = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._is_entered = False
        self._database.exit(self._mark, error)
