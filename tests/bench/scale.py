"""What an operation costs does not depend on how many runs there are, nor on how long other lineages are."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import tenure

SIZES = (100, 10_000, 1_000_000)
LINEAGE = 10
TIMES = 300
ME = tenure.OwnerId("host", 1, "nonce")

_FILL = """
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
    INSERT INTO flows_runs(run_id, status, created_at_ms, state_json, lineage_id, round_ordinal)
    SELECT 'other-' || i, 'pending', 0, '{}', 'lineage-' || (i / 1000), i % 1000 FROM n
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


def _micros(call: Callable[[int], object]) -> float:
    best = float("inf")
    for part in range(3):
        start = time.perf_counter()
        for number in range(part * TIMES, (part + 1) * TIMES):
            call(number)
        best = min(best, (time.perf_counter() - start) / TIMES * 1e6)
    return best


def python_memory(size: int) -> int:
    """Peak KiB of a process that opens a file of that many runs and works on one, beyond SQLite's page cache."""
    script = f"from tests.bench.scale import work_on_file; print(work_on_file({size}))"
    return int(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)


def work_on_file(size: int) -> int:
    """Fill a file in another process, work on one run of it here, and answer this process's peak memory in KiB."""
    with tempfile.TemporaryDirectory(prefix="tenure-bench-") as folder:
        path = Path(folder) / "runs.db"
        fill = f"from tests.bench.scale import fill_file; fill_file({str(path)!r}, {size})"
        subprocess.run([sys.executable, "-c", fill], check=True)
        with tenure.open(path, clock=lambda: 0) as store:
            store.runs.create("mine", "{}")
            store.runs.claim_and_own("mine", tenure.PENDING, ME, 0)
            for number in range(1_000):
                store.runs.heartbeat("mine", ME, number)
                store.runs.get("mine")
        # Not getrusage: its maximum survives exec, so a child would show its parent's.
        status = Path("/proc/self/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


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
    for size in (SIZES[0], SIZES[-1]):
        yield f"{'peak memory of a process':34} {python_memory(size) / 1024:.0f} MiB beside {size:,} runs"
