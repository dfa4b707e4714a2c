"""The three ways a proof is checked, as jobs that a worker process can run: solver, solver on pairs, enumeration."""

from itertools import combinations, islice
from typing import Final, Literal, TypeAlias

import attrs
from crosshair.core_and_libs import analyze_function, run_checkables
from crosshair.diff_behavior import diff_behavior
from crosshair.fnutil import FunctionInfo
from crosshair.options import DEFAULT_OPTIONS, AnalysisKind, AnalysisOptionSet
from crosshair.statespace import MessageType

from tests.proofs.catalogue import PROOFS

CONTRACT_SECONDS: Final = 20.0
"""How long the solver looks for a counterexample before it gives up. Contracts on numbers are confirmed within it,
those on texts are not."""

PAIR_SECONDS: Final = 5.0
"""How long the solver looks for a difference between two predicates, if it does not finish before."""

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


Standing: TypeAlias = Literal["confirmed", "searched", "compared", "enumerated"]
"""How much it says that a check found nothing: proved for all inputs; no counterexample until the time was over; no
difference between two until then; every combination of boundary values tried.
"""


@attrs.frozen
class Verdict:
    """What a check found: whether that is as it must be, and the finding in words.

    ``standing`` is that of a check that found no counterexample, ``None`` where it found one or could not be made.
    """

    job: Job
    good: bool
    finding: str
    standing: Standing | None = None


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
        finding, standing = _CHECKS[job.check](job)
    except Exception as error:  # noqa: BLE001  # the tools raise all kinds; each is a proof that was not given
        return Verdict(job, False, f"could not be checked: {error!r}")
    return Verdict(job, (standing is None) is job.refutes, finding, standing)


class _NotCheckedError(Exception):
    """The solver did not take up the question; that proves nothing, whatever was to be found."""


def _solve(job: Job) -> tuple[str, Standing | None]:
    options = AnalysisOptionSet(
        analysis_kind=[AnalysisKind.asserts], per_condition_timeout=CONTRACT_SECONDS, report_all=True
    )
    messages = run_checkables(analyze_function(PROOFS[job.proof].instance(job.subjects[0]), options))
    for message in messages:
        if message.state in _REFUTED:
            return f"refuted {message.message.strip()}", None
    states = {message.state for message in messages}
    if states == {MessageType.CONFIRMED}:
        return "confirmed for all inputs", "confirmed"
    if states == {MessageType.CANNOT_CONFIRM}:
        return f"no counterexample within {CONTRACT_SECONDS:.0f} s", "searched"
    # No message at all means that the contract was not recognised: that proves nothing.
    raise _NotCheckedError(sorted(state.name for state in states))


def _compare(job: Job) -> tuple[str, Standing | None]:
    proof = PROOFS[job.proof]
    one, other = (FunctionInfo.from_fn(proof.ask(proof.predicate(subject))) for subject in job.subjects)
    options = DEFAULT_OPTIONS.overlay(AnalysisOptionSet(per_condition_timeout=PAIR_SECONDS))
    differences = diff_behavior(one, other, options)
    if isinstance(differences, str):
        raise _NotCheckedError(differences)
    if differences:
        return f"differ for {differences[0].args}", None
    return "no difference found", "compared"


def _enumerate(job: Job) -> tuple[str, Standing | None]:
    proof = PROOFS[job.proof]
    for counterexample in islice(proof.counterexamples(job.subjects[0]), 1):
        return f"refuted by {counterexample}", None
    size = 1
    for values in proof.domain:
        size *= len(values)
    return f"holds for all {size} combinations", "enumerated"


_CHECKS: Final = {"contract": _solve, "diffbehavior": _compare, "enumeration": _enumerate}
