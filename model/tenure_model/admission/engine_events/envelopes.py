"""The envelope of a committed event, and the consumer that it is held against (JN-025, JN-358)."""

from tenure_model.admission.engine_events.members import MalformedError, identifier, open_record, quantity, text, word
from tenure_model.admission.integers import is_safe_integer
from tenure_model.admission.journal_input import is_sequence
from tenure_model.admission.refusal import Refusal, refuse
from tenure_model.admission.text import has_surrogate, is_durable_text
from tenure_model.admission.wire_records import wire_members
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.engine_events.consumers import UNKNOWN_POLICIES, Consumer, UnknownPolicy
from tenure_model.vocabulary.journal import Entry


def read_envelope(value: object) -> Entry:
    """The entry itself, or one built of the members of a ``dict`` under the wire's names, whose others are dropped.

    Payload and meta are whatever they are, but there. Raises ``MalformedError``.
    """
    if type(value) is Entry:
        try:
            if _is_complete(value):
                return value
        except AttributeError as error:
            raise MalformedError("entry", "has a field that was never set", error) from error
        raise MalformedError("entry", "violates the journal entry contract")
    members = open_record(value, "entry")
    entry = Entry(
        identifier(members, "runId", "entry"),
        _sequence(members.get("seq"), "entry.seq"),
        text(members, "eventId", "entry"),
        identifier(members, "sourceId", "entry"),
        _sequence(members.get("sourceSeq"), "entry.sourceSeq"),
        quantity(members, "emittedAtMs", "entry"),
        identifier(members, "eventType", "entry"),
        members.get("payload", ABSENT),
        members.get("meta", ABSENT),
    )
    if entry.payload is ABSENT:
        raise MalformedError("entry.payload", "is missing")
    if entry.meta is ABSENT:
        raise MalformedError("entry.meta", "is missing")
    return entry


def admit_consumer(value: object) -> Consumer | Refusal:
    """A consumer, a ``Consumer`` or an exact ``dict`` under the wire's names, its sources a ``frozenset`` (JN-358).

    Ids are identifiers, the round is a quantity, a missing parent is refused and ``None`` is none. Sources are a list,
    tuple or set; without any, every event is foreign. A consumer that needs no change is its own copy.
    """
    if type(value) is Consumer:
        try:
            members: dict[str, object] = {
                "runId": value.run_id,
                "lineageId": value.lineage_id,
                "rootRunId": value.root_run_id,
                "round": value.round,
                "parentRunId": value.parent_run_id,
                "sources": value.sources,
                "unknown": value.unknown,
            }
        except AttributeError:
            return refuse("consumer", "must be an inert consumer record")
    else:
        copied = wire_members(value)
        if copied is None:
            return refuse("consumer", "must be an inert consumer record")
        members = copied
    try:
        return _read_consumer(members, value)
    except MalformedError as error:
        return refuse(*error.args)


def _is_complete(entry: Entry) -> bool:
    return (
        is_durable_text(entry.run_id)
        and is_sequence(entry.seq)
        and type(entry.event_id) is str
        and not has_surrogate(entry.event_id)
        and is_durable_text(entry.source_id)
        and is_sequence(entry.source_seq)
        and is_safe_integer(entry.emitted_at_ms)
        and is_durable_text(entry.event_type)
        and entry.payload is not ABSENT
        and entry.meta is not ABSENT
    )


def _read_consumer(members: dict[str, object], value: object) -> Consumer:
    run_id = identifier(members, "runId", "consumer")
    lineage_id = identifier(members, "lineageId", "consumer")
    root_run_id = identifier(members, "rootRunId", "consumer")
    round_ = quantity(members, "round", "consumer")
    parent_run_id = None
    if members.get("parentRunId", ABSENT) is not None:
        parent_run_id = identifier(members, "parentRunId", "consumer")
    sources = _read_sources(members.get("sources"))
    unknown: UnknownPolicy = word(members, "unknown", "consumer", UNKNOWN_POLICIES)
    if type(value) is Consumer and sources is value.sources:
        return value
    return Consumer(run_id, lineage_id, root_run_id, round_, parent_run_id, sources, unknown)


def _read_sources(value: object) -> frozenset[str]:
    if type(value) is frozenset or type(value) is list or type(value) is tuple or type(value) is set:
        # Checked before they are hashed: a foreign object's hash is foreign code.
        copied = list(value)
        texts = [source for source in copied if is_durable_text(source)]
        if len(texts) == len(copied):
            return value if type(value) is frozenset else frozenset(texts)
    raise MalformedError("consumer.sources", "must be a collection of identifiers")


def _sequence(value: object, place: str) -> int:
    if is_sequence(value):
        return value
    raise MalformedError(place, "must be a sequence number")
