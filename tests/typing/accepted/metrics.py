# pyright: strict
"""Counters and spans: those of a store, of OpenTelemetry, and of a collector of one's own."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import assert_type

import tenure
from tenure.metrics.opentelemetry import OpenTelemetry
from tenure.metrics.telemetry import SetAttribute
from tenure.metrics.views import View


class Collector:
    """Two methods make one."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self.tell = tell

    def count(self, view: View, amount: int) -> None:
        """One more."""
        self.tell(f"{view.counter} {dict(view.attributes)} {amount}")

    @contextmanager
    def span(self, name: str) -> Generator[SetAttribute]:
        """Around an operation."""
        yield lambda key, value: self.tell(f"{name} {key} {value}")


def counters(store: tenure.Store) -> dict[str, int]:
    """Read from the store."""
    assert_type(store.counters.total("flows_run_claims", op="claim"), int)
    return {count.name: count.value for count in store.counters.snapshot()}


def collectors() -> None:
    """Given to a store."""
    tenure.open("runs.db", telemetry=OpenTelemetry())
    tenure.open("runs.db", telemetry=Collector(print))
