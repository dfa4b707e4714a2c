"""``requestCancel``, ``requestCancelLineage`` and ``acknowledgeCancel`` (RS-420..RS-442)."""

import json

from tenure.runs import statements
from tenure.runs.context import RunContext
from tenure.runs.failures import invalid, missed_cancellation, undecodable_status
from tenure_model.admission.integers import admit_timestamp
from tenure_model.admission.records import admit_owner, admit_run_id
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.outcomes import (
    AlreadyRequested,
    CancelRequested,
    NotFound,
    RequestCancelOutcome,
    Terminal,
)
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.statuses import TERMINAL_RUN_STATUSES


def request_cancel(context: RunContext, run_id: object, now_ms: object) -> RequestCancelOutcome:
    """Record the first request for cancellation of a live run; nobody's ownership is touched (RS-420..RS-424)."""
    return _request(context, "requestCancel", run_id, now_ms, statements.REQUEST_CANCEL, statements.CANCELLATION)


def request_cancel_lineage(context: RunContext, run_id: object, now_ms: object) -> RequestCancelOutcome:
    """The same for every live round of the run's lineage, in one statement (RS-430..RS-433)."""
    return _request(
        context,
        "requestCancelLineage",
        run_id,
        now_ms,
        statements.REQUEST_CANCEL_LINEAGE,
        statements.CANCELLATION_LINEAGE,
    )


def _request(
    context: RunContext, method: str, run_id: object, now_ms: object, update: str, inspection: str
) -> RequestCancelOutcome:
    admitted_id = admit_run_id(run_id)
    if type(admitted_id) is Refusal:
        raise invalid(method, admitted_id)
    now = admit_timestamp(now_ms, "nowMs")
    if type(now) is Refusal:
        raise invalid(method, now)
    return context.write(method, _request_in, method, admitted_id, now, update, inspection)


def _request_in(
    context: RunContext, method: str, run_id: str, now_ms: int, update: str, inspection: str
) -> RequestCancelOutcome:
    if context.rows(update, (run_id, now_ms)):
        return CancelRequested(now_ms)
    # Of several members the last live one speaks; a settled one only where none is live (RS-432). Of one run this is
    # RS-422.
    answer: RequestCancelOutcome = NotFound()
    for status, requested_at_ms in context.rows(inspection, (run_id,)):
        if status is None:
            raise undecodable_status(method, run_id)
        if status in TERMINAL_RUN_STATUSES:
            if not isinstance(answer, AlreadyRequested):
                answer = Terminal(status)
        elif requested_at_ms is None:
            raise missed_cancellation(method, run_id)
        else:
            answer = AlreadyRequested(requested_at_ms)
    return answer


def acknowledge_cancel(context: RunContext, run_id: object, owner: object, now_ms: object) -> bool:
    """Whether the caller owns the run and its end is requested; the first record stays (RS-440..RS-442)."""
    method = "acknowledgeCancel"
    admitted_id = admit_run_id(run_id)
    if type(admitted_id) is Refusal:
        raise invalid(method, admitted_id)
    who = admit_owner(owner, "owner")
    if type(who) is Refusal:
        raise invalid(method, who)
    now = admit_timestamp(now_ms, "nowMs")
    if type(now) is Refusal:
        raise invalid(method, now)
    return context.write(method, _acknowledge, admitted_id, who, now)


def _acknowledge(context: RunContext, run_id: str, owner: OwnerId, now_ms: int) -> bool:
    acknowledgement = json.dumps(
        {"observedAtMs": now_ms, "owner": {"hostId": owner.host_id, "pid": owner.pid, "nonce": owner.nonce}},
        ensure_ascii=False,
        separators=(",", ":"),
    )
    return bool(
        context.rows(statements.ACKNOWLEDGE_CANCEL, (run_id, owner.host_id, owner.pid, owner.nonce, acknowledgement))
    )
