"""Storage that a driver holds on to: it fails, and its writes wait, where the driver wants them to."""

from collections.abc import Callable
from typing import Any, Final, TypeVar, TypeVarTuple

from tenure.consensus.database import DatabaseConsensus
from tenure.database.engine import Bindings, Connection, DatabaseError, SqlRow
from tenure.database.writer import Database
from tenure.journal import statements
from tenure.port.journal.paused import pause_here
from tenure.port.runs import PluggedEngine
from tenure_model.vocabulary.owners import OwnerId

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

DATABASE_FAULTS: Final = ("read", "newest", "delete")


def _made_to_fail() -> DatabaseError:
    return DatabaseError("io", "the storage was made to fail")


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
            raise _made_to_fail()
        self._connection.begin()


class FaultyEngine(PluggedEngine):
    """An engine whose storage can be made to fail: no transaction begins while it ``is_broken``."""

    is_broken = False

    def connect(self, *, read_only: bool = False) -> Connection:
        """A real connection that can fail."""
        connection: Any = _FaultyConnection(super().connect(read_only=read_only), self)
        return connection  # type: ignore[no-any-return]  # the rest of the protocol is by __getattr__


class SteppedDatabase:
    """A session's database as its journal sees it: the write of a paused call stops before it begins.

    ``fault`` says what fails: ``read`` every read outside of a write, ``newest`` that of the newest identities alone,
    ``delete`` what deletes entries inside a write.
    """

    fault: object = None

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows = database.rows
        self.after_commit = database.after_commit
        self.transaction = database.transaction

    @property
    def held_here(self) -> bool:
        """As the real database."""
        return self._database.held_here

    def read(self, sql: str, bindings: Bindings = ()) -> list[SqlRow]:
        """As the real database, unless reads fail."""
        self._fail(sql)
        return self._database.read(sql, bindings)

    def read_committed(self, sql: str, bindings: Bindings = ()) -> list[SqlRow]:
        """As the real database, unless reads fail."""
        self._fail(sql)
        return self._database.read_committed(sql, bindings)

    def rows(self, sql: str, bindings: Bindings = (), /) -> list[SqlRow]:
        """As inside a write of the real database, unless it deletes entries and that fails."""
        if self.fault == "delete" and sql == statements.DELETE_BELOW:
            raise _made_to_fail()
        return self._rows(sql, bindings)

    def _fail(self, sql: str) -> None:
        if self.fault == "read" or (self.fault == "newest" and sql == statements.NEWEST):
            raise _made_to_fail()

    def write(self, body: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        """As the real database, after a pause."""
        pause_here("write")
        return self._database.write(body, *arguments)


class SteppedConsensus(DatabaseConsensus):
    """Leases that a paused call looks at only once it is let go on: a compaction has then closed its gate."""

    def guard(self, run_id: str, owner: OwnerId) -> None:
        """As the real strategy, after a pause."""
        pause_here("gate")
        super().guard(run_id, owner)
