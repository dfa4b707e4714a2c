"""The options of a journal and of its operations (JN-150, JN-250, JN-254, JN-270, JN-280).

Options are the frozen class of the vocabulary or an exact ``dict`` under the wire's names, whose other members are
ignored. A refusal says which member it is about; the message of the operation does not depend on it.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeGuard, cast

import attrs

from tenure_model.admission.integers import is_safe_integer
from tenure_model.admission.journal_input import is_sequence
from tenure_model.admission.redaction.redactor import Redactor
from tenure_model.admission.refusal import Refusal, refuse
from tenure_model.admission.text import is_durable_text
from tenure_model.admission.wire_records import wire_members
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal import (
    DEFAULT_BATCH_SIZE,
    DEFAULT_SOURCE_EVENT_CACHE,
    MAX_ENTRIES_LIMIT,
    MAX_EVENT_TYPES,
    OVERFLOW_POLICIES,
    CheckpointOptions,
    CompactionPolicy,
    CompactOptions,
    EntriesOptions,
    JournalOptions,
    JsonHook,
    OverflowPolicy,
    Redact,
    StreamOptions,
)
from tenure_model.vocabulary.journal_errors import JournalError, not_positive

_IDENTIFIER_CONTRACT: Final = "violates the journal identifier contract"
_SEQUENCE_CONTRACT: Final = "must be a sequence number"

_ENTRIES_FIELDS: Final = {"runId": "run_id", "after": "after", "eventTypes": "event_types", "limit": "limit"}
_STREAM_FIELDS: Final = {"runId": "run_id", "afterSequence": "after_sequence"}
_CHECKPOINT_FIELDS: Final = {"runId": "run_id", "seq": "seq", "state": "state"}
_COMPACT_FIELDS: Final = {"runId": "run_id", "upTo": "up_to"}
_POLICY_FIELDS: Final = {"entryThreshold": "entry_threshold", "capture": "capture"}
_JOURNAL_FIELDS: Final = {
    "capacity": "capacity",
    "overflow": "overflow",
    "batchSize": "batch_size",
    "sourceEventCache": "source_event_cache",
    "maxEntryBytes": "max_entry_bytes",
    "redact": "redact",
    "compaction": "compaction",
    "default": "default",
}


@attrs.frozen
class JournalSettings:
    """Admitted construction options with every default filled in (JN-150); ``max_entry_bytes`` may stay unset."""

    capacity: int
    overflow: OverflowPolicy
    batch_size: int
    source_event_cache: int
    max_entry_bytes: int | None
    redact: Redact
    compaction: CompactionPolicy | None
    default: JsonHook | None

    @property
    def stream_page_size(self) -> int:
        """How many entries a stream reads at a time (JN-153)."""
        return min(self.batch_size, MAX_ENTRIES_LIMIT)


def admit_journal_options(value: object) -> JournalSettings | JournalError:
    """The settings of a new instance, or ``invalid_event`` naming the first bad option (JN-150).

    Numbers are judged first, in the order capacity, batchSize, sourceEventCache, maxEntryBytes,
    compaction.entryThreshold, then overflow and what must be callable. ``None`` takes the default, as absence does.
    """
    members = _members(value, _JOURNAL_FIELDS, JournalOptions)
    if members is None:
        return JournalError("invalid_event", "options must be an inert record")
    capacity = members.get("capacity")
    if not _is_positive(capacity):
        return not_positive("capacity")
    batch_size = _given(members, "batchSize", min(capacity, DEFAULT_BATCH_SIZE))
    if not _is_positive(batch_size):
        return not_positive("batchSize")
    source_event_cache = _given(members, "sourceEventCache", DEFAULT_SOURCE_EVENT_CACHE)
    if not _is_positive(source_event_cache):
        return not_positive("sourceEventCache")
    max_entry_bytes = _given(members, "maxEntryBytes", None)
    if max_entry_bytes is not None and not _is_positive(max_entry_bytes):
        return not_positive("maxEntryBytes")
    compaction = _admit_policy(_given(members, "compaction", None))
    if isinstance(compaction, JournalError):
        return compaction
    overflow = members.get("overflow")
    if type(overflow) is not str or overflow not in OVERFLOW_POLICIES:
        return JournalError("invalid_event", f"overflow must be one of {', '.join(OVERFLOW_POLICIES)}")
    default = _given(members, "default", None)
    if default is not None and not callable(default):
        return JournalError("invalid_event", "default must be callable")
    hook = cast("JsonHook | None", default)
    redact = _given(members, "redact", None)
    if redact is not None and not callable(redact):
        return JournalError("invalid_event", "redact must be callable")
    return JournalSettings(
        capacity,
        overflow,
        batch_size,
        source_event_cache,
        max_entry_bytes,
        Redactor(default=hook) if redact is None else cast(Redact, redact),
        compaction,
        hook,
    )


def admit_entries_options(value: object) -> EntriesOptions | Refusal:
    """What page to read; ``event_types`` comes back as a tuple (JN-250)."""
    members = _members(value, _ENTRIES_FIELDS, EntriesOptions)
    if members is None:
        return refuse("options", "must be an inert record")
    run_id = members.get("runId")
    if not is_durable_text(run_id):
        return refuse("runId", _IDENTIFIER_CONTRACT)
    after = members.get("after", ABSENT)
    if after is not ABSENT and not is_sequence(after):
        return refuse("after", _SEQUENCE_CONTRACT)
    event_types = members.get("eventTypes", ABSENT)
    if event_types is not ABSENT:
        if type(event_types) is not list and type(event_types) is not tuple:
            return refuse("eventTypes", "must be a list")
        types = tuple(event_types)
        if not 1 <= len(types) <= MAX_EVENT_TYPES or not all(map(is_durable_text, types)):
            return refuse("eventTypes", f"must hold 1 to {MAX_EVENT_TYPES} identifiers")
        event_types = types
    limit = members.get("limit")
    if not is_safe_integer(limit) or not 1 <= limit <= MAX_ENTRIES_LIMIT:
        return refuse("limit", f"must be an integer from 1 to {MAX_ENTRIES_LIMIT}")
    return EntriesOptions(run_id, limit, after, event_types)


def admit_stream_options(value: object) -> StreamOptions | Refusal:
    """What to follow (JN-254)."""
    members = _members(value, _STREAM_FIELDS, StreamOptions)
    if members is None:
        return refuse("options", "must be an inert record")
    run_id = members.get("runId")
    if not is_durable_text(run_id):
        return refuse("runId", _IDENTIFIER_CONTRACT)
    after_sequence = members.get("afterSequence", ABSENT)
    if after_sequence is not ABSENT and not is_sequence(after_sequence):
        return refuse("afterSequence", _SEQUENCE_CONTRACT)
    return StreamOptions(run_id, after_sequence)


def admit_checkpoint_options(value: object) -> CheckpointOptions | Refusal:
    """Where to checkpoint; the state is still the caller's own value, and must be there (JN-270)."""
    members = _members(value, _CHECKPOINT_FIELDS, CheckpointOptions)
    if members is None:
        return refuse("options", "must be an inert record")
    run_id = members.get("runId")
    if not is_durable_text(run_id):
        return refuse("runId", _IDENTIFIER_CONTRACT)
    seq = members.get("seq")
    if not is_sequence(seq):
        return refuse("seq", _SEQUENCE_CONTRACT)
    state = members.get("state", ABSENT)
    if state is ABSENT:
        return refuse("state", "is missing")
    return CheckpointOptions(run_id, seq, state)


