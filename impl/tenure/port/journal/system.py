"""The store with its journal, driven step by step: nothing here happens by itself, and nothing waits.

What a thread would wait for (a transaction that another session has open, a writer with nothing to do) is answered
``Blocked`` or ``Waiting``, as the steps of the model answer it.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from tenure.database.engine import DatabaseError
from tenure.port.journal import draining, following, lossy, opening, raw, waiting
from tenure.port.journal.operations import bound
from tenure.port.journal.session import JournalSession, Step
from tenure.port.journal.storage import DATABASE_FAULTS
from tenure.port.journal.view import memory_of, read_journal
from tenure.port.runs import StoreSystem, read_tables
from tenure_model.conform.journal_view import JournalView
from tenure_model.conform.systems import SystemState
from tenure_model.semantics.journal.answers import UserFailure
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.journal_errors import TRANSACTION_FAILED, JournalError, JournalUsageError

_STEPS: Final[Mapping[str, Step]] = {
    **opening.STEPS,
    **lossy.STEPS,
    **waiting.STEPS,
    **draining.STEPS,
    **following.STEPS,
    **raw.STEPS,
}


class JournalStoreSystem(StoreSystem):
    """Runs and journal over SQLite, with any number of sessions on one file.

    A ``fault`` beside the arguments of an operation is what fails of its database then: one of ``DATABASE_FAULTS``.
    """

    def __init__(self, sessions: Sequence[str], folder: Path | None) -> None:
        self.ran: list[str] = []
        self.fates: dict[int, str] = {}
        super().__init__(sessions, folder)

    def _open(self) -> JournalSession:
        return JournalSession(self._path)

    def _session(self, name: str) -> JournalSession:
        session = self._sessions[name]
        assert isinstance(session, JournalSession)
        return session

    def call(self, session: str, operation: str, arguments: Mapping[str, object], clock_ms: float) -> object:
        """One operation or step by its wire names; answers its outcome, or its error as a value."""
        if operation.startswith(("run.", "row.")):
            return super().call(session, operation, arguments, clock_ms)
        acting = self._session(session)
        acting.clock_ms = clock_ms
        if arguments.get("fault") in DATABASE_FAULTS:
            acting.database.fault = arguments["fault"]
            arguments = {name: value for name, value in arguments.items() if name != "fault"}
        try:
            if operation == "journal.transact":
                return self._transact(session, acting, **arguments)  # type: ignore[arg-type]  # as the wire gives it
            step = _STEPS.get(operation)
            if step is not None:
                return step(self, acting, **arguments)
            return acting.context.run(bound(acting, operation, arguments))
        except (JournalError, JournalUsageError, RunStoreError) as error:
            return error
        finally:
            acting.database.fault = None

    def journal(self, session: str) -> JournalView:
        """The journal as the session sees it."""
        acting = self._session(session)
        return acting.ask(partial(read_journal, acting.store.database, memory_of(acting), self.ran, self.fates))

    def state(self, session: str) -> SystemState:
        """The runs as the session sees them; the facts are the journal's."""
        acting = self._session(session)
        return acting.ask(partial(read_tables, acting.store.database))

    def is_held(self) -> bool:
        """Whether anybody has the database's one write transaction open."""
        return any(self._session(name).holds for name in self._names)

    def _transact(self, session: str, acting: JournalSession, ops: Sequence[Mapping[str, Any]]) -> object:
        transaction = acting.store.transaction()
        try:
            acting.context.run(transaction.__enter__)
        except DatabaseError:
            raise JournalError("sink_failed", TRANSACTION_FAILED) from None
        acting.transactions.append(transaction)
        outcomes: list[object] = []
        failure: object = None
        for operation in ops:
            if operation["op"] == "fail":
                failure = UserFailure()
                break
            outcome = self.call(session, operation["op"], operation.get("args", {}), acting.clock_ms)
            if isinstance(outcome, JournalError | JournalUsageError | RunStoreError | UserFailure):
                failure = outcome
                break
            outcomes.append(outcome)
        acting.transactions.pop()
        undo = None if failure is None else RuntimeError("rolled back by the driver")
        acting.context.run(transaction.__exit__, None, undo, None)
        return tuple(outcomes) if failure is None else failure
