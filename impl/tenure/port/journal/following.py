"""Streams page by page, and subscriptions."""

from collections.abc import Mapping
from typing import Final

from tenure.journal.changes import Changes
from tenure.journal.streams import EntryStream, open_stream
from tenure.port.journal.session import JournalSession, Sessions, Step
from tenure_model.semantics.journal.answers import Ended


def _open_stream(_: Sessions, acting: JournalSession, **options: object) -> object:
    journal, _driver = acting.required("stream")
    return acting.hold(acting.context.run(open_stream, journal.instance, options))


def _page(_: Sessions, acting: JournalSession, stream: int) -> object:
    acting.required("stream")
    followed = acting.held.get(stream)
    if not isinstance(followed, EntryStream) or followed.is_ended:
        return Ended()
    return tuple(acting.context.run(followed.page))


def _close_stream(_: Sessions, acting: JournalSession, stream: int) -> object:
    acting.required("stream")
    followed = acting.held.get(stream)
    if not isinstance(followed, EntryStream) or followed.is_ended:
        return False
    followed.close()
    return True


def _open_changes(_: Sessions, acting: JournalSession) -> object:
    journal, _driver = acting.required("changes")
    return acting.hold(journal.changes())


def _take_changes(_: Sessions, acting: JournalSession, changes: int) -> object:
    journal, _driver = acting.required("changes")
    subscription = acting.held.get(changes)
    if not isinstance(subscription, Changes) or subscription not in journal.instance.changes:
        return Ended()
    return tuple(subscription.take())


def _close_changes(_: Sessions, acting: JournalSession, changes: int) -> object:
    journal, _driver = acting.required("changes")
    subscription = acting.held.get(changes)
    if not isinstance(subscription, Changes) or subscription not in journal.instance.changes:
        return False
    subscription.close()
    return True


STEPS: Final[Mapping[str, Step]] = {
    "stream.open": _open_stream,
    "stream.page": _page,
    "stream.close": _close_stream,
    "changes.open": _open_changes,
    "changes.take": _take_changes,
    "changes.close": _close_changes,
}
