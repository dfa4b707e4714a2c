"""The memory a piece of work needs, in a process of its own."""

import subprocess
import sys
from pathlib import Path


def peak_memory_mib(module: str, function: str, *arguments: object) -> float:
    """Peak memory of a fresh process that calls ``function`` of ``module``, in MiB."""
    call = f"{function}({', '.join(map(repr, arguments))})"
    script = f"from {module} import {function}; from tests.bench.memory import print_peak; {call}; print_peak()"
    return int(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout) / 1024


def print_peak() -> None:
    """Print this process's peak memory in KiB."""
    # Not getrusage: its maximum survives exec, so a child would show its parent's.
    status = Path("/proc/self/status").read_text()
    sys.stdout.write(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
