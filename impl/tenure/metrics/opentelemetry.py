"""Counters and spans through OpenTelemetry's API. Needs the extra ``metrics``; nothing else here imports it."""

from collections.abc import Generator
from contextlib import contextmanager

from opentelemetry.metrics import MeterProvider, get_meter_provider
from opentelemetry.trace import StatusCode, TracerProvider, get_tracer_provider

from tenure.metrics.telemetry import SetAttribute
from tenure.metrics.views import DESCRIPTIONS, View

SCOPE = "tenure"
"""The name of the meter and of the tracer."""


class OpenTelemetry:
    """A collector for ``tenure.open(..., telemetry=OpenTelemetry())``; several stores may share one.

    Without providers it takes those that the program has set for itself, at the moment of the call.
    """

    __slots__ = ("_counters", "_tracer")

    def __init__(
        self, *, meter_provider: MeterProvider | None = None, tracer_provider: TracerProvider | None = None
    ) -> None:
        meters = get_meter_provider() if meter_provider is None else meter_provider
        tracers = get_tracer_provider() if tracer_provider is None else tracer_provider
        meter = meters.get_meter(SCOPE)
        self._counters = {
            name: meter.create_counter(name, description=description) for name, description in DESCRIPTIONS.items()
        }
        self._tracer = tracers.get_tracer(SCOPE)

    def count(self, view: View, amount: int) -> None:
        """Raise the counter of the view's name under its attributes."""
        self._counters[view.counter].add(amount, dict(view.attributes))

    @contextmanager
    def span(self, name: str) -> Generator[SetAttribute]:
        """A span that is current in the block; its status is an error if the block raises.

        What was raised is not recorded: a message may hold identities that no attribute may hold.
        """
        with self._tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as span:
            try:
                yield span.set_attribute
            except BaseException:
                span.set_status(StatusCode.ERROR)
                raise
