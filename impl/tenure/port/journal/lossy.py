"""The three phases of a lossy admission, and the writer's three steps."""

import contextvars
from collections.abc import Mapping
from typing import Any, Final

from tenure.journal import lossy
from tenure.journal.instance import Instance
from tenure.port.journal.session import JournalSession, Sessions, Step
from tenure_model.semantics.journal.answers import Begun, Blocked
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal import Duplicate
from tenure_model.vocabulary.journal_errors import JournalUsageError


def _begin(_: Sessions, acting: JournalSession, input: object) -> object:
    journal, _driver = acting.required("emitLossy")
    if _is_gated(acting, journal.instance, input):
        return Blocked()
    begun = acting.context.run(lossy.begin, journal.instance, input)
    return begun if isinstance(begun, Duplicate) else Begun(acting.hold([begun, False]))


def _emit(_: Sessions, acting: JournalSession, input: object) -> object:
    journal, _driver = acting.required("emitLossy")
    if _is_gated(acting, journal.instance, input):
        return Blocked()
    return acting.context.run(journal.emit_lossy, input)  # type: ignore[arg-type]  # admission's to judge


def _is_gated(acting: JournalSession, instance: Instance, input: object) -> bool:
    """Whether the admission of an input would wait for a compaction of its run."""
    return bool(instance.gates) and acting.context.run(instance.prepare, input).run_id in instance.gates


def _admission(acting: JournalSession, token: int) -> list[Any]:
    acting.required("emitLossy")
    begun = acting.held.get(token)
    if not isinstance(begun, list):
        raise JournalUsageError("no admission has this token")
    return begun


def _read(_: Sessions, acting: JournalSession, token: int) -> object:
    begun = _admission(acting, token)
    journal, _driver = acting.required("emitLossy")
    if not begun[1]:
        try:
            acting.context.run(lossy.read_floors, journal.instance, begun[0])
        except BaseException:
            del acting.held[token]
            lossy.end(journal.instance, begun[0])
            raise
        begun[1] = True
    return None


def _finish(_: Sessions, acting: JournalSession, token: int) -> object:
    begun = _admission(acting, token)
    journal, _driver = acting.required("emitLossy")
    if not begun[1] or begun[0].prepared.run_id in journal.instance.gates:
        return Blocked()
    del acting.held[token]
    try:
        return acting.context.run(lossy.finish, journal.instance, begun[0])
    finally:
        lossy.end(journal.instance, begun[0])


def _take(_: Sessions, acting: JournalSession) -> object:
    _journal, driver = acting.required("writer")
    return 0 if driver.writer.has_taken else driver.writer.take()


def _write(sessions: Sessions, acting: JournalSession, fault: object = ABSENT) -> object:
    _journal, driver = acting.required("writer")
    writer = driver.writer
    if not writer.has_taken or writer.has_written:
        return None
    if fault is ABSENT and sessions.is_held():
        return Blocked()
    acting.storage.is_broken = fault is not ABSENT
    try:
        # In a context of its own, as the writer's thread is: never inside the session's transaction.
        contextvars.Context().run(writer.write)
    finally:
        acting.storage.is_broken = False
    return None


def _settle(_: Sessions, acting: JournalSession) -> object:
    _journal, driver = acting.required("writer")
    acting.context.run(driver.writer.settle)
    return None


def drain(sessions: Sessions, acting: JournalSession) -> object:
    """Take, write and settle until the queue is empty; ``Blocked`` where a transaction is in the way."""
    journal, driver = acting.required("writer")
    while driver.writer.has_taken or journal.instance.backlog.queue:
        _take(sessions, acting)
        if isinstance(_write(sessions, acting), Blocked):
            return Blocked()
        _settle(sessions, acting)
    return None


STEPS: Final[Mapping[str, Step]] = {
    "journal.emitLossy": _emit,
    "lossy.begin": _begin,
    "lossy.read": _read,
    "lossy.finish": _finish,
    "writer.take": _take,
    "writer.write": _write,
    "writer.settle": _settle,
    "writer.drain": drain,
}
