"""Tests of the extra: what imports it, whose providers it uses, and that it counts what the store counts."""

import random
import subprocess
import sys
from collections.abc import Callable

import pytest

import tenure
from tenure.database.engine import DatabaseError
from tenure.metrics.opentelemetry import OpenTelemetry
from tenure.metrics.views import DESCRIPTIONS
from tests.metrics.support import collected, new_observed, plain, swallow
from tests.runs.support import NOW, STALE, A, B, C, evidence, running


def run(program: str) -> str:
    """What a program of its own prints."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_nothing_is_imported_unless_asked_for() -> None:
    """Neither by the library nor by a store that is used and read (RS-960)."""
    program = """
import sys, tenure
with tenure.open(":memory:", journal=tenure.JournalOptions(capacity=1, overflow="reject")) as store:
    store.runs.create("r", "{}")
    store.runs.claim_and_own("r", tenure.PENDING, tenure.OwnerId.here(), store.now())
    store.journal.emit_durable_unfenced(tenure.JournalInput("r", "s", "t", None))
    print(store.counters.total("flows_run_claims"))
print(sorted(name for name in sys.modules if "opentelemetry" in name))
import tenure.metrics.opentelemetry
print("opentelemetry" in sys.modules)
"""

    assert run(program) == "1\n[]\nTrue\n"


def test_without_providers_it_takes_those_of_the_program() -> None:
    """Set before the collector is made (the default of the outermost layer)."""
    program = """
import tenure
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tenure.database.engine import DatabaseError
from tenure.metrics.opentelemetry import OpenTelemetry
from tenure.metrics.views import DESCRIPTIONS
reader, exporter, tracers = InMemoryMetricReader(), InMemorySpanExporter(), TracerProvider()
tracers.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(tracers)
metrics.set_meter_provider(MeterProvider([reader]))
with tenure.open(":memory:", telemetry=OpenTelemetry()) as store:
    store.runs.lineage("r")
    store.runs.heartbeat("r", tenure.OwnerId.here(), store.now())
print([span.name for span in exporter.get_finished_spans() if span.name.startswith("RunStore")])
print([metric.name for metric in reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics])
"""

    assert run(program) == "['RunStore.lineage', 'RunStore.heartbeat']\n['flows_run_heartbeats']\n"


def test_without_an_sdk_it_does_nothing() -> None:
    """The API's own defaults collect nothing, and a store works the same."""
    store = tenure.open(":memory:", telemetry=OpenTelemetry())
    outcome = store.runs.heartbeat("r", A, store.now())

    assert outcome == tenure.NotFound()
    assert store.counters.total("flows_run_heartbeats") == 1
    store.close()


def test_stores_that_share_a_collector_add_up() -> None:
    """The collector has the sum, each store its own part."""
    found = collected()
    stores = [tenure.open(":memory:", telemetry=found.telemetry) for _ in range(2)]
    for store in stores:
        store.runs.heartbeat("r", A, store.now())

    assert list(found.counts().values()) == [2]
    assert [store.counters.total("flows_run_heartbeats") for store in stores] == [1, 1]
    for store in stores:
        store.close()


@pytest.mark.parametrize("error", [RuntimeError("r"), KeyboardInterrupt("r")])
def test_a_span_says_that_it_failed_and_nothing_more(error: BaseException) -> None:
    """No event and no text tells what was raised: it may hold identities (RS-966)."""
    found = collected()

    def fail() -> None:
        with found.telemetry.span("s") as set_attribute:
            set_attribute("a", 1)
            raise error

    with pytest.raises(type(error)):
        fail()
    (span,) = found.spans()

    assert (span.name, dict(span.attributes or {}), list(span.events)) == ("s", {"a": 1}, [])
    assert (span.status.is_ok, span.status.description) == (False, None)


@pytest.mark.parametrize("seed", range(5))
def test_both_kinds_of_counters_agree_on_a_history(seed: int) -> None:
    """Any history: losses, refusals, interruptions, rollbacks, replays, both channels (RS-960, JN-410)."""
    draw = random.Random(seed)
    options = tenure.JournalOptions(capacity=3, overflow="drop-newest")
    observed = new_observed(journal=tenure.JournalSetup(options, "manual"))
    store, runs = observed.store, observed.runs
    journal = store.journal
    owners = [A, B, C]

    def whole_run() -> None:
        fresh = f"fresh-{draw.random()}"
        runs.create(fresh, "{}")
        runs.claim_and_own(fresh, tenure.PENDING, A, NOW)
        runs.transition_owned(fresh, A, "completed")

    def step() -> object:
        run_id, owner, other = draw.choice(["r", "s", ""]), draw.choice(owners), draw.choice(owners)
        now = draw.choice([NOW, NOW - STALE - 1, -1])
        snapshot = draw.choice([tenure.PENDING, running(other, NOW), running(other, NOW - STALE - 1)])
        calls: list[Callable[[], object]] = [
            lambda: runs.create(run_id, "{}"),
            lambda: runs.claim(run_id, snapshot, owner, now),
            lambda: runs.claim_and_own(run_id, snapshot, owner, now),
            lambda: runs.activate(run_id, owner, now, snapshot),
            lambda: runs.abandon_claim(run_id, owner, now),
            lambda: runs.recover_claim(run_id, other, now, owner, NOW, evidence(other)),
            lambda: runs.steal(run_id, snapshot, owner, NOW, evidence(other)),
            lambda: runs.heartbeat(run_id, owner, now),
            lambda: runs.reconfirm(run_id, owner, now),
            lambda: runs.transition_owned(run_id, owner, draw.choice(["running", "failed", "failed", "no"])),  # type: ignore[arg-type]  # one of them is none
            lambda: journal.emit_durable(tenure.JournalInput("r", "p", "e", 0, draw.randrange(3)), owner),
            lambda: journal.emit_durable_unfenced(tenure.JournalInput("r", "p", "e", draw.randrange(2), 9)),
            lambda: journal.emit_lossy(tenure.JournalInput("r", "q", "e", 0)),
            lambda: journal.emit_lossy(tenure.JournalInput("r", "q", "e", draw.randrange(2), draw.randrange(9))),
            journal.flush,
            whole_run,
        ]
        return draw.choice(calls)()

    def block() -> None:
        with store.transaction():
            for _ in range(draw.randrange(4)):
                swallow(step)
            if draw.random() < 0.5:
                raise RuntimeError

    for _ in range(1_000):
        if draw.random() < 0.2:
            # Each cuts a call short once, in another way.
            error = draw.choice([RuntimeError(), KeyboardInterrupt(), DatabaseError("io"), DatabaseError("busy")])
            observed.fail_with(error, on=draw.choice(["BEGIN", "COMMIT", "INSERT INTO flows_journal_events"]), times=1)
        swallow(block if draw.random() < 0.2 else step)
        observed.mend()
    counted = plain(store)

    assert observed.collected.counts() == counted
    assert {name for name, _ in counted} == DESCRIPTIONS.keys()
    store.close()
