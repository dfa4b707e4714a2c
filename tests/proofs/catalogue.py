"""Every proof: whose answers it is about, what it must refute, and the boundary values it tries without exception."""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Final

import attrs

from tenure import predicates as store
from tenure.runs.losses import loss_of
from tenure_model.admission.integers import admit_lease_reading, is_safe_integer
from tenure_model.semantics import predicates as model
from tenure_model.semantics.runs.losses import classify_loss
from tenure_model.semantics.supervision.state import is_overdue
from tenure_model.semantics.world import Run
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tests.proofs import contracts, timed, wrong
from tests.proofs.contracts import Contract, Predicate, Question


@attrs.frozen
class Proof:
    """One contract, the predicates that keep it, and those that seem to.

    ``subjects`` are compared with each other besides; ``wrong`` must break the contract, whichever way it is checked;
    ``domain`` holds the boundary values of each argument, all combinations of which are tried.
    """

    name: str
    ask: Callable[[Predicate], Question]
    contract: Callable[[Question], Contract]
    subjects: Mapping[str, Predicate]
    wrong: Mapping[str, Predicate]
    domain: tuple[tuple[object, ...], ...]

    def predicate(self, subject: str) -> Predicate:
        """The predicate of this name, right or wrong."""
        return self.subjects[subject] if subject in self.subjects else self.wrong[subject]

    def instance(self, subject: str) -> Contract:
        """The contract about one predicate's answers."""
        return self.contract(self.ask(self.predicate(subject)))

    def counterexamples(self, subject: str) -> Iterator[tuple[object, ...]]:
        """The combinations of boundary values for which the contract fails."""
        holds = self.instance(subject)
        for arguments in product(*self.domain):
            try:
                holds(*arguments)
            except AssertionError:
                yield arguments

    def differences(self, one: str, other: str) -> Iterator[tuple[object, ...]]:
        """The combinations of boundary values that two predicates answer differently."""
        first, second = self.ask(self.predicate(one)), self.ask(self.predicate(other))
        for arguments in product(*self.domain):
            if first(*arguments) != second(*arguments):
                yield arguments


def _admits_reading(now_ms: int, clock_ms: int) -> bool:
    """The skew bound as admission applies it, which the store goes by."""
    return admit_lease_reading(now_ms, clock_ms, "run-1") == now_ms


def _store_loss(run: Run | None, now_ms: int) -> object:
    """The store's classification, given the two flags that its statement selects."""
    if run is None:
        return loss_of([])
    fresh = run.status == "running" and not store.is_stale(run.heartbeat_at_ms, now_ms)
    return loss_of([(int(run.claim is not None), int(fresh))])


_TIMES: Final = (
    *(0, 1, 9_999, 10_000, 10_001, 29_999, 30_000, 30_001, 59_999, 60_000, 60_001),
    *(MAX_SAFE_INTEGER - 30_001, MAX_SAFE_INTEGER - 30_000, MAX_SAFE_INTEGER),
)
_TEXTS: Final = ("a", "b", "\U0001f600")
_PIDS: Final = (0, 1, MAX_SAFE_INTEGER)
_NOW: Final = (30_000, 30_001, 60_000)
_INDEXES: Final = tuple(range(6))
_SKEWS: Final = (-10_000, 0, 1, 9_999, 10_000, 10_001, 20_000, 30_000, 30_001, 40_000)
_ALLOWED: Final = (0, 1, 9_999, 10_000)

