"""Opening the instance of a session."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from tenure.journal.facts import JournalRecorder
from tenure.journal.journal import Journal
from tenure.journal.opening import JournalSetup, open_instance
from tenure.port.journal.fates import WatchedBacklog
from tenure.port.journal.session import JournalSession, PublishedLog, Sessions, Step, SteppedDriver
from tenure.port.journal.storage import SteppedConsensus
from tenure_model.semantics.journal.policy import CAPTURES, capture_after_flush
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal_errors import JournalUsageError


def _open(sessions: Sessions, acting: JournalSession, options: object = ABSENT) -> object:
    if acting.journal is not None and acting.journal.instance.status != "closed":
        raise JournalUsageError("the session has an open journal")
    if acting.transactions:
        raise JournalUsageError("a journal cannot be opened inside a transaction")
    setup = JournalSetup(_with_capture(options, acting), writer="manual")  # type: ignore[arg-type]  # admission's to judge
    database: Any = acting.database  # all of one that a journal uses
    instance = acting.context.run(
        open_instance, database, SteppedConsensus(database.rows), lambda: acting.clock_ms, setup
    )
    acting.give_up()
    driver = SteppedDriver(instance)
    instance.driver = driver
    instance.backlog = WatchedBacklog(sessions.fates, lambda: driver.writer.fates)
    acting.published = PublishedLog()
    instance.changes.add(acting.published)  # type: ignore[arg-type]  # it offers and ends as a subscription does
    acting.journal, acting.driver = Journal(instance), driver
    acting.switch.recorder = JournalRecorder(instance)
    return None


def _with_capture(options: object, acting: JournalSession) -> object:
    """The options with a capture in place of its name; the one that flushes does so here."""
    if not isinstance(options, dict) or not isinstance(options.get("compaction"), dict):
        return options
    policy = options["compaction"]
    named = policy.get("capture")
    capture = CAPTURES.get(named, named)
    if capture is capture_after_flush:
        capture = partial(_capture_after_flush, acting)
    return {**options, "compaction": {**policy, "capture": capture}}


def _capture_after_flush(acting: JournalSession, run_id: str, up_to: int) -> object:
    journal, _driver = acting.required("flush")
    journal.flush()
    return capture_after_flush(run_id, up_to)


STEPS: Final[Mapping[str, Step]] = {"journal.open": _open}
