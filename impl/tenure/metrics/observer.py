"""Calls as they are observed: counted always, and under a span where a collector is given."""

from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import MethodType
from typing import Final, TypeAlias, TypeVar, TypeVarTuple, cast

from tenure.metrics import views
from tenure.metrics.counters import Counters
from tenure.metrics.operations import FAILURE, INTERRUPT, SUCCESS, Operation, requested_status
from tenure.metrics.telemetry import SetAttribute, Telemetry

Context = TypeVar("Context")
Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

Ticks: TypeAlias = Mapping[str, Callable[[], object]]

_UNADMITTED: Final = frozenset({"invalid_run", "invalid_attempt", "invalid_event", "journal_closed"})
"""Codes of errors that end a call before all of its arguments are admitted."""

_NO_SPAN: Final = nullcontext()


class Observer:
    """Binds the operations of a store to what they work with, so that they are counted, and keeps the ``counters``.

    What is observed of an operation is decided when it is bound: one that is not counted costs nothing.
    """

    __slots__ = ("counters", "settled")

    def __init__(self, counters: Counters | None = None) -> None:
        self.counters = Counters() if counters is None else counters
        self.settled = self.counters.ticker(views.throughput)
        """To call when a run has reached a terminal status, and that is committed (RS-394, RS-965)."""

    def bind(
        self, operation: Operation, function: Callable[[Context, *Arguments], Result], context: Context
    ) -> Callable[[*Arguments], Result]:
        """``function`` with its first argument, counting how each call ends (RS-961)."""
        # What it is to a type checker says nothing about its arguments.
        bound = cast(Callable[[*Arguments], Result], MethodType(function, context))
        if operation.to_at is not None:
            return _counted_by_request(self.counters, operation, operation.to_at, bound)
        if operation.endings:
            return _counted({end: self.counters.ticker(view) for end, view in operation.endings.items()}, bound)
        return bound

    def around(self, operation: Operation, *arguments: object) -> AbstractContextManager[object]:
        """A context manager around what an operation does, for one whose answer has a type that ``bind`` would lose."""
        return _NO_SPAN

    def trace(self, operation: Operation, function: Callable[[*Arguments], Result]) -> Callable[[*Arguments], Result]:
        """``function`` as it is observed: nothing is counted."""
        return function

    def lost(self, code: str, entries: int) -> None:
        """The lossy channel has lost entries (JN-411)."""
        self.counters.add(views.journal_lost(code), entries)


class TracingObserver(Observer):
    """An observer that opens a span around each call as well (RS-966)."""

    __slots__ = ("telemetry",)

    def __init__(self, telemetry: Telemetry) -> None:
        super().__init__(Counters(telemetry.count))
        self.telemetry = telemetry

    def bind(
        self, operation: Operation, function: Callable[[Context, *Arguments], Result], context: Context
    ) -> Callable[[*Arguments], Result]:
        """As without a span, inside one."""
        return self.trace(operation, super().bind(operation, function, context))

    def around(self, operation: Operation, *arguments: object) -> AbstractContextManager[object]:
        """A span around the block."""
        return _span(self.telemetry, operation, arguments)

    def trace(self, operation: Operation, function: Callable[[*Arguments], Result]) -> Callable[[*Arguments], Result]:
        """``function`` inside a span."""
        return _traced(self.telemetry, operation, function)


def new_observer(telemetry: Telemetry | None) -> Observer:
    """What observes a store."""
    return Observer() if telemetry is None else TracingObserver(telemetry)


def ending_of(error: BaseException) -> str:
    """How a call ended that raised ``error`` (RS-960)."""
    return FAILURE if isinstance(error, Exception) else INTERRUPT


def _counted(ticks: Ticks, function: Callable[[*Arguments], Result]) -> Callable[[*Arguments], Result]:
    def call(*arguments: *Arguments) -> Result:
        try:
            result = function(*arguments)
        except BaseException as error:
            if ending_of(error) in ticks:
                ticks[ending_of(error)]()
            raise
        ticks[type(result).__name__]()
        return result

    return call


def _counted_by_request(
    counters: Counters,
    operation: Operation,
    to_at: int,
    function: Callable[[*Arguments], Result],
) -> Callable[[*Arguments], Result]:
    def count(ending: str, to: object) -> None:
        counters.add(operation.endings[ending].under("to", requested_status(to)), 1)

    def call(*arguments: *Arguments) -> Result:
        try:
            result = function(*arguments)
        except BaseException as error:
            count(ending_of(error), arguments[to_at])
            raise
        count(type(result).__name__, arguments[to_at])
        return result

    return call


def _traced(
    telemetry: Telemetry, operation: Operation, function: Callable[[*Arguments], Result]
) -> Callable[[*Arguments], Result]:
    def call(*arguments: *Arguments) -> Result:
        with _span(telemetry, operation, arguments) as set_attribute:
            result = function(*arguments)
            if operation.outcomes is not None:
                set_attribute("outcome", operation.outcomes.get(type(result), SUCCESS))
            return result

    return call


@contextmanager
def _span(telemetry: Telemetry, operation: Operation, arguments: tuple[object, ...]) -> Generator[SetAttribute]:
    """A span whose identity is told once the arguments are known to be admitted: when the call ends (RS-966)."""
    with telemetry.span(operation.span) as set_attribute:
        if operation.to_at is not None:
            set_attribute("to", requested_status(arguments[operation.to_at]))
        is_admitted = True
        try:
            yield set_attribute
        except BaseException as error:
            code: object = getattr(error, "code", None)
            is_admitted = type(code) is not str or code not in _UNADMITTED
            if operation.outcomes is not None:
                set_attribute("outcome", ending_of(error))
            raise
        finally:
            if is_admitted:
                for name, value in operation.identify(arguments).items():
                    set_attribute(name, value)
