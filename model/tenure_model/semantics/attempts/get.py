"""``get``: one attempt, the only operation without a fence."""

from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.admission.attempts import admit_attempt_id
from tenure_model.semantics.attempts.decoding import decode
from tenure_model.semantics.attempts.steps import AttemptStep, answered, refused
from tenure_model.semantics.attempts.table import AttemptTable, key_of
from tenure_model.semantics.world import World
from tenure_model.vocabulary.attempts import AttemptOptions


def get(world: World, attempts: AttemptTable, options: AttemptOptions, id: object) -> AttemptStep:
    """The attempt, ``None`` if there is none, ``decode_failed`` for a row that is corrupt (RS-830).

    Admits the id (RS-812). Neither the run nor the options have a say.
    """
    if isinstance(identity := admit_attempt_id(id), AttemptRefusal):
        return refused(attempts, "get", identity)

    row = attempts.rows.get(key_of(identity))
    return answered(attempts, None if row is None else decode(row, "get"))
