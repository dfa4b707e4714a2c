"""``stream`` and ``changes``: following a run from its history on, and hearing of what this instance commits.

A stream reads what is committed, page by page, for ever; who drives it decides when, so that its waiting for a wake or
a second is no step here (JN-254, JN-257, JN-258).
"""

import attrs

from tenure_model.admission.journal_options import admit_stream_options
from tenure_model.admission.refusal import Refusal
from tenure_model.semantics.journal.answers import Ended, is_failing
from tenure_model.semantics.journal.instance import Instance, Stream
from tenure_model.semantics.journal.reads import decode, decoded_page
from tenure_model.semantics.journal.state import JournalState, JournalStep, with_instance
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal import Entry
from tenure_model.vocabulary.journal_errors import (
    INVALID_STREAM_OPTIONS,
    JOURNAL_READ_FAILED,
    JournalError,
    unavailable,
)


def open_stream(
    state: JournalState, session: str, clock_ms: float, run_id: object, after_sequence: object
) -> JournalStep:
    """Follow a run from ``after_sequence``, or from its start; answers the stream's number (JN-254).

    From here on the stream counts as a reader that compaction must not overtake, and hears of losses. Opened after
    close it has ended already (JN-233).
    """
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("stream"))
    options = admit_stream_options({"runId": run_id, "afterSequence": after_sequence})
    if isinstance(options, Refusal):
        return JournalStep(state, JournalError("invalid_event", INVALID_STREAM_OPTIONS, cause=options.cause))
    cursor = -1 if options.after_sequence is ABSENT else options.after_sequence
    number = instance.next_number
    instance = attrs.evolve(instance, next_number=number + 1)
    if instance.status != "closed":
        followed = Stream(options.run_id, cursor, instance.losses.epoch)
        instance = attrs.evolve(instance, streams={**instance.streams, number: followed})
    return JournalStep(with_instance(state, session, instance), number)


def read_stream(
    state: JournalState, session: str, clock_ms: float, stream: object, fault: object = ABSENT
) -> JournalStep:
    """The entries of the stream's next page, none where it has seen all, or the error that ends it (JN-255..JN-257).

    A loss that was reported after it subscribed, of any run, ends it before the page is read (JN-256, HZ-22). The
    cursor moves when the page is read, not when it is consumed (HZ-21). ``Ended`` for a stream that is over.
    """
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("stream"))
    followed = instance.streams.get(stream) if type(stream) is int else None
    if followed is None or type(stream) is not int:
        return JournalStep(state, Ended())
    losses = instance.losses
    if losses.last is not None and losses.epoch > followed.loss_epoch:
        return JournalStep(with_instance(state, session, _without(instance, stream)), losses.last)
    if is_failing(fault):
        failure = JournalError("read_failed", JOURNAL_READ_FAILED)
        return JournalStep(with_instance(state, session, _without(instance, stream)), failure)
    tables = state.committed.journal
    events = [event for event in tables.events.get(followed.run_id, ()) if event.seq > followed.cursor]
    events = events[: instance.settings.stream_page_size]
    page = decoded_page(tables, followed.run_id, followed.cursor, events)
    if isinstance(page, JournalError):
        return JournalStep(with_instance(state, session, _without(instance, stream)), page)
    if events:
        last = events[-1].seq
        moved = Stream(followed.run_id, last, followed.loss_epoch, last_read=last)
        instance = attrs.evolve(instance, streams={**instance.streams, stream: moved})
    return JournalStep(with_instance(state, session, instance), page)


def close_stream(state: JournalState, session: str, clock_ms: float, stream: object) -> JournalStep:
    """Stop following; answers whether the stream was live."""
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("stream"))
    if type(stream) is not int or stream not in instance.streams:
        return JournalStep(state, False)
    return JournalStep(with_instance(state, session, _without(instance, stream)), True)


def open_changes(state: JournalState, session: str, clock_ms: float) -> JournalStep:
    """Subscribe to what this instance publishes from now on, of all runs; answers a number for it (JN-260)."""
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("changes"))
    number = instance.next_number
    instance = attrs.evolve(instance, next_number=number + 1)
    if instance.status != "closed":
        instance = attrs.evolve(instance, changes={**instance.changes, number: ()})
    return JournalStep(with_instance(state, session, instance), number)


def take_changes(state: JournalState, session: str, clock_ms: float, changes: object) -> JournalStep:
    """The entries published since the last take, the oldest of more than ``capacity`` silently gone (JN-260).

    ``Ended`` for a subscription that is over. A row that does not decode is left out, as no instance publishes one.
    """
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("changes"))
    waiting = instance.changes.get(changes) if type(changes) is int else None
    if waiting is None or type(changes) is not int:
        return JournalStep(state, Ended())
    decoded = [decode(event) for event in waiting]
    entries = tuple(entry for entry in decoded if isinstance(entry, Entry))
    instance = attrs.evolve(instance, changes={**instance.changes, changes: ()})
    return JournalStep(with_instance(state, session, instance), entries)


def close_changes(state: JournalState, session: str, clock_ms: float, changes: object) -> JournalStep:
    """Unsubscribe; answers whether there was such a subscription."""
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("changes"))
    if type(changes) is not int or changes not in instance.changes:
        return JournalStep(state, False)
    others = {number: waiting for number, waiting in instance.changes.items() if number != changes}
    return JournalStep(with_instance(state, session, attrs.evolve(instance, changes=others)), True)


def _without(instance: Instance, stream: int) -> Instance:
    streams = {number: followed for number, followed in instance.streams.items() if number != stream}
    return attrs.evolve(instance, streams=streams)
