"""``put``: record an attempt, or say what is recorded in its place."""

from typing import Final

from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.admission.attempts import admit_attempt, admit_attempt_owner
from tenure_model.admission.json_equality import json_equal
from tenure_model.semantics.attempts.decoding import decode
from tenure_model.semantics.attempts.steps import AttemptStep, fence_holds, refused, unchanged, written
from tenure_model.semantics.attempts.table import AttemptTable, key_of, row_of
from tenure_model.semantics.world import World
from tenure_model.vocabulary.attempt_errors import AttemptStoreError
from tenure_model.vocabulary.attempt_outcomes import Conflict, ExistingSame, Inserted, RunNotFound, Upserted
from tenure_model.vocabulary.attempts import Attempt, AttemptOptions
from tenure_model.vocabulary.outcomes import FenceLost

_COMPARED_FIELDS: Final = (
    "state",
    "started_at_ms",
    "finished_at_ms",
    "heartbeat_at_ms",
    "checkpoint",
    "error",
    "outcome",
    "meta",
)


def put(world: World, attempts: AttemptTable, options: AttemptOptions, attempt: object, owner: object) -> AttemptStep:
    """Record the attempt: ``Inserted``, ``Upserted``, ``RunNotFound``, ``FenceLost``, ``ExistingSame``, ``Conflict``.

    Admits owner, then the attempt, any state with any optional fields (RS-820, RS-821). Without the fence the answer is
    ``RunNotFound`` or ``FenceLost``, for a replay as well; with it a missing row is inserted. ``upsert`` overwrites
    every column of a row in progress, equal or not, the heartbeat backwards too; any other row is compared and stands
    (RS-822). One that does not decode when it is compared is ``decode_failed`` (RS-824).
    """
    if isinstance(owner := admit_attempt_owner(owner), AttemptRefusal):
        return refused(attempts, "put", owner)
    if isinstance(attempt := admit_attempt(attempt, options.max_checkpoint_bytes), AttemptRefusal):
        return refused(attempts, "put", attempt)

    if not fence_holds(world, attempt.run_id, owner):
        return unchanged(attempts, FenceLost() if attempt.run_id in world.runs else RunNotFound())
    stored = attempts.rows.get(key_of(attempt))
    if stored is None:
        return written(attempts, row_of(attempt), Inserted())
    if options.put_mode == "upsert" and stored.state in options.in_progress_states:
        return written(attempts, row_of(attempt), Upserted())
    recorded = decode(stored, "put")
    if isinstance(recorded, AttemptStoreError):
        return unchanged(attempts, recorded)
    return unchanged(attempts, ExistingSame() if same_attempt(recorded, attempt) else Conflict())


def same_attempt(one: Attempt, other: Attempt) -> bool:
    """Whether every field but the key is equal, JSON by value, absent only to absent (RS-823, RS-328)."""
    return all(json_equal(getattr(one, field), getattr(other, field)) for field in _COMPARED_FIELDS)
