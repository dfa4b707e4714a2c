"""How an instance comes to be: options, its table, and what it remembers of the newest rows (JN-150..JN-154)."""

import threading
from collections.abc import Callable, Mapping
from typing import Literal

import attrs

from tenure.consensus.strategy import ConsensusStrategy
from tenure.database.engine import UndecodableTextError
from tenure.database.writer import Database
from tenure.journal import statements
from tenure.journal.decoding import decode_entries, undecodable_row
from tenure.journal.driving import Driver, ManualDriver, ThreadDriver
from tenure.journal.failures import storage_failure
from tenure.journal.identities import Remembered
from tenure.journal.instance import Instance, Timing
from tenure.journal.policy import Policy
from tenure.metrics.observer import Observer
from tenure_model.admission.journal_options import admit_journal_options
from tenure_model.vocabulary.journal import CAPTURE_TIMEOUT_MS, STREAM_POLL_MS, JournalOptions
from tenure_model.vocabulary.journal_errors import GENERATIONS_FAILED, SOURCE_EVENTS_FAILED, JournalError


def wait_for_news(condition: threading.Condition, seconds: float) -> object:
    """Wait until notified, at most so long."""
    return condition.wait(seconds)


@attrs.frozen
class JournalSetup:
    """Options, and for programs that drive the journal step by step, what happens by itself.

    With ``writer`` of ``manual`` nothing is written until the driver's writer is told to take, write and settle; what
    has to wait lets it run. ``wait`` is what a stream waits with: a held condition, and how many seconds at most.
    """

    options: JournalOptions | Mapping[str, object]
    writer: Literal["thread", "manual"] = "thread"
    poll_ms: float = STREAM_POLL_MS
    capture_timeout_ms: float = CAPTURE_TIMEOUT_MS
    wait: Callable[[threading.Condition, float], object] = wait_for_news


def open_instance(
    database: Database,
    consensus: ConsensusStrategy,
    clock: Callable[[], float],
    setup: JournalSetup,
    observer: Observer | None = None,
) -> Instance:
    """A new instance over a migrated database.

    Raises ``invalid_event`` for the first bad option, ``read_failed``, ``sink_failed`` or ``decode_failed`` for what it
    could not create or read.
    """
    settings = admit_journal_options(setup.options)
    if isinstance(settings, JournalError):
        raise settings
    timing = Timing(setup.poll_ms / 1_000, setup.capture_timeout_ms / 1_000, setup.wait)
    instance = Instance(database, consensus, clock, settings, timing, Observer() if observer is None else observer)
    driver: Driver = ThreadDriver(instance) if setup.writer == "thread" else ManualDriver(instance)
    instance.driver = driver
    if settings.compaction is not None:
        instance.policy = Policy(instance, settings.compaction)
    _create_generations(database)
    _remember_newest(instance)
    return instance


def _create_generations(database: Database) -> None:
    try:
        if not database.read(statements.GENERATIONS_EXIST):
            database.write(database.rows, statements.CREATE_GENERATIONS)
    except Exception as error:
        raise storage_failure("read_failed", GENERATIONS_FAILED, error) from error


def _remember_newest(instance: Instance) -> None:
    """Remember the newest identities, the oldest first; nothing is read of the history behind them (JN-152)."""
    try:
        rows = instance.database.read(statements.NEWEST, (instance.settings.source_event_cache,))
    except UndecodableTextError:
        raise undecodable_row() from None
    except Exception as error:
        raise storage_failure("sink_failed", SOURCE_EVENTS_FAILED, error) from error
    decode_entries(rows)
    for run_id, seq, _, source_id, source_seq, _, *content in reversed(rows):
        instance.cache.enter((run_id, source_id, source_seq), Remembered(seq, *content), "committed")
