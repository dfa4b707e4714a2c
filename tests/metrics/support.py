"""A store whose counters and spans OpenTelemetry's SDK collects in memory, and what tests ask of it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

import attrs
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

import tenure
from tenure.metrics.opentelemetry import OpenTelemetry
from tests.database.support import Faults, FaultyEngine
from tests.runs.support import Clock, Recorder, World

Key: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]
Counted: TypeAlias = dict[Key, int]


def key(counter: str, **attributes: str) -> Key:
    """A counter under attributes, whatever their order."""
    return counter, tuple(sorted(attributes.items()))


@attrs.frozen
class Collected:
    """What the SDK has."""

    reader: InMemoryMetricReader
    exporter: InMemorySpanExporter
    telemetry: OpenTelemetry

    def counts(self) -> Counted:
        """Every sum, by counter and attributes."""
        data = self.reader.get_metrics_data()
        if data is None:
            return {}
        return {
            key(metric.name, **point.attributes): point.value
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            for point in metric.data.data_points
        }

    def spans(self) -> list[ReadableSpan]:
        """The spans that ended since the last call, innermost first."""
        spans = list(self.exporter.get_finished_spans())
        self.exporter.clear()
        return spans

    def of_operations(self) -> list[tuple[str, Mapping[str, object], bool]]:
        """Name, attributes, and whether it failed, of those spans that are none of the strategy."""
        return [
            (span.name, dict(span.attributes or {}), span.status.status_code is StatusCode.ERROR)
            for span in self.spans()
            if not span.name.startswith("Consensus.")
        ]


def collected() -> Collected:
    """A reader and an exporter of their own."""
    reader, exporter = InMemoryMetricReader(), InMemorySpanExporter()
    tracers = TracerProvider(shutdown_on_exit=False)
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    meters = MeterProvider(metric_readers=[reader], shutdown_on_exit=False)
    return Collected(reader, exporter, OpenTelemetry(meter_provider=meters, tracer_provider=tracers))


def plain(store: tenure.Store) -> Counted:
    """The store's own counters."""
    return {key(count.name, **count.attributes): count.value for count in store.counters.snapshot()}


@attrs.frozen
class Observed:
    """A store in memory, driven by hand, and what is collected of it."""

    world: World
    faults: Faults
    collected: Collected

    @property
    def store(self) -> tenure.Store:
        return self.world.store

    @property
    def runs(self) -> tenure.RunStore:
        return self.world.runs

    @contextmanager
    def rises(self) -> Iterator[Counted]:
        """What counters rise by in the block is in the mapping afterwards; both kinds of counters agree about it."""
        before, risen = plain(self.store), {}
        self.collected.spans()
        yield risen
        after = plain(self.store)
        risen.update({key: value - before.get(key, 0) for key, value in after.items() if value != before.get(key, 0)})
        assert self.collected.counts() == after

    def interrupt(self, *, on: str = "BEGIN") -> None:
        """From now on, have Ctrl-C come at every statement that contains ``on``."""
        self.fail_with(KeyboardInterrupt(), on=on)

    def fail_with(self, error: BaseException, *, on: str = "BEGIN", times: int = -1) -> None:
        """Raise ``error`` in place of each statement that contains ``on``, or of the first few of them."""
        left = [times]

        def before(sql: str) -> None:
            if on in sql and left[0]:
                left[0] -= 1
                raise error

        self.faults.before = before

    def mend(self) -> None:
        """Fail no more."""
        self.faults.before = lambda sql: None


def new_observed(**options: Any) -> Observed:
    """A fresh store; ``options`` are those of ``tenure.open``, but for ``facts`` where they name a journal."""
    found, faults, clock, recorder = collected(), Faults(), Clock(), Recorder()
    if "journal" not in options:
        options["facts"] = lambda database: recorder
    store = tenure.open(
        FaultyEngine(options.pop("path", ":memory:"), faults),
        clock=clock,
        sleep=options.pop("sleep", lambda seconds: None),
        telemetry=found.telemetry,
        **options,
    )
    return Observed(World(store, clock, recorder), faults, found)


def swallow(call: Callable[[], object]) -> None:
    """Call, whatever comes of it."""
    with suppress(BaseException):
        call()
