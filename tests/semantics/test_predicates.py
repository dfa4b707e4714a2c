"""The pure predicates at their boundaries."""

import attrs
import pytest

from tenure_model.admission.integers import admit_lease_reading
from tenure_model.admission.refusal import Refusal
from tenure_model.semantics import predicates
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.evidence import EvidenceKind
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import RunSnapshot
from tests.semantics.worlds import ALICE, ALICE_AT_T, BOB, CAROL, LATE, T, claimed, evidence, pending, running


@pytest.mark.parametrize(
    ("stamp_ms", "stale"),
    [(None, False), (T - 29_999, False), (T - 30_000, False), (T - 30_001, True), (T + 1, False), (0, True)],
)
def test_is_stale(stamp_ms: int | None, stale: bool) -> None:
    """Exactly 30,000 ms old is fresh, one more is stale, and no stamp is never stale (RS-004)."""
    assert predicates.is_stale(stamp_ms, T) is stale


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (OwnerId("h1", 1, "a"), True),
        (OwnerId("h2", 1, "a"), False),
        (OwnerId("h1", 2, "a"), False),
        (OwnerId("h1", 1, "b"), False),
        (None, False),
    ],
)
def test_same_owner(other: OwnerId | None, same: bool) -> None:
    """All three fields count (RS-011)."""
    assert predicates.same_owner(ALICE, other) is same


@pytest.mark.parametrize(("ahead_ms", "within"), [(-(10**9), True), (9_999, True), (10_000, True), (10_001, False)])
def test_within_skew_is_what_admission_asks(ahead_ms: int, within: bool) -> None:
    """Exactly 10,000 ms ahead is admitted, by the predicate and by admission alike (RS-309)."""
    now_ms = max(0, T + ahead_ms)

    assert predicates.within_skew(now_ms, T) is within
    assert isinstance(admit_lease_reading(now_ms, T, "r"), Refusal) is not within


@pytest.mark.parametrize(
    ("value_ms", "storable"), [(-1, False), (0, True), (MAX_SAFE_INTEGER, True), (MAX_SAFE_INTEGER + 1, False)]
)
def test_is_storable_time(value_ms: int, storable: bool) -> None:
    """Time columns take 0 to 2**53-1 (RS-015)."""
    assert predicates.is_storable_time(value_ms) is storable


@pytest.mark.parametrize(
    ("observer", "kind", "matches"),
    [
        (BOB, "same-host-pid-dead", True),
        (CAROL, "same-host-pid-dead", False),
        (BOB, "cross-host-unreachable-stale", False),
        (CAROL, "cross-host-unreachable-stale", True),
        (BOB, "lease-expired", True),
        (CAROL, "lease-expired", True),
    ],
)
def test_matches_evidence_by_kind(observer: OwnerId, kind: EvidenceKind, matches: bool) -> None:
    """Each kind speaks of its own pair of hosts (RS-207)."""
    assert predicates.matches_evidence(ALICE, observer, T, evidence(ALICE, T, kind)) is matches


@pytest.mark.parametrize(("about", "checked_at_ms"), [(BOB, T), (ALICE, T - 1), (ALICE, T + 1)])
def test_matches_evidence_refuses_another_owner_or_instant(about: OwnerId, checked_at_ms: int) -> None:
    """Evidence about somebody else, or taken at another instant, matches nothing (RS-207)."""
    assert not predicates.matches_evidence(ALICE, CAROL, T, evidence(about, checked_at_ms, "lease-expired"))


@pytest.mark.parametrize(
    ("snapshot", "matches"),
    [
        (ALICE_AT_T, True),
        (RunSnapshot("running", ALICE, T + 1), False),
        (RunSnapshot("running", BOB, T), False),
        (RunSnapshot("suspended", ALICE, T), False),
        (RunSnapshot("running", None, T), False),
        (RunSnapshot("running", ALICE, None), False),
    ],
)
def test_row_is(snapshot: RunSnapshot, matches: bool) -> None:
    """Status, owner and heartbeat all count (RS-004)."""
    assert predicates.row_is(running().runs["r"], snapshot) is matches


def test_claim_free() -> None:
    """A row is free until somebody claims it (RS-004)."""
    assert predicates.claim_free(pending().runs["r"])
    assert not predicates.claim_free(claimed().runs["r"])


@pytest.mark.parametrize(("who", "at_ms", "matches"), [(BOB, T, True), (BOB, T + 1, False), (ALICE, T, False)])
def test_claim_is(who: OwnerId, at_ms: int, matches: bool) -> None:
    """Claimant and token both count (RS-004)."""
    assert predicates.claim_is(claimed().runs["r"], who, at_ms) is matches


def test_claim_is_never_without_a_claim() -> None:
    """A free row matches no claim (RS-004)."""
    assert not predicates.claim_is(pending().runs["r"], BOB, T)


def test_owned() -> None:
    """A row is owned while it runs, by the owner it names (RS-004)."""
    run = running().runs["r"]

    assert predicates.owned(run, ALICE)
    assert not predicates.owned(run, BOB)
    assert not predicates.owned(attrs.evolve(run, status="suspended"), ALICE)


def test_late_is_the_first_stale_instant() -> None:
    """The worlds of these tests lie on the boundary."""
    assert predicates.is_stale(T, LATE)
    assert not predicates.is_stale(T, LATE - 1)
