"""``checkpoint``: a state that stands for the history up to a committed entry (JN-270..JN-274)."""

from tenure.journal import statements
from tenure.journal.decoding import undecodable_checkpoint
from tenure.journal.durable import guard, require_owner
from tenure.journal.failures import PASSED_ON, storage_failure
from tenure.journal.instance import Instance
from tenure_model.admission.canonical_json import decode_json, encode_plain
from tenure_model.admission.journal_options import admit_checkpoint_options
from tenure_model.admission.json_values import JsonComplaint
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.journal import Checkpoint, CheckpointOptions
from tenure_model.vocabulary.journal_errors import (
    CHECKPOINT_WRITE_FAILED,
    INVALID_CHECKPOINT_OPTIONS,
    JournalError,
    checkpoint_at_floor,
    checkpoint_names_no_entry,
)
from tenure_model.vocabulary.owners import OwnerId


def checkpoint(instance: Instance, options: object, owner: object) -> Checkpoint:
    """Write or overwrite the checkpoint while ``owner`` owns the run."""
    fence = require_owner("checkpoint", owner)
    instance.require_open()
    admitted = admit_checkpoint_options(options)
    if type(admitted) is Refusal:
        raise JournalError("invalid_event", INVALID_CHECKPOINT_OPTIONS, cause=admitted.cause)
    return write_checkpoint(instance, admitted, fence)


def write_checkpoint(instance: Instance, options: CheckpointOptions, fence: OwnerId | None) -> Checkpoint:
    """Encode the state and write it, whoever owns the run where there is no ``fence`` (JN-302)."""
    state_json = encode_plain(options.state, default=instance.settings.default)
    if type(state_json) is Refusal:
        text = f"{state_json.cause['field']} {state_json.cause['detail']}"
        raise JournalError("invalid_event", text, cause=state_json.cause)
    created_at_ms = instance.now()
    try:
        instance.database.write(_write, instance, options.run_id, options.seq, state_json, created_at_ms, fence)
    except PASSED_ON:
        raise
    except Exception as error:
        raise storage_failure("sink_failed", CHECKPOINT_WRITE_FAILED, error) from error
    # What the caller gets is what was stored, and shares nothing with what the caller gave.
    state = decode_json(state_json)
    if type(state) is JsonComplaint:
        raise undecodable_checkpoint()
    return Checkpoint(options.run_id, options.seq, state, created_at_ms, None)


def _write(
    instance: Instance, run_id: str, seq: int, state_json: str, created_at_ms: int, fence: OwnerId | None
) -> None:
    rows = instance.rows
    if fence is not None:
        guard(instance, run_id, fence)
    if not rows(statements.EXISTS, (run_id, seq)):
        raise checkpoint_names_no_entry(run_id, seq)
    floor = rows(statements.COMPACTION_FLOOR, (run_id,))[0][0]
    if floor is not None and seq <= floor:
        raise checkpoint_at_floor(run_id, floor)
    rows(statements.UPSERT_CHECKPOINT, (run_id, seq, state_json, created_at_ms))
