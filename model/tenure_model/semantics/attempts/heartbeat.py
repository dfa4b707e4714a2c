"""``heartbeat``: the attempt still moves, and perhaps where it would resume."""

import attrs

from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.admission.attempts import (
    admit_attempt_key,
    admit_attempt_now,
    admit_attempt_owner,
    admit_checkpoint,
)
from tenure_model.semantics.attempts.steps import AttemptStep, fence_holds, missed, refused, unchanged, written
from tenure_model.semantics.attempts.table import AttemptTable, key_of, replaced
from tenure_model.semantics.world import World
from tenure_model.vocabulary.attempt_outcomes import StateChanged
from tenure_model.vocabulary.attempts import AttemptOptions
from tenure_model.vocabulary.outcomes import Updated


def heartbeat(
    world: World,
    attempts: AttemptTable,
    options: AttemptOptions,
    run_id: object,
    step_key_digest: object,
    attempt: object,
    owner: object,
    now_ms: object,
    checkpoint: object,
) -> AttemptStep:
    """Stamp an attempt in progress: ``Updated``, ``NotFound``, ``FenceLost``, ``StateChanged`` (RS-841, RS-842).

    Admits owner, id, ``now_ms`` without a skew check, checkpoint (RS-840). The stamp never goes back; the checkpoint is
    replaced only if supplied, null being supplied.
    """
    if isinstance(owner := admit_attempt_owner(owner), AttemptRefusal):
        return refused(attempts, "heartbeat", owner)
    if isinstance(identity := admit_attempt_key(run_id, step_key_digest, attempt), AttemptRefusal):
        return refused(attempts, "heartbeat", identity)
    if isinstance(now_ms := admit_attempt_now(now_ms), AttemptRefusal):
        return refused(attempts, "heartbeat", now_ms)
    if isinstance(checkpoint := admit_checkpoint(checkpoint, options.max_checkpoint_bytes), AttemptRefusal):
        return refused(attempts, "heartbeat", checkpoint)

    row = attempts.rows.get(key_of(identity))
    if row is None or not fence_holds(world, row.run_id, owner):
        return unchanged(attempts, missed(row))
    if row.state not in options.in_progress_states:
        return unchanged(attempts, StateChanged())
    stamped = attrs.evolve(
        row,
        heartbeat_at_ms=now_ms if row.heartbeat_at_ms is None else max(row.heartbeat_at_ms, now_ms),
        checkpoint_json=replaced(row.checkpoint_json, checkpoint),
    )
    return written(attempts, stamped, Updated())
