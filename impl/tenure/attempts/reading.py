"""``get``: one attempt, read outside any transaction and without a fence (RS-830)."""

from tenure.attempts import statements
from tenure.attempts.context import AttemptContext
from tenure.attempts.decoding import decode
from tenure.attempts.failures import invalid
from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.admission.attempts import admit_attempt_id
from tenure_model.vocabulary.attempts import Attempt

METHOD = "get"


def get(context: AttemptContext, id: object) -> Attempt | None:
    """The attempt, ``None`` where there is none, or ``decode_failed`` (RS-830)."""
    key = admit_attempt_id(id)
    if type(key) is AttemptRefusal:
        raise invalid(METHOD, key)
    rows = context.read(METHOD, statements.GET, (key.run_id, key.step_key_digest, key.attempt))
    return decode(METHOD, rows[0]) if rows else None
