"""``patch``: rewrite what an attempt carries, in any state (RS-860, RS-861)."""

from tenure.attempts import statements
from tenure.attempts.context import AttemptContext
from tenure.attempts.encoding import stored_text
from tenure.attempts.failures import invalid
from tenure.database.engine import SqlValue
from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.admission.attempts import admit_attempt_id, admit_attempt_owner, admit_patch
from tenure_model.vocabulary.attempt_outcomes import Patched, PatchResult
from tenure_model.vocabulary.outcomes import FenceLost, NotFound

METHOD = "patch"


def patch(context: AttemptContext, id: object, patch: object, owner: object) -> PatchResult:
    """Replace the fields supplied; state, times and heartbeat never move (RS-860, RS-861)."""
    who = admit_attempt_owner(owner)
    if type(who) is AttemptRefusal:
        raise invalid(METHOD, who)
    key = admit_attempt_id(id)
    if type(key) is AttemptRefusal:
        raise invalid(METHOD, key)
    admitted = admit_patch(patch, context.options.max_checkpoint_bytes)
    if type(admitted) is AttemptRefusal:
        raise invalid(METHOD, admitted)
    fenced = (key.run_id, key.step_key_digest, key.attempt, who.host_id, who.pid, who.nonce)
    columns = (
        stored_text(admitted.checkpoint),
        stored_text(admitted.error),
        stored_text(admitted.outcome),
        stored_text(admitted.meta),
    )
    return context.write(METHOD, _patch, fenced, columns)


def _patch(context: AttemptContext, fenced: tuple[SqlValue, ...], columns: tuple[SqlValue, ...]) -> PatchResult:
    if context.rows(statements.PATCH, (*fenced, *columns)):
        return Patched()
    # A missing attempt comes first, whatever became of the run; with the fence the patch would have found it (RS-861).
    exists, _ = context.rows(statements.LOSS, fenced)[0]
    return FenceLost() if exists else NotFound()
