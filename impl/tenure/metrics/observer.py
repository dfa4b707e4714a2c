"""Calls as they are observed: counted always, and under a span where a collector is given."""

from collections.abc import Callable
from typing import Final, TypeVar, TypeVarTuple

from tenure.metrics import views
from tenure.metrics.counters import Counters
from tenure.metrics.operations import FAILURE, INTERRUPT, SUCCESS, Operation, requested_status
from tenure.metrics.telemetry import SetAttribute, Telemetry

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

_UNADMITTED: Final = frozenset({"invalid_run", "invalid_attempt", "invalid_event", "journal_closed"})
"""Codes of errors that end a call before all of its arguments are admitted."""


class Observer:
    """Runs the operations of a store and keeps its ``counters``."""

    __slots__ = ("counters",)

    def __init__(self, counters: Counters | None = None) -> None:
        self.counters = Counters() if counters is None else counters

    def call(self, operation: Operation, function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        """Answer what ``function(*arguments)`` answers, and count how it ended (RS-961)."""
        try:
            result = function(*arguments)
        except BaseException as error:
            self._count(operation, ending_of(error), arguments)
            raise
        if operation.endings:
            self._count(operation, type(result).__name__, arguments)
        return result

    def settled(self) -> None:
        """A run has reached a terminal status, and that is committed (RS-394, RS-965)."""
        self.counters.add(views.throughput)

    def retried(self) -> None:
        """The database was busy, and a write is repeated (JN-143)."""
        self.counters.add(views.write_retries)

    def lost(self, code: str, entries: int) -> None:
        """The lossy channel has lost entries."""
        self.counters.add(views.journal_lost(code), entries)

    def _count(self, operation: Operation, ending: str, arguments: tuple[object, ...]) -> None:
        view = operation.endings.get(ending)
        if view is None:
            return
        if operation.to_at is not None:
            view = view.under("to", requested_status(arguments[operation.to_at]))
        self.counters.add(view)


class TracingObserver(Observer):
    """An observer that opens a span around each call as well (RS-966)."""

    __slots__ = ("telemetry",)

    def __init__(self, telemetry: Telemetry) -> None:
        super().__init__(Counters(telemetry.count))
        self.telemetry = telemetry

    def call(self, operation: Operation, function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        """As without a span, inside one."""
        with self.telemetry.span(operation.span) as set_attribute:
            if operation.to_at is not None:
                set_attribute("to", requested_status(arguments[operation.to_at]))
            try:
                result = super().call(operation, function, *arguments)
            except BaseException as error:
                if getattr(error, "code", None) not in _UNADMITTED:
                    _identify(operation, arguments, set_attribute)
                if operation.outcomes is not None:
                    set_attribute("outcome", ending_of(error))
                raise
            _identify(operation, arguments, set_attribute)
            if operation.outcomes is not None:
                set_attribute("outcome", operation.outcomes.get(type(result).__name__, SUCCESS))
            return result


def new_observer(telemetry: Telemetry | None) -> Observer:
    """What observes a store."""
    return Observer() if telemetry is None else TracingObserver(telemetry)


def ending_of(error: BaseException) -> str:
    """How a call ended that raised ``error`` (RS-960)."""
    return FAILURE if isinstance(error, Exception) else INTERRUPT


def _identify(operation: Operation, arguments: tuple[object, ...], set_attribute: SetAttribute) -> None:
    for name, value in operation.identify(arguments).items():
        set_attribute(name, value)
