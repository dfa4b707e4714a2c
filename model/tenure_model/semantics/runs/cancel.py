"""``requestCancel``, ``requestCancelLineage`` and ``acknowledgeCancel``: intent, recorded once and never taken back."""

import attrs

from tenure_model.admission.integers import admit_timestamp
from tenure_model.admission.records import admit_owner, admit_run_id
from tenure_model.admission.refusal import Refusal
from tenure_model.semantics import revisions
from tenure_model.semantics.predicates import owned
from tenure_model.semantics.runs.lineage import members_of
from tenure_model.semantics.steps import Step, committed, refused, unchanged
from tenure_model.semantics.world import Acknowledgement, Run, World
from tenure_model.vocabulary.outcomes import AlreadyRequested, CancelRequested, NotFound, Terminal
from tenure_model.vocabulary.statuses import TerminalRunStatus


def request_cancel(world: World, run_id: object, now_ms: object) -> Step:
    """Record cancellation intent on one live run; anybody may, and the first request stands.

    Admits run id, then ``now_ms`` without a skew check (RS-420). No row: ``NotFound``; settled: ``Terminal``, even if a
    request is on it; requested: ``AlreadyRequested`` with the time that stands; else ``CancelRequested`` (RS-421,
    RS-422). Owner, claim, heartbeat and lease stay; there is no fact (RS-424). A live row that the guarded write misses
    and the following read finds unrequested cannot arise on one world, nor can an unknown status (RS-423).
    """
    if isinstance(run_id := admit_run_id(run_id), Refusal):
        return refused(world, "requestCancel", run_id)
    if isinstance(now_ms := admit_timestamp(now_ms, "nowMs"), Refusal):
        return refused(world, "requestCancel", now_ms)

    run = world.runs.get(run_id)
    if run is None:
        return unchanged(world, NotFound())
    status = _settled_status(run)
    if status is not None:
        return unchanged(world, Terminal(status))
    if run.cancel_requested_at_ms is not None:
        return unchanged(world, AlreadyRequested(run.cancel_requested_at_ms))
    return committed(world, _requested(world, run, now_ms), "requestCancel", CancelRequested(now_ms))


def request_cancel_lineage(world: World, run_id: object, now_ms: object) -> Step:
    """Record cancellation intent on every live, unrequested round of the run's lineage, in one transaction.

    Admits as ``requestCancel`` (RS-430). Any round newly requested: ``CancelRequested``; other rounds keep what they
    have (RS-431). Else no member: ``NotFound``; any live member: ``AlreadyRequested`` with the time of the last live
    one; else ``Terminal`` with the status of the last member (RS-432). Members are those of RS-741, by ordinal and then
    run id; their states are not looked at, and there is no fact (RS-433).
    """
    if isinstance(run_id := admit_run_id(run_id), Refusal):
        return refused(world, "requestCancelLineage", run_id)
    if isinstance(now_ms := admit_timestamp(now_ms, "nowMs"), Refusal):
        return refused(world, "requestCancelLineage", now_ms)

    members = members_of(world, run_id)
    live = [run for run in members if _settled_status(run) is None]
    after = world
    for run in live:
        if run.cancel_requested_at_ms is None:
            after = _requested(after, run, now_ms)
    if after is not world:
        return committed(world, after, "requestCancelLineage", CancelRequested(now_ms))
    requests = [run.cancel_requested_at_ms for run in live if run.cancel_requested_at_ms is not None]
    if requests:
        return unchanged(world, AlreadyRequested(requests[-1]))
    statuses: list[TerminalRunStatus] = [status for run in members if (status := _settled_status(run)) is not None]
    return unchanged(world, Terminal(statuses[-1]) if statuses else NotFound())


def acknowledge_cancel(world: World, run_id: object, owner: object, now_ms: object) -> Step:
    """Record that the owner saw the request; answers whether the row was the owner's, running, and requested.

    Admits run id, owner, ``now_ms`` without a skew check (RS-440). The row alone is the fence, the lease is not asked
    (RS-441). A repeat, also by a later owner, is true, keeps the first record and costs a revision (RS-442).
    """
    if isinstance(run_id := admit_run_id(run_id), Refusal):
        return refused(world, "acknowledgeCancel", run_id)
    if isinstance(owner := admit_owner(owner, "owner"), Refusal):
        return refused(world, "acknowledgeCancel", owner)
    if isinstance(now_ms := admit_timestamp(now_ms, "nowMs"), Refusal):
        return refused(world, "acknowledgeCancel", now_ms)

    run = world.runs.get(run_id)
    if run is None or not owned(run, owner) or run.cancel_requested_at_ms is None:
        return unchanged(world, False)
    first = Acknowledgement(now_ms, owner) if run.acknowledgement is None else run.acknowledgement
    after = revisions.update_run(world, attrs.evolve(run, acknowledgement=first))
    return committed(world, after, "acknowledgeCancel", True)


def _requested(world: World, run: Run, now_ms: int) -> World:
    return revisions.update_run(world, attrs.evolve(run, cancel_requested_at_ms=now_ms))


def _settled_status(run: Run) -> TerminalRunStatus | None:
    """The status if the run has settled, else nothing (RS-010)."""
    match run.status:
        case "completed" | "failed" | "cancelled":
            return run.status
        case _:
            return None