def admit_compact_options(value: object) -> CompactOptions | Refusal:
    """What to compact to (JN-280)."""
    members = _members(value, _COMPACT_FIELDS, CompactOptions)
    if members is None:
        return refuse("options", "must be an inert record")
    run_id = members.get("runId")
    if not is_durable_text(run_id):
        return refuse("runId", _IDENTIFIER_CONTRACT)
    up_to = members.get("upTo", ABSENT)
    if up_to is not ABSENT and not is_sequence(up_to):
        return refuse("upTo", _SEQUENCE_CONTRACT)
    return CompactOptions(run_id, up_to)


def _admit_policy(value: object) -> CompactionPolicy | JournalError | None:
    if value is None:
        return None
    members = _members(value, _POLICY_FIELDS, CompactionPolicy)
    if members is None:
        return JournalError("invalid_event", "compaction must be an inert record")
    entry_threshold = members.get("entryThreshold")
    if not _is_positive(entry_threshold):
        return not_positive("compaction.entryThreshold")
    capture = members.get("capture")
    if not callable(capture):
        return JournalError("invalid_event", "compaction.capture must be callable")
    return CompactionPolicy(entry_threshold, cast("Callable[[str, int], object]", capture))


def _members(value: object, fields: Mapping[str, str], carrier: type[object]) -> Mapping[str, object] | None:
    if type(value) is carrier:
        # The carriers are slotted classes without computed attributes: reading a field runs no foreign code.
        return {wire: getattr(value, name) for wire, name in fields.items() if hasattr(value, name)}
    return wire_members(value)


def _given(members: Mapping[str, object], name: str, default: object) -> object:
    value = members.get(name, ABSENT)
    return default if value is ABSENT or value is None else value


def _is_positive(value: object) -> TypeGuard[int]:
    return is_safe_integer(value) and value > 0
