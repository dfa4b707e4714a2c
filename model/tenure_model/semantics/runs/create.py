"""``create``: a new pending run."""

from tenure_model.admission.records import admit_create_options, admit_new_run_id
from tenure_model.admission.refusal import Refusal
from tenure_model.admission.run_state import admit_run_state
from tenure_model.semantics import revisions
from tenure_model.semantics.predicates import is_storable_time
from tenure_model.semantics.steps import Step, committed, refused, violated
from tenure_model.semantics.world import Run, World
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.runs import CreateOptions


def create(world: World, clock_ms: int, run_id: object, state_json: object, options: object = ABSENT) -> Step:
    """Insert a ``pending`` row, created at the store's clock; answers nothing (RS-400, RS-401).

    Admits run id, companion prefix, options, state, in that order. An id that exists, a lineage round that exists and a
    parent that does not are ``constraint`` (RS-402). There is no fact and no lease.
    """
    if isinstance(run_id := admit_new_run_id(run_id), Refusal):
        return refused(world, "create", run_id)
    if isinstance(options := admit_create_options(options), Refusal):
        return refused(world, "create", options)
    shape = {
        "runId": run_id,
        "parentRunId": options.parent_run_id,
        "lineageId": options.lineage_id,
        "roundOrdinal": options.round_ordinal,
    }
    if isinstance(state_json := admit_run_state(state_json, shape), Refusal):
        return refused(world, "create", state_json)

    if not (_fits(world, run_id, options) and is_storable_time(clock_ms)):
        return violated(world, "create")
    run = Run(
        run_id=run_id,
        status="pending",
        created_at_ms=clock_ms,
        started_at_ms=None,
        finished_at_ms=None,
        owner=None,
        heartbeat_at_ms=None,
        claim=None,
        parent_run_id=options.parent_run_id,
        cancel_requested_at_ms=None,
        acknowledgement=None,
        lineage_id=options.lineage_id,
        round_ordinal=options.round_ordinal,
        state_json=state_json,
    )
    return committed(world, revisions.insert_run(world, run), "create", None)


def _fits(world: World, run_id: str, options: CreateOptions) -> bool:
    """Whether the keys of the new row fit: its id is new, its parent exists, its round is free (RS-100, RS-105).

    The parent is looked for when the row is there already, so a run may name itself (RS-106).
    """
    parent = options.parent_run_id
    return (
        run_id not in world.runs
        and (parent is None or parent == run_id or parent in world.runs)
        and is_round_free(world, run_id, options.lineage_id, options.round_ordinal)
    )


def is_round_free(world: World, run_id: str, lineage_id: str | None, round_ordinal: int | None) -> bool:
    """Whether no other run holds this round of this lineage; a null in either column is never a duplicate (RS-105)."""
    if lineage_id is None or round_ordinal is None:
        return True
    return not any(
        run.lineage_id == lineage_id and run.round_ordinal == round_ordinal and run.run_id != run_id
        for run in world.runs.values()
    )
