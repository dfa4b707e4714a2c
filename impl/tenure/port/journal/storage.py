"""Storage that fails where a driver wants it to."""

from typing import Any

from tenure.database.engine import Connection, DatabaseError
from tenure.port.runs import PluggedEngine


class _FaultyConnection:
    """A connection that opens no transaction while its engine's storage is broken."""

    def __init__(self, connection: Connection, engine: "FaultyEngine") -> None:
        self._connection = connection
        self._engine = engine
        self.rows = connection.rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def begin(self) -> None:
        """Open a transaction, unless the storage is broken."""
        if self._engine.is_broken:
            raise DatabaseError("io", "the storage was made to fail")
        self._connection.begin()


class FaultyEngine(PluggedEngine):
    """An engine whose storage can be made to fail: no transaction begins while it ``is_broken``."""

    is_broken = False

    def connect(self, *, read_only: bool = False) -> Connection:
        """A real connection that can fail."""
        connection: Any = _FaultyConnection(super().connect(read_only=read_only), self)
        return connection  # type: ignore[no-any-return]  # the rest of the protocol is by __getattr__
