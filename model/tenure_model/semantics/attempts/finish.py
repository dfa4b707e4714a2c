"""``finish``: end an attempt, once."""

import attrs

from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.admission.attempts import admit_attempt_owner, admit_finish
from tenure_model.semantics.attempts.steps import AttemptStep, fence_holds, missed, refused, unchanged, written
from tenure_model.semantics.attempts.table import AttemptTable, json_text, key_of, replaced
from tenure_model.semantics.world import World
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempt_outcomes import Finished, StateChanged
from tenure_model.vocabulary.attempts import AttemptOptions


def finish(
    world: World, attempts: AttemptTable, options: AttemptOptions, attempt: object, owner: object
) -> AttemptStep:
    """Set state and finishing time: ``Finished``, ``NotFound``, ``FenceLost``, ``StateChanged`` (RS-851, RS-842).

    Admits owner, then the finish, whose state must not be in progress (RS-850). Error, outcome and meta are replaced
    only if supplied; checkpoint, heartbeat and start stay. The first finish stands: a second is ``StateChanged``.
    """
    if isinstance(owner := admit_attempt_owner(owner), AttemptRefusal):
        return refused(attempts, "finish", owner)
    if isinstance(attempt := admit_finish(attempt, options.in_progress_states), AttemptRefusal):
        return refused(attempts, "finish", attempt)

    row = attempts.rows.get(key_of(attempt))
    if row is None or not fence_holds(world, row.run_id, owner):
        return unchanged(attempts, missed(row))
    if row.state not in options.in_progress_states:
        return unchanged(attempts, StateChanged())
    finished = attrs.evolve(
        row,
        state=attempt.state,
        finished_at_ms=attempt.finished_at_ms,
        error_json=replaced(row.error_json, attempt.error),
        outcome_json=replaced(row.outcome_json, attempt.outcome),
        meta_json=row.meta_json if attempt.meta is ABSENT else json_text(attempt.meta),
    )
    return written(attempts, finished, Finished())
