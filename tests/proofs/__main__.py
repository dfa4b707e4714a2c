"""`python -m tests.proofs`: check every proof, and that each can refute its wrong twins.

"Must hold" is met in four ways, which each line and the sum tell apart: confirmed for all inputs; no counterexample
found while the solver searched; no difference found; every combination of boundary values tried. Exit code 0 when every
check holds in one of them and every wrong twin is refuted, 1 otherwise.
"""

import multiprocessing
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed

from tests.proofs.checks import CONTRACT_SECONDS, Verdict, all_jobs, run

WORKERS = 2


def main() -> int:
    """Run all jobs in worker processes, one line each as it ends, and sum up."""
    started = time.monotonic()
    jobs = all_jobs()
    verdicts: list[Verdict] = []
    # Fresh processes: the solver patches the interpreter it runs in.
    with ProcessPoolExecutor(WORKERS, mp_context=multiprocessing.get_context("spawn")) as workers:
        for future in as_completed([workers.submit(run, job) for job in jobs]):
            verdict = future.result()
            verdicts.append(verdict)
            job = verdict.job
            expectation = "must refute" if job.refutes else "must hold"
            _write(
                f"{'ok  ' if verdict.good else 'FAIL'} [{len(verdicts):2}/{len(jobs)}] {job.proof}, {job.check} of "
                f"{' and '.join(job.subjects)} ({expectation}): {verdict.finding}"
            )
    failures = [verdict for verdict in verdicts if not verdict.good]
    held = Counter(verdict.standing for verdict in verdicts if verdict.good and not verdict.job.refutes)
    refuted = sum(verdict.job.refutes for verdict in verdicts if verdict.good)
    _write(
        f"{held.total()} checks hold: {held['confirmed']} confirmed for all inputs, {held['searched']} without a "
        f"counterexample within {CONTRACT_SECONDS:.0f} s, {held['compared']} without a difference found, "
        f"{held['enumerated']} enumerated; {refuted} refute their wrong twin, {len(failures)} failed, "
        f"{time.monotonic() - started:.0f} s"
    )
    return 1 if failures else 0


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
