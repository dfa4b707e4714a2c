"""Opening the instance of a session."""

from collections.abc import Mapping
from typing import Any, Final

from tenure.journal.facts import JournalRecorder
from tenure.journal.journal import Journal
from tenure.journal.opening import JournalSetup, open_instance
from tenure.port.journal.session import JournalSession, PublishedLog, Sessions, Step, SteppedDriver
from tenure.port.journal.storage import SteppedConsensus, SteppedDatabase
from tenure_model.semantics.journal.policy import CAPTURES
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal_errors import JournalUsageError


def _open(_: Sessions, acting: JournalSession, options: object = ABSENT) -> object:
    if acting.journal is not None and acting.journal.instance.status != "closed":
        raise JournalUsageError("the session has an open journal")
    if acting.transactions:
        raise JournalUsageError("a journal cannot be opened inside a transaction")
    setup = JournalSetup(_with_capture(options), writer="manual")  # type: ignore[arg-type]  # admission's to judge
    database: Any = SteppedDatabase(acting.store.database)  # all of it that a journal uses
    instance = acting.context.run(
        open_instance, database, SteppedConsensus(database.rows), lambda: acting.clock_ms, setup
    )
    acting.give_up()
    driver = SteppedDriver(instance)
    instance.driver = driver
    acting.published = PublishedLog()
    instance.changes.add(acting.published)  # type: ignore[arg-type]  # it offers and ends as a subscription does
    acting.journal, acting.driver = Journal(instance), driver
    acting.switch.recorder = JournalRecorder(instance)
    return None


def _with_capture(options: object) -> object:
    """The options with a capture in place of its name."""
    if not isinstance(options, dict) or not isinstance(options.get("compaction"), dict):
        return options
    policy = options["compaction"]
    return {**options, "compaction": {**policy, "capture": CAPTURES.get(policy.get("capture"), policy.get("capture"))}}


STEPS: Final[Mapping[str, Step]] = {"journal.open": _open}
