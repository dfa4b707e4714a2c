"""The three ways a proof is checked, as jobs that a worker process can run: solver, solver on pairs, enumeration."""

from itertools import combinations, islice
from typing import Final

import attrs
from crosshair.core_and_libs import analyze_function, run_checkables
from crosshair.diff_behavior import diff_behavior
from crosshair.fnutil import FunctionInfo
from crosshair.options import DEFAULT_OPTIONS, AnalysisKind, AnalysisOptionSet
from crosshair.statespace import MessageType

from tests.proofs.catalogue import PROOFS

CONDITION_SECONDS: Final = 5.0
"""How long the solver looks for a counterexample before it gives up; a simple contract is confirmed at once."""

_REFUTED: Final = (MessageType.POST_FAIL, MessageType.POST_ERR, MessageType.EXEC_ERR)


@attrs.frozen
class Job:
    """One check of one proof. ``subjects`` are two where predicates are compared with each other."""

    check: str
    proof: str
    subjects: tuple[str, ...]

    @property
    def refutes(self) -> bool:
        """Whether the check must find a counterexample, since a wrong twin takes part."""
        return any(subject in PROOFS[self.proof].wrong for subject in self.subjects)


@attrs.frozen
class Verdict:
    """What a check found: whether that is as it must be, and the finding in words."""

    job: Job
    good: bool
    finding: str


def all_jobs() -> list[Job]:
    """Every check of every proof, right and wrong predicates alike."""
    jobs: list[Job] = []
    for name, proof in PROOFS.items():
        names = (*proof.subjects, *proof.wrong)
        pairs = [*combinations(proof.subjects, 2), *((next(iter(proof.subjects)), twin) for twin in proof.wrong)]
        jobs.extend(Job("contract", name, (subject,)) for subject in names)
        jobs.extend(Job("diffbehavior", name, pair) for pair in pairs)
        jobs.extend(Job("enumeration", name, (subject,)) for subject in names)
    return jobs


def run(job: Job) -> Verdict:
    """The verdict on one job; a check that could not run at all is bad, whatever it was to find."""
    try:
        counterexample, finding = {"contract": _solve, "diffbehavior": _compare, "enumeration": _enumerate}[job.check](
            job
        )
    except Exception as error:  # noqa: BLE001  the tools raise all kinds; each is a proof that was not given
        return Verdict(job, False, f"could not be checked: {error!r}")
    return Verdict(job, counterexample is job.refutes, finding)


def _solve(job: Job) -> tuple[bool | None, str]:
    options = AnalysisOptionSet(
        analysis_kind=[AnalysisKind.asserts], per_condition_timeout=CONDITION_SECONDS, report_all=True
    )
    messages = run_checkables(analyze_function(PROOFS[job.proof].instance(job.subjects[0]), options))
    for message in messages:
        if message.state in _REFUTED:
            return True, f"refuted {message.message.strip()}"
    states = {message.state for message in messages}
    if states == {MessageType.CONFIRMED}:
        return False, "confirmed for all inputs"
    if states == {MessageType.CANNOT_CONFIRM}:
        return False, "no counterexample within the time"
    # No message at all means that the contract was not recognised: that proves nothing.
    return None, f"not checked: {sorted(state.name for state in states)}"


def _compare(job: Job) -> tuple[bool | None, str]:
    proof = PROOFS[job.proof]
    one, other = (FunctionInfo.from_fn(proof.ask(proof.predicate(subject))) for subject in job.subjects)
    options = DEFAULT_OPTIONS.overlay(AnalysisOptionSet(per_condition_timeout=CONDITION_SECONDS))
    differences = diff_behavior(one, other, options)
    if isinstance(differences, str):
        return None, differences
    if differences:
        return True, f"differ for {differences[0].args}"
    return False, "no difference found"


def _enumerate(job: Job) -> tuple[bool | None, str]:
    proof = PROOFS[job.proof]
    found = list(islice(proof.counterexamples(job.subjects[0]), 1))
    size = 1
    for values in proof.domain:
        size *= len(values)
    return bool(found), f"refuted by {found[0]}" if found else f"holds for all {size} combinations"


_CHECKS: Final = {"contract": _solve, "diffbehavior": _compare, "enumeration": _enumerate}
