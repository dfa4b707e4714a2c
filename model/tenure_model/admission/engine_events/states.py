"""Payloads of state events (JN-355)."""

from typing import Final

from tenure_model.admission.engine_events.attempts import check_version, read_execution_id
from tenure_model.admission.engine_events.lineages import read_lineage
from tenure_model.admission.engine_events.members import (
    MalformedError,
    Members,
    array,
    identifier,
    only,
    open_record,
    quantity,
    strict_record,
)
from tenure_model.admission.engine_events.results import read_result
from tenure_model.vocabulary.engine_events.states import (
    Clock,
    ClockScheduled,
    Deferred,
    DeferredCompleted,
    Execution,
    ExecutionCompleted,
    ExecutionLifecycle,
    ExecutionRunning,
    ExecutionSuspended,
    StateChange,
    StatePayload,
    Wait,
)

_NAMES: Final = frozenset(("version", "lineage", "executionId", "event"))
_EXECUTION: Final = frozenset(("_tag", "lifecycle"))
_DEFERRED_COMPLETED: Final = frozenset(("_tag", "waitId", "result"))
_CLOCK_SCHEDULED: Final = frozenset(("_tag", "clockId", "waitId", "dueAtMs"))
_OPEN: Final = frozenset(("state", "waits"))
_COMPLETED: Final = frozenset(("state", "result"))
_DEFERRED: Final = frozenset(("_tag", "waitId"))
_CLOCK: Final = frozenset(("_tag", "waitId", "dueAtMs"))


def read_state_payload(value: object, place: str = "payload") -> StatePayload:
    """The payload of a state event, no member missing and none too many (JN-355, JN-356)."""
    members = strict_record(value, _NAMES, place)
    check_version(members, place)
    lineage = read_lineage(members.get("lineage"), f"{place}.lineage")
    execution_id = read_execution_id(members, lineage, place)
    return StatePayload(lineage, execution_id, _read_event(members.get("event"), f"{place}.event"))


def _read_event(value: object, place: str) -> StateChange:
    members = open_record(value, place)
    tag = members.get("_tag")
    if type(tag) is str:
        if tag == "Execution":
            only(members, _EXECUTION, place)
            return Execution(_read_lifecycle(members.get("lifecycle"), f"{place}.lifecycle"))
        if tag == "DeferredCompleted":
            only(members, _DEFERRED_COMPLETED, place)
            return DeferredCompleted(identifier(members, "waitId", place), read_result(members, "result", place))
        if tag == "ClockScheduled":
            only(members, _CLOCK_SCHEDULED, place)
            return ClockScheduled(
                identifier(members, "clockId", place),
                identifier(members, "waitId", place),
                quantity(members, "dueAtMs", place),
            )
    raise MalformedError(f"{place}._tag", "must be one of Execution, DeferredCompleted, ClockScheduled")


def _read_lifecycle(value: object, place: str) -> ExecutionLifecycle:
    members = open_record(value, place)
    state = members.get("state")
    if type(state) is str:
        if state == "running":
            only(members, _OPEN, place)
            return ExecutionRunning(_read_waits(members, place))
        if state == "suspended":
            only(members, _OPEN, place)
            waits = _read_waits(members, place)
            if not waits:
                raise MalformedError(f"{place}.waits", "must have at least one wait")
            return ExecutionSuspended(waits)
        if state == "completed":
            only(members, _COMPLETED, place)
            return ExecutionCompleted(read_result(members, "result", place))
    raise MalformedError(f"{place}.state", "must be one of running, suspended, completed")


def _read_waits(members: Members, place: str) -> tuple[Wait, ...]:
    return tuple(
        _read_wait(wait, f"{place}.waits[{position}]") for position, wait in enumerate(array(members, "waits", place))
    )


def _read_wait(value: object, place: str) -> Wait:
    members = open_record(value, place)
    tag = members.get("_tag")
    if type(tag) is str:
        if tag == "Deferred":
            only(members, _DEFERRED, place)
            return Deferred(identifier(members, "waitId", place))
        if tag == "Clock":
            only(members, _CLOCK, place)
            return Clock(identifier(members, "waitId", place), quantity(members, "dueAtMs", place))
    raise MalformedError(f"{place}._tag", "must be one of Deferred, Clock")
