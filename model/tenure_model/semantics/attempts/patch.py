"""``patch``: rewrite the opaque fields of an attempt, whatever its state."""

import attrs

from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.admission.attempts import admit_attempt_id, admit_attempt_owner, admit_patch
from tenure_model.semantics.attempts.steps import AttemptStep, fence_holds, missed, refused, unchanged, written
from tenure_model.semantics.attempts.table import AttemptTable, json_text, key_of, replaced
from tenure_model.semantics.world import World
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempt_outcomes import Patched
from tenure_model.vocabulary.attempts import AttemptOptions


def patch(
    world: World, attempts: AttemptTable, options: AttemptOptions, id: object, patch: object, owner: object
) -> AttemptStep:
    """Replace what is supplied: ``Patched``, for an empty patch too, ``NotFound`` or ``FenceLost`` (RS-861).

    Admits owner, id, patch (RS-860). State, times and heartbeat never move. Once the run has settled or is suspended
    the fence is gone and nothing can be patched (RS-862).
    """
    if isinstance(owner := admit_attempt_owner(owner), AttemptRefusal):
        return refused(attempts, "patch", owner)
    if isinstance(identity := admit_attempt_id(id), AttemptRefusal):
        return refused(attempts, "patch", identity)
    if isinstance(patch := admit_patch(patch, options.max_checkpoint_bytes), AttemptRefusal):
        return refused(attempts, "patch", patch)

    row = attempts.rows.get(key_of(identity))
    if row is None or not fence_holds(world, row.run_id, owner):
        return unchanged(attempts, missed(row))
    patched = attrs.evolve(
        row,
        checkpoint_json=replaced(row.checkpoint_json, patch.checkpoint),
        error_json=replaced(row.error_json, patch.error),
        outcome_json=replaced(row.outcome_json, patch.outcome),
        meta_json=row.meta_json if patch.meta is ABSENT else json_text(patch.meta),
    )
    return written(attempts, patched, Patched())
