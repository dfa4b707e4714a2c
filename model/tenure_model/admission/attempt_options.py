"""The policy of an attempt store (RS-800..RS-804)."""

from typing import Final, TypeGuard

from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.admission.json_encoding import encoded_json_bytes
from tenure_model.admission.json_values import JsonLimits, admit_json_value
from tenure_model.admission.text import is_durable_text
from tenure_model.admission.wire_records import wire_members
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempts import (
    DEFAULT_IN_PROGRESS_STATES,
    DEFAULT_MAX_CHECKPOINT_BYTES,
    MAX_CHECKPOINT_BYTES,
    MAX_IN_PROGRESS_BYTES,
    MAX_IN_PROGRESS_STATES,
    PUT_MODES,
    AttemptOptions,
    PutMode,
)

_OPTION_FIELDS: Final = {
    "inProgressStates": "in_progress_states",
    "maxCheckpointBytes": "max_checkpoint_bytes",
    "putMode": "put_mode",
}
_STATE_LIMITS: Final = JsonLimits(depth=2)
_NOT_A_RECORD: Final = AttemptRefusal("attempt store options must be an inert data record")
_NOT_AN_ARRAY: Final = AttemptRefusal("inProgressStates must be an inert string array")
_NOT_STATES: Final = AttemptRefusal("inProgressStates must contain unique durable state names")
_NOT_BYTES: Final = AttemptRefusal(f"maxCheckpointBytes must be between 1 and {MAX_CHECKPOINT_BYTES}")
_NOT_A_MODE: Final = AttemptRefusal("putMode must be insert or upsert")


def admit_attempt_options(value: object = ABSENT) -> AttemptOptions | AttemptRefusal:
    """Options with every default filled in, or the first refusal in the order states, bytes, mode (RS-804).

    ``value`` is an ``AttemptOptions`` or an exact ``dict`` of at most the three members; ``ABSENT`` is no options,
    ``None`` is refused (RS-800). Members that are absent or ``None`` take their default. The states of the class may
    be a tuple, those of a ``dict`` are a list.
    """
    members = _members(value)
    if members is None:
        return _NOT_A_RECORD
    states = _admit_states(members.get("inProgressStates", ABSENT))
    if isinstance(states, AttemptRefusal):
        return states
    max_checkpoint_bytes = members.get("maxCheckpointBytes", ABSENT)
    if _is_unsaid(max_checkpoint_bytes):
        max_checkpoint_bytes = DEFAULT_MAX_CHECKPOINT_BYTES
    if type(max_checkpoint_bytes) is not int or not 1 <= max_checkpoint_bytes <= MAX_CHECKPOINT_BYTES:
        return _NOT_BYTES
    put_mode = members.get("putMode", ABSENT)
    if _is_unsaid(put_mode):
        put_mode = "insert"
    if not _is_put_mode(put_mode):
        return _NOT_A_MODE
    return AttemptOptions(states, max_checkpoint_bytes, put_mode)


def _members(value: object) -> dict[str, object] | None:
    if value is ABSENT:
        return {}
    if type(value) is AttemptOptions:
        fields = {wire: getattr(value, name) for wire, name in _OPTION_FIELDS.items() if hasattr(value, name)}
        states = fields.get("inProgressStates", ABSENT)
        # The array of the class; on the wire it is a list and nothing else.
        return {**fields, "inProgressStates": list(states)} if type(states) is tuple else fields
    members = wire_members(value)
    return members if members is not None and members.keys() <= _OPTION_FIELDS.keys() else None


def _admit_states(value: object) -> tuple[str, ...] | AttemptRefusal:
    """The states as a copy of the caller's array, an exact ``list`` (RS-801)."""
    if _is_unsaid(value):
        return DEFAULT_IN_PROGRESS_STATES
    array = admit_json_value(value, _STATE_LIMITS)
    if (
        type(array) is not list
        or len(array) > MAX_IN_PROGRESS_STATES
        or encoded_json_bytes(array) > MAX_IN_PROGRESS_BYTES
    ):
        return _NOT_AN_ARRAY
    states = tuple(state for state in array if is_durable_text(state))
    if not states or len(states) < len(array) or len(set(states)) < len(states):
        return _NOT_STATES
    return states


def _is_unsaid(value: object) -> bool:
    return value is ABSENT or value is None


def _is_put_mode(value: object) -> TypeGuard[PutMode]:
    return type(value) is str and value in PUT_MODES
