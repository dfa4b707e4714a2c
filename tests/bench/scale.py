"""What an operation costs does not depend on how many runs there are, nor on how long other lineages are."""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import tenure
from tests.bench.memory import peak_memory_mib

SIZES = (100, 10_000, 1_000_000)
LINEAGE = 10
TIMES = 300
ME = tenure.OwnerId("host", 1, "nonce")

_FILL = """
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
    INSERT INTO flows_runs(run_id, status, created_at_ms, state_json, lineage_id, round_ordinal)
    SELECT 'other-' || i, 'pending', 0, '{}', 'lineage-' || (i / 1000), i % 1000 FROM n
"""


_FILL_LINEAGE = """
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
    INSERT INTO flows_runs(run_id, status, created_at_ms, state_json, lineage_id, round_ordinal)
    SELECT 'round-' || i, 'pending', 0, '{}', 'round-0', i FROM n
"""


def measure(size: int) -> dict[str, float]:
    """Microseconds an operation takes beside ``size`` other runs, and the memory it cost Python, in KiB."""
    with tenure.open(":memory:", clock=lambda: 0) as store:
        store.database.write(store.database.rows, _FILL, (size,))
        store.runs.create("mine", "{}")
        for ordinal in range(1, LINEAGE):
            store.runs.create(f"mine-{ordinal}", "{}", tenure.CreateOptions(None, "mine", ordinal))
        store.runs.claim_and_own("mine", tenure.PENDING, ME, 0)
        return {
            "heartbeat": _micros(lambda n: store.runs.heartbeat("mine", ME, n)),
            "get": _micros(lambda n: store.runs.get("mine")),
            "create": _micros(lambda n: store.runs.create(f"new-{n}", "{}")),
            "claim": _micros(lambda n: store.runs.claim(f"new-{n}", tenure.PENDING, ME, 0)),
            "lineage": _micros(lambda n: store.runs.lineage("mine")),
            "latestRound": _micros(lambda n: store.runs.latest_round("mine")),
            "requestCancelLineage": _micros(lambda n: store.runs.request_cancel_lineage("mine", n)),
        }


def measure_lineage(rounds: int) -> dict[str, float]:
    """Microseconds an operation on one round takes in a lineage of so many."""
    with tenure.open(":memory:", clock=lambda: 0) as store:
        store.database.write(store.database.rows, _FILL_LINEAGE, (rounds,))
        store.runs.claim_and_own("round-1", tenure.PENDING, ME, 0)
        return {
            "heartbeat of a round": _micros(lambda n: store.runs.heartbeat("round-1", ME, n)),
            "get of a round": _micros(lambda n: store.runs.get("round-1")),
            "latestRound": _micros(lambda n: store.runs.latest_round("round-1")),
        }


def _micros(call: Callable[[int], object]) -> float:
    best = float("inf")
    for part in range(3):
        start = time.perf_counter()
        for number in range(part * TIMES, (part + 1) * TIMES):
            call(number)
        best = min(best, (time.perf_counter() - start) / TIMES * 1e6)
    return best


def work_beside(path: str) -> None:
    """Work on one run of a file that holds many others."""
    with tenure.open(path, clock=lambda: 0) as store:
        store.runs.create("mine", "{}")
        store.runs.claim_and_own("mine", tenure.PENDING, ME, 0)
        for number in range(1_000):
            store.runs.heartbeat("mine", ME, number)
            store.runs.get("mine")


def fill_file(path: str, size: int) -> None:
    """Write ``size`` pending runs."""
    with tenure.open(path, clock=lambda: 0) as store:
        store.database.write(store.database.rows, _FILL, (size,))


def rows() -> Iterator[str]:
    """One row an operation: its cost at every size, and the growth from the smallest to the largest."""
    measured = {}
    for size in SIZES:
        measured[size] = measure(size)
    for name in measured[SIZES[0]]:
        costs = [measured[size][name] for size in SIZES]
        told = "  ".join(f"{cost:7.1f}" for cost in costs)
        sizes = " / ".join(f"{size:,}" for size in SIZES)
        yield f"{name:34} {told}  µs beside {sizes} runs: {costs[-1] / costs[0]:.2f}x"
    short, long = measure_lineage(LINEAGE), measure_lineage(SIZES[1])
    for name, cost in short.items():
        told = f"{cost:7.1f}  {long[name]:7.1f}"
        yield f"{name:34} {told}  µs in a lineage of {LINEAGE} / {SIZES[1]:,} rounds: {long[name] / cost:.2f}x"
    for size in (SIZES[0], SIZES[-1]):
        with tempfile.TemporaryDirectory(prefix="tenure-bench-") as folder:
            path = str(Path(folder) / "runs.db")
            fill_file(path, size)
            peak = peak_memory_mib("tests.bench.scale", "work_beside", path)
        yield f"{'peak memory of a process':34} {peak:.0f} MiB beside {size:,} runs"
