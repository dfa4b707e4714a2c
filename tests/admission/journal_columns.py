"""What admission and a store make of a value in each column of `specs/rules/admission.md` that is about the journal."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count
from typing import Any, Final

import attrs

import tenure
from tenure_model.admission.journal_input import admit_fence_owner, admit_journal_input
from tenure_model.admission.journal_options import (
    admit_checkpoint_options,
    admit_compact_options,
    admit_entries_options,
    admit_journal_options,
    admit_stream_options,
)
from tenure_model.admission.preparation import prepare
from tenure_model.admission.redaction.redactor import Redactor
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal import (
    CheckpointOptions,
    CompactOptions,
    EntriesOptions,
    JournalInput,
    JournalOptions,
    StreamOptions,
)
from tests.admission.journal_values import INPUT, OPTIONS
from tests.admission.page import Column, TextRefusal, in_turn
from tests.admission.values import OWNER, both_forms, snake_case

FENCE: Final = "requires a well-formed owner fence"


@attrs.frozen
class Taken:
    """A record, or options, that an operation takes: how they are admitted, and by which call of the store."""

    carrier: type[Any]
    good: Mapping[str, object]
    admit: Callable[[object], object]
    call: Callable[[object], object]
    defaults: bool = False
    """Whether null takes the default as absence does."""


class _UndoneError(Exception):
    """Ends a transaction of which nothing is to be kept."""


def journal_columns(store: tenure.Store) -> Mapping[str, Column]:
    """Every column about the journal, over a store with one, which stays as it is."""
    journal: Any = store.journal
    told = partial(_told, store)

    def spread(call: Callable[..., object]) -> Callable[[object], object]:
        """A call that takes as arguments what the wire has as the members of one record."""

        def spread_call(record: Any) -> object:
            members = record if type(record) is dict else {}
            return call(**{snake_case(name): member for name, member in members.items()})

        return spread_call

    event = Taken(JournalInput, INPUT, admit_journal_input, journal.emit_durable_unfenced)
    content = Taken(JournalInput, INPUT, _prepared, journal.emit_durable_unfenced)
    page = Taken(EntriesOptions, {"runId": "run-1", "limit": 1}, admit_entries_options, spread(journal.entries))
    stream = Taken(
        StreamOptions,
        {"runId": "run-1"},
        admit_stream_options,
        spread(lambda **options: journal.stream(**options).close()),
    )
    checkpoint = Taken(
        CheckpointOptions,
        {"runId": "run-1", "seq": 0, "state": {}},
        admit_checkpoint_options,
        spread(partial(journal.checkpoint, owner=OWNER)),
    )
    compaction = Taken(
        CompactOptions, {"runId": "run-1"}, admit_compact_options, spread(partial(journal.compact, owner=OWNER))
    )
    options = Taken(
        JournalOptions,
        OPTIONS,
        admit_journal_options,
        lambda given: tenure.open(":memory:", journal=given).close(),
        defaults=True,
    )
    field = partial(_field, told)

    producers = map("producer-{}".format, count())

    def numbered(value: object) -> Iterator[object]:
        # A producer of its own: what is numbered last would leave no number for others to be given.
        yield from field(attrs.evolve(event, good={**INPUT, "sourceId": next(producers)}), "sourceSeq", value)

    def fence(value: object) -> Iterator[object]:
        admitted = admit_fence_owner(value)
        yield TextRefusal("", FENCE) if isinstance(admitted, Refusal) else "accept"
        for method, call in (
            ("emitDurable", lambda: journal.emit_durable(dict(INPUT), value)),
            ("checkpoint", lambda: journal.checkpoint("run-1", 0, {}, value)),
            ("compact", lambda: journal.compact("run-1", value)),
        ):
            yield told(call, f"{method} ") or "accept"

    def whole(value: object) -> Iterator[object]:
        admitted = admit_journal_input(value)
        yield admitted if isinstance(admitted, Refusal) else "accept"
        yield told(lambda: journal.emit_durable_unfenced(value)) or "accept"

    return {
        "journal input": whole,
        "fence": fence,
        "journal run id": in_turn(*(partial(field, taken, "runId") for taken in (event, page, stream, compaction))),
        "source id": partial(field, event, "sourceId"),
        "event type": partial(field, event, "eventType"),
        "source sequence": numbered,
        "dedupe": partial(field, event, "dedupe"),
        "payload": partial(field, content, "payload"),
        "meta": partial(field, content, "meta"),
        "limit": partial(field, page, "limit"),
        "event types": partial(field, page, "eventTypes"),
        "after": partial(field, page, "after"),
        "after sequence": partial(field, stream, "afterSequence"),
        "up to": partial(field, compaction, "upTo"),
        "checkpoint sequence": partial(field, checkpoint, "seq"),
        "capacity": partial(field, options, "capacity"),
        "overflow": partial(field, options, "overflow"),
        "batch size": partial(field, options, "batchSize"),
    }


def _prepared(record: object) -> object:
    return prepare(record, 1_000, Redactor())


def _told(store: tenure.Store, call: Callable[[], object], operation: str = "") -> object:
    """The refusal that a call of the store raises, or ``None``; whatever it wrote is undone."""
    try:
        with store.transaction():
            call()
            raise _UndoneError
    except _UndoneError:
        return None
    except tenure.JournalError as error:
        return _refusal(error, operation) if error.code == "invalid_event" else None


def _refusal(error: tenure.JournalError, operation: str = "") -> object:
    cause: Any = error.cause
    return TextRefusal("", error.text.removeprefix(operation)) if cause is None else Refusal(cause)


def _field(told: Callable[..., object], taken: Taken, wire: str, value: object) -> Iterator[object]:
    """A value as a member of a record that is good otherwise, in a ``dict`` and in the frozen class."""
    is_default = value is ABSENT or (taken.defaults and value is None)
    for form in both_forms(taken.carrier, {**taken.good, wire: value}):
        admitted = taken.admit(form)
        if isinstance(admitted, tenure.JournalError):
            judged = _refusal(admitted)
        elif isinstance(admitted, Refusal):
            judged = admitted
        else:
            judged = "nothing" if is_default else "accept"
        yield judged
        if type(form) is dict or taken.carrier in (JournalInput, JournalOptions):
            yield told(lambda form=form: taken.call(form)) or judged
