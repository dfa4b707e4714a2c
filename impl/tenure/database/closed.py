"""The connection of a database that this program has closed."""

from typing import Final

from tenure.database.engine import Bindings, ClosedError, SqlRow


class ClosedConnection:
    """Every use says that the database is closed, but for those that only clean up."""

    in_transaction = False

    def rows(self, sql: str, bindings: Bindings = (), /) -> list[SqlRow]:
        """Refuse."""
        raise ClosedError

    def begin(self) -> None:
        """Refuse."""
        raise ClosedError

    def commit(self) -> None:
        """Refuse."""
        raise ClosedError

    def rollback(self) -> None:
        """Do nothing."""

    def savepoint(self) -> None:
        """Refuse."""
        raise ClosedError

    def release(self) -> None:
        """Refuse."""
        raise ClosedError

    def rollback_to_savepoint(self) -> None:
        """Refuse."""
        raise ClosedError

    def close(self) -> None:
        """Do nothing."""


CLOSED: Final = ClosedConnection()
