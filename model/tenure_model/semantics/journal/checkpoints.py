"""``checkpoint``: the caller's state in place of the history up to an entry (JN-270..JN-274)."""

from tenure_model.admission.canonical_json import encode_plain
from tenure_model.admission.journal_input import admit_fence_owner
from tenure_model.admission.journal_options import admit_checkpoint_options
from tenure_model.admission.refusal import Refusal
from tenure_model.semantics import lease
from tenure_model.semantics.journal.after_commit import conclude
from tenure_model.semantics.journal.reads import decode_checkpoint
from tenure_model.semantics.journal.retention import place
from tenure_model.semantics.journal.state import JournalState, JournalStep, Store, is_busy, visible
from tenure_model.vocabulary.journal_errors import (
    CHECKPOINT_WRITE_FAILED,
    CLOSED,
    INVALID_CHECKPOINT_OPTIONS,
    JournalError,
    fence_lost,
    fence_required,
    unavailable,
)


def checkpoint(
    state: JournalState, session: str, clock_ms: float, run_id: object, seq: object, checkpointed: object, owner: object
) -> JournalStep:
    """File a state under a committed entry, in place of an earlier one there that is not compacted.

    Failures in order: the owner, a journal that is not open, the options, a state that is no JSON; then, in the
    transaction, the fence, no such entry, the floor (JN-270). The answer is what is stored, decoded (JN-272).
    """
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("checkpoint"))
    if isinstance(owner := admit_fence_owner(owner), Refusal):
        return JournalStep(state, fence_required("checkpoint"))
    if instance.status != "open":
        return JournalStep(state, JournalError("journal_closed", CLOSED))
    options = admit_checkpoint_options({"runId": run_id, "seq": seq, "state": checkpointed})
    if isinstance(options, Refusal):
        return JournalStep(state, JournalError("invalid_event", INVALID_CHECKPOINT_OPTIONS, cause=options.cause))
    state_json = encode_plain(options.state, default=instance.settings.default)
    if isinstance(state_json, Refusal):
        text = f"state {state_json.cause['detail']}"
        return JournalStep(state, JournalError("invalid_event", text, cause=state_json.cause))
    if is_busy(state, session):
        return JournalStep(state, JournalError("sink_failed", CHECKPOINT_WRITE_FAILED, cause={"code": "busy"}))

    store = visible(state, session)
    if not lease.owns(store.world, options.run_id, owner):
        return JournalStep(state, fence_lost(options.run_id, owner))
    placed = place(store.journal, options.run_id, options.seq, state_json, clock_ms)
    if isinstance(placed, JournalError):
        return JournalStep(state, placed)
    tables, row = placed
    state, fired = conclude(state, session, Store(store.world, tables, store.receipts), (), clock_ms)
    return JournalStep(state, decode_checkpoint(row), fired)
