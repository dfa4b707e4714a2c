"""What a store asks of whatever collects its counters and spans."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

from tenure.metrics.views import View

AttributeValue: TypeAlias = str | int | Sequence[str]

SetAttribute: TypeAlias = Callable[[str, AttributeValue], object]


class Telemetry(Protocol):
    """A collector. Its methods are called in the thread of the operation, and must not raise."""

    def count(self, view: View, amount: int) -> None:
        """A counter rose."""
        ...

    def span(self, name: str) -> AbstractContextManager[SetAttribute]:
        """A span around an operation, which failed if the block raises; it is given what sets the span's attributes."""
        ...
