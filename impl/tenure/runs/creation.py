"""``create`` (RS-400..RS-402)."""

from tenure.runs import statements
from tenure.runs.context import RunContext
from tenure.runs.failures import invalid
from tenure_model.admission.records import admit_create_options, admit_new_run_id
from tenure_model.admission.refusal import Refusal
from tenure_model.admission.run_state import admit_run_state
from tenure_model.vocabulary.runs import CreateOptions

METHOD = "create"


def create(context: RunContext, run_id: object, state_json: object, options: object) -> None:
    """Insert a ``pending`` run, stamped with the store's clock (RS-400, RS-401).

    An id or (lineage, ordinal) that is taken, or a parent that is not there, is a ``constraint`` error (RS-402).
    """
    admitted_id = admit_new_run_id(run_id)
    if type(admitted_id) is Refusal:
        raise invalid(METHOD, admitted_id)
    ancestry = admit_create_options(options)
    if type(ancestry) is Refusal:
        raise invalid(METHOD, ancestry)
    state = admit_run_state(
        state_json,
        {
            "runId": admitted_id,
            "parentRunId": ancestry.parent_run_id,
            "lineageId": ancestry.lineage_id,
            "roundOrdinal": ancestry.round_ordinal,
        },
    )
    if type(state) is Refusal:
        raise invalid(METHOD, state)
    context.write(METHOD, _create, admitted_id, context.now(), ancestry, state)


def _create(context: RunContext, run_id: str, created_at_ms: int, ancestry: CreateOptions, state: str) -> None:
    context.rows(
        statements.CREATE,
        (run_id, created_at_ms, ancestry.parent_run_id, ancestry.lineage_id, ancestry.round_ordinal, state),
    )
