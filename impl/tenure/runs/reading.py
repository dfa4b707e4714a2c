"""``get``, ``lineage`` and ``latestRound``: reads outside any transaction, every row decoded.

Rules RS-405..RS-408, RS-740..RS-745.
"""

from tenure.runs import statements
from tenure.runs.context import RunContext
from tenure.runs.decoding import decode
from tenure.runs.failures import invalid, not_found
from tenure_model.admission.records import admit_run_id
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.runs import RunRow


def get(context: RunContext, run_id: object) -> RunRow:
    """The run, or ``not_found_row``, or ``decode_failed`` (RS-405..RS-407)."""
    return _one(context, "get", run_id, statements.GET)


def latest_round(context: RunContext, run_id: object) -> RunRow:
    """The round with the highest ordinal in the run's lineage, or the run itself if no row names it (RS-743)."""
    return _one(context, "latestRound", run_id, statements.LATEST_ROUND)


def lineage(context: RunContext, run_id: object) -> tuple[RunRow, ...]:
    """Every round of the run's lineage by ordinal, then id; none for an unknown run (RS-740..RS-742)."""
    admitted_id = admit_run_id(run_id)
    if type(admitted_id) is Refusal:
        raise invalid("lineage", admitted_id)
    rows = context.read("lineage", admitted_id, statements.LINEAGE, (admitted_id,))
    return tuple(decode("lineage", admitted_id, columns) for columns in rows)


def _one(context: RunContext, method: str, run_id: object, statement: str) -> RunRow:
    admitted_id = admit_run_id(run_id)
    if type(admitted_id) is Refusal:
        raise invalid(method, admitted_id)
    rows = context.read(method, admitted_id, statement, (admitted_id,))
    if not rows:
        raise not_found(method, admitted_id)
    return decode(method, admitted_id, rows[0])
