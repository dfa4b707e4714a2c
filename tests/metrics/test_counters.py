"""Tests of the plain counters."""

import threading
from collections.abc import Mapping

import pytest

import tenure
from tenure.metrics import views
from tenure.metrics.counters import Count, Counters
from tests.runs.support import A


def test_a_fresh_store_has_counted_nothing() -> None:
    """What has not happened has no count."""
    store = tenure.open(":memory:")

    assert (store.counters.snapshot(), store.counters.total("flows_run_claims")) == ((), 0)
    store.close()


def test_counts_are_read_by_name_and_attributes() -> None:
    """A total adds up everything that has at least the attributes asked for."""
    store = tenure.open(":memory:")
    for run_id in ("a", "b"):
        store.runs.create(run_id, "{}")
        store.runs.claim_and_own(run_id, tenure.PENDING, A, store.now())
        store.runs.transition_owned(run_id, A, "completed" if run_id == "a" else "suspended")
    store.runs.claim("none", tenure.PENDING, A, store.now())
    counters = store.counters
    view = views.transition["Transitioned"]

    assert counters.snapshot() == (
        Count("flows/run/throughput", {}, 1),
        Count("flows_run_claims", {"op": "claim", "outcome": "not_found"}, 1),
        Count("flows_run_claims", {"op": "claim_and_own", "outcome": "activated"}, 2),
        Count("flows_run_transitions", {"outcome": "transitioned", "to": "completed"}, 1),
        Count("flows_run_transitions", {"outcome": "transitioned", "to": "suspended"}, 1),
    )
    assert counters.total("flows_run_claims") == 3
    assert counters.total("flows_run_claims", op="claim") == 1
    assert counters.total("flows_run_claims", op="claim", outcome="activated") == 0
    assert counters.total(view.counter, **dict(view.attributes)) == 2
    store.close()


def test_reading_changes_nothing() -> None:
    """However often a counter is read, and between rises, it says how often it rose."""
    counters = Counters()
    tick = counters.ticker(views.throughput)
    read = []
    for _ in range(3):
        tick()
        counters.add(views.throughput, 4)
        read += [counters.total("flows/run/throughput"), counters.total("flows/run/throughput")]

    assert read == [5, 5, 10, 10, 15, 15]


def test_a_snapshot_cannot_be_changed() -> None:
    """It is what was, not a handle on what is."""
    counters = Counters()
    counters.add(views.claim["Claimed"], 1)
    attributes: Mapping[str, str] = counters.snapshot()[0].attributes

    with pytest.raises(TypeError):
        attributes["op"] = "steal"  # type: ignore[index]  # what must not work


def test_no_rise_is_lost_between_threads() -> None:
    """Threads that count at once, while another reads, come to their sum."""
    counters = Counters()
    tick = counters.ticker(views.heartbeat["Updated"])
    start = threading.Barrier(5)

    def work() -> None:
        start.wait()
        for _ in range(20_000):
            tick()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    start.wait()
    seen = [counters.total("flows_run_heartbeats") for _ in range(200)]
    for thread in threads:
        thread.join()

    assert seen == sorted(seen)
    assert counters.total("flows_run_heartbeats") == 80_000


def test_each_store_counts_by_itself() -> None:
    """Two stores share no counter (no state is global)."""
    one, other = tenure.open(":memory:"), tenure.open(":memory:")
    one.runs.heartbeat("none", A, one.now())

    assert one.counters.total("flows_run_heartbeats", outcome="not_found") == 1
    assert other.counters.snapshot() == ()
    one.close()
    other.close()