PROOFS: Final[Mapping[str, Proof]] = {
    proof.name: proof
    for proof in (
        Proof(
            "staleness",
            contracts.ask_staleness,
            contracts.staleness_contract,
            {"model": model.is_stale, "store": store.is_stale},
            {"wrong at the boundary": wrong.is_stale, "wrong on absence": wrong.is_stale_if_absent},
            ((None, *_TIMES), _TIMES),
        ),
        Proof(
            "owner equality",
            contracts.ask_owner_equality,
            contracts.owner_equality_contract,
            {"model": model.same_owner, "store": store.same_owner},
            {"wrong on the nonce": wrong.same_owner},
            (_TEXTS, _PIDS, _TEXTS) * 2,
        ),
        Proof(
            "evidence",
            contracts.ask_evidence,
            contracts.evidence_contract,
            {"model": model.matches_evidence, "store": store.matches_evidence},
            {"wrong on replay": wrong.matches_evidence, "wrong on hosts": wrong.matches_evidence_of_any_kind},
            (_TEXTS[:2], (0, 1), _TEXTS[:2], (0, 1), _TEXTS[:2], _NOW, _NOW, (0, 1, 2)),
        ),
        Proof(
            "skew bound",
            contracts.ask_skew,
            contracts.skew_contract,
            {"model": model.within_skew, "admission": _admits_reading},
            {"wrong on lag": wrong.within_skew},
            (_TIMES, _TIMES),
        ),
        Proof(
            "loss classification",
            contracts.ask_loss,
            contracts.loss_contract,
            {"model": classify_loss, "store": _store_loss},
            {"wrong in the order": wrong.classify_loss},
            ((False, True), (False, True), _INDEXES, (None, *_TIMES), _TIMES),
        ),
        Proof(
            "snapshot match",
            contracts.ask_snapshot,
            contracts.snapshot_contract,
            {"model": model.row_is},
            {"wrong on absence": wrong.row_is},
            (_INDEXES, (None, 0, 1), (None, 0, 1), _INDEXES, (None, 0, 1), (None, 0, 1)),
        ),
        Proof(
            "integers",
            contracts.ask_integer,
            contracts.integer_contract,
            {"admission": is_safe_integer},
            {"wrong on booleans": wrong.is_safe_integer},
            ((None, False, True, "", "1", -0.0, 0.0, 1.0, 1.5, -1, 0, 1, 2**53 - 1, 2**53, 2**63, 1e400, -(2**53)),),
        ),
        Proof(
            "stored times",
            contracts.ask_stored_time,
            contracts.stored_time_contract,
            {"model": model.is_storable_time, "admission": is_safe_integer},
            {"wrong at the end": wrong.is_storable_time},
            ((-(2**63), -1, 0, 1, 2**53 - 1, 2**53, 2**63),),
        ),
        Proof(
            "write tolerance",
            timed.ask_overdue,
            timed.tolerance_contract,
            {"pulse": is_overdue, "deadline": timed.spent},
            {"wrong at the boundary": timed.overdue_past_the_budget, "wrong on the clock": timed.overdue_when_stale},
            ((0, 1, 30_000), (*range(18_990, 19_010), *_TIMES), (*_ALLOWED, -10_000)),
        ),
        Proof(
            "margin",
            timed.ask_margin,
            timed.margin_contract,
            {"figures": timed.margin_by_figures, "semantics": timed.margin_by_semantics},
            {"wrong on the end": timed.margin_without_reconfirm, "wrong way": timed.margin_of_a_clock_gone_forward},
            (_SKEWS[:-3], _ALLOWED, (0, 1, 23_000), (0, 1, 999, 1_000), (0, 1, 10_000), (0, 1, 10_000)),
        ),
        Proof(
            "overlap",
            timed.ask_overlap,
            timed.overlap_contract,
            {"figures": timed.overlap_by_figures},
            {"wrong without an end": timed.overlap_without_end},
            (_SKEWS, (0, 1, 10_000, 23_000)),
        ),
        Proof(
            "robbery",
            timed.ask_robbery,
            timed.robbery_contract,
            {"figures": timed.robbery_by_figures},
            {"wrong on the period": timed.robbery_of_writes_that_answer_at_once},
            ((*_SKEWS, 28_999, 29_000, 29_001), (0, 1, 500, 1_000), _ALLOWED),
        ),
    )
}
