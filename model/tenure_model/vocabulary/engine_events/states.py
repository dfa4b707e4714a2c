"""The history of an execution, its deferred values and its clocks, version 2 (JN-350, JN-355). Times are in ms."""

from typing import ClassVar, Final, Literal, TypeAlias

import attrs

from tenure_model.vocabulary.engine_events.attempts import EVENT_VERSION
from tenure_model.vocabulary.engine_events.lineage import Lineage
from tenure_model.vocabulary.engine_events.results import Result

STATE_EVENT: Final = "flows.engine.v2.state-event"


@attrs.frozen
class Deferred:
    """A wait for a value that somebody will supply."""

    wait_id: str


@attrs.frozen
class Clock:
    """A wait for a point in time."""

    wait_id: str
    due_at_ms: int


Wait: TypeAlias = Deferred | Clock


@attrs.frozen
class ExecutionRunning:
    """The execution runs, perhaps with waits open."""

    state: ClassVar[Literal["running"]] = "running"

    waits: tuple[Wait, ...] = ()


@attrs.frozen
class ExecutionSuspended:
    """The execution stands still until one of its waits, at least one, is over."""

    state: ClassVar[Literal["suspended"]] = "suspended"

    waits: tuple[Wait, ...]


@attrs.frozen
class ExecutionCompleted:
    """The execution has ended."""

    state: ClassVar[Literal["completed"]] = "completed"

    result: Result


ExecutionLifecycle: TypeAlias = ExecutionRunning | ExecutionSuspended | ExecutionCompleted


@attrs.frozen
class Execution:
    """The execution itself is now in this state."""

    lifecycle: ExecutionLifecycle


@attrs.frozen
class DeferredCompleted:
    """A deferred value is there."""

    wait_id: str
    result: Result


@attrs.frozen
class ClockScheduled:
    """A clock is set; ``due_at_ms`` is a point in time and no duration."""

    clock_id: str
    wait_id: str
    due_at_ms: int


StateChange: TypeAlias = Execution | DeferredCompleted | ClockScheduled


@attrs.frozen
class StatePayload:
    """What changed in one execution. ``execution_id`` is the run's id (JN-355)."""

    lineage: Lineage
    execution_id: str
    event: StateChange
    version: Literal[2] = EVENT_VERSION
