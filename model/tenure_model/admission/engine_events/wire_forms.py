"""Payloads under the names of the wire (JN-351..JN-355).

Classes become ``dict``s where they belong, ``ABSENT`` members go; whatever else stands in their place stays as it is,
for the readers to complain about. A carrier with a field that was never set raises ``AttributeError``.
"""

from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.engine_events.attempts import (
    AttemptFailed,
    AttemptPayload,
    AttemptRunning,
    AttemptSucceeded,
    AttemptSuspended,
)
from tenure_model.vocabulary.engine_events.lineage import Lineage
from tenure_model.vocabulary.engine_events.results import Failure, Success
from tenure_model.vocabulary.engine_events.states import (
    Clock,
    ClockScheduled,
    Deferred,
    DeferredCompleted,
    Execution,
    ExecutionCompleted,
    ExecutionRunning,
    ExecutionSuspended,
    StatePayload,
)


def attempt_wire(payload: object) -> object:
    """The payload of an attempt as the journal stores it."""
    if type(payload) is not AttemptPayload:
        return payload
    return {
        "version": payload.version,
        "lineage": lineage_wire(payload.lineage),
        "executionId": payload.execution_id,
        "stepKeyDigest": payload.step_key_digest,
        "attempt": payload.attempt,
        "lifecycle": _attempt_lifecycle_wire(payload.lifecycle),
    }


def state_wire(payload: object) -> object:
    """The payload of a state event as the journal stores it."""
    if type(payload) is not StatePayload:
        return payload
    return {
        "version": payload.version,
        "lineage": lineage_wire(payload.lineage),
        "executionId": payload.execution_id,
        "event": _event_wire(payload.event),
    }


def lineage_wire(lineage: object) -> object:
    """A lineage; all kinds have the same members."""
    if type(lineage) is not Lineage:
        return lineage
    return {
        "kind": lineage.kind,
        "runId": lineage.run_id,
        "lineageId": lineage.lineage_id,
        "rootRunId": lineage.root_run_id,
        "round": lineage.round,
        "parentRunId": lineage.parent_run_id,
    }


def result_wire(result: object) -> object:
    """A success or a failure."""
    if type(result) is Success:
        return {"_tag": "Success", "value": result.value}
    if type(result) is Failure:
        return {"_tag": "Failure", "reason": result.reason, "detail": result.detail}
    return result


def _attempt_lifecycle_wire(lifecycle: object) -> object:
    if type(lifecycle) is AttemptRunning or type(lifecycle) is AttemptSuspended:
        wire: dict[str, object] = {"state": lifecycle.state, "startedAtMs": lifecycle.started_at_ms}
        if lifecycle.heartbeat_at_ms is not ABSENT:
            wire["heartbeatAtMs"] = lifecycle.heartbeat_at_ms
        if lifecycle.checkpoint is not ABSENT:
            wire["checkpoint"] = lifecycle.checkpoint
        return wire
    if type(lifecycle) is AttemptSucceeded or type(lifecycle) is AttemptFailed:
        return {
            "state": lifecycle.state,
            "startedAtMs": lifecycle.started_at_ms,
            "finishedAtMs": lifecycle.finished_at_ms,
            "result": result_wire(lifecycle.result),
        }
    return lifecycle


def _event_wire(event: object) -> object:
    if type(event) is Execution:
        return {"_tag": "Execution", "lifecycle": _execution_lifecycle_wire(event.lifecycle)}
    if type(event) is DeferredCompleted:
        return {"_tag": "DeferredCompleted", "waitId": event.wait_id, "result": result_wire(event.result)}
    if type(event) is ClockScheduled:
        return {
            "_tag": "ClockScheduled",
            "clockId": event.clock_id,
            "waitId": event.wait_id,
            "dueAtMs": event.due_at_ms,
        }
    return event


def _execution_lifecycle_wire(lifecycle: object) -> object:
    if type(lifecycle) is ExecutionRunning or type(lifecycle) is ExecutionSuspended:
        return {"state": lifecycle.state, "waits": _waits_wire(lifecycle.waits)}
    if type(lifecycle) is ExecutionCompleted:
        return {"state": lifecycle.state, "result": result_wire(lifecycle.result)}
    return lifecycle


def _waits_wire(waits: object) -> object:
    if type(waits) is tuple or type(waits) is list:
        return [_wait_wire(wait) for wait in list(waits)]
    return waits


def _wait_wire(wait: object) -> object:
    if type(wait) is Deferred:
        return {"_tag": "Deferred", "waitId": wait.wait_id}
    if type(wait) is Clock:
        return {"_tag": "Clock", "waitId": wait.wait_id, "dueAtMs": wait.due_at_ms}
    return wait
