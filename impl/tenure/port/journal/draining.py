"""Compaction and close, which wait in the middle: each is the real call, in a thread that stops where it would wait."""

from collections.abc import Mapping
from typing import Final

import attrs

from tenure.port.journal.lossy import drain
from tenure.port.journal.operations import bound
from tenure.port.journal.paused import Paused
from tenure.port.journal.session import JournalSession, Sessions, Step
from tenure.port.journal.waiting import finish_maintenance
from tenure_model.semantics.journal.answers import Blocked, Done, Waiting
from tenure_model.vocabulary.journal_errors import JournalUsageError


@attrs.frozen(eq=False)
class _Compaction:
    """A compaction on its way, and the run that it waits for."""

    call: Paused
    run_id: str


def _begin_compact(_: Sessions, acting: JournalSession, **arguments: object) -> object:
    compact = bound(acting, "journal.compact", arguments)
    if acting.transactions:
        return acting.context.run(compact)
    call = acting.start(compact)
    return call.answer() if call.has_ended else Waiting(acting.hold(_Compaction(call, str(arguments["runId"]))))


def _poll_compact(sessions: Sessions, acting: JournalSession, ticket: int) -> object:
    journal, _driver = acting.required("compact")
    begun = acting.held.get(ticket)
    if not isinstance(begun, _Compaction):
        raise JournalUsageError("no compaction has this ticket")
    call = begun.call
    if call.at != "gate":
        is_drained = journal.instance.backlog.is_drained(begun.run_id)
        if sessions.is_held():
            return Blocked() if is_drained else Waiting(ticket)
        if call.at == "drain":
            call.go_on()
            if call.at == "drain":
                return Waiting(ticket)
    call.go_on()
    acting.gated = None if call.has_ended or call.at != "gate" else call
    if not call.has_ended:
        return Waiting(ticket)
    del acting.held[ticket]
    return call.answer()


def _begin_close(_: Sessions, acting: JournalSession) -> object:
    journal, _driver = acting.required("close")
    if acting.transactions:
        # It refuses by the thread that it is called in.
        acting.context.run(journal.close)
        return Done()
    if acting.closing is not None:
        return Waiting(acting.closing)
    call = acting.start(journal.close)
    if call.has_ended:
        call.answer()
        return Done()
    acting.closing = acting.hold(call)
    return Waiting(acting.closing)


def _poll_close(_: Sessions, acting: JournalSession, ticket: int) -> object:
    acting.required("close")
    if acting.closing is None or ticket != acting.closing:
        raise JournalUsageError("no close has this ticket")
    call: Paused = acting.held[ticket]
    call.go_on()
    if not call.has_ended:
        return Waiting(ticket)
    acting.closing = None
    del acting.held[ticket]
    call.answer()
    return Done()


def _close(sessions: Sessions, acting: JournalSession) -> object:
    """In one go; by its steps where it is under way already, or where a transaction is in the way."""
    journal, _driver = acting.required("close")
    if acting.closing is None and not sessions.is_held():
        acting.context.run(journal.close)
        return None
    begun = _begin_close(sessions, acting)
    if isinstance(begun, Waiting):
        drain(sessions, acting)
        finish_maintenance(sessions, acting)
        begun = _poll_close(sessions, acting, begun.ticket)
    return None if isinstance(begun, Done) else begun


STEPS: Final[Mapping[str, Step]] = {
    "compact.begin": _begin_compact,
    "compact.poll": _poll_compact,
    "close.begin": _begin_close,
    "close.poll": _poll_close,
    "journal.close": _close,
}
