"""What happens beside the operations: rows planted by hand, and the program's own work after a commit."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from tenure.database.engine import DatabaseError
from tenure.port.journal.session import JournalSession, Sessions, Step
from tenure_model.admission.event_identity import event_id
from tenure_model.vocabulary.errors import RunStoreError, RunStoreErrorCode

_WRITE_EVENT: Final = """
    INSERT INTO flows_journal_events(
        run_id, seq, event_id, source_id, source_seq, emitted_at_ms, event_type, payload_json, meta_json)
    VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq
"""
_REST: Final = ("source_id", "source_seq", "emitted_at_ms", "event_type", "payload_json", "meta_json")
_WRITE_GENERATION: Final = """
    INSERT INTO flows_journal_generations(run_id, generation, after_seq) VALUES(?, ?, ?)
    ON CONFLICT(run_id) DO UPDATE SET generation = excluded.generation, after_seq = excluded.after_seq
    RETURNING run_id
"""


def _write_event(_: Sessions, acting: JournalSession, columns: Mapping[str, Any]) -> object:
    name = event_id(columns["run_id"], columns["source_id"], columns["source_seq"])
    bindings = (columns["run_id"], columns["seq"], name, *(columns[column] for column in _REST))
    return _write(acting, "event.write", _WRITE_EVENT, bindings)


def _write_generation(_: Sessions, acting: JournalSession, **columns: Any) -> object:
    bindings = tuple(columns[name] for name in ("runId", "generation", "afterSeq"))
    return _write(acting, "generation.write", _WRITE_GENERATION, bindings)


def _write(acting: JournalSession, method: str, sql: str, bindings: tuple[Any, ...]) -> object:
    database = acting.store.database
    try:
        # The guard of the tombstones ignores a row without a word (JN-010).
        failure = None if acting.context.run(database.write, database.rows, sql, bindings) else "constraint"
    except DatabaseError as error:
        failure = error.code
    if failure is None:
        return None
    code: RunStoreErrorCode = "constraint" if failure == "constraint" else "persistence_failed"
    return RunStoreError(code, method, "database operation failed", {"category": code, "cause": {"code": failure}})


def _when_committed(sessions: Sessions, acting: JournalSession, label: str) -> object:
    journal, _driver = acting.required("whenCommitted")
    return acting.context.run(journal.when_committed, partial(sessions.ran.append, label))


def _after_commit(sessions: Sessions, acting: JournalSession, label: str) -> object:
    return acting.context.run(acting.store.database.after_commit, partial(sessions.ran.append, label))


STEPS: Final[Mapping[str, Step]] = {
    "event.write": _write_event,
    "generation.write": _write_generation,
    "journal.whenCommitted": _when_committed,
    "journal.afterCommit": _after_commit,
}
