"""Tests of the predicates that the store decides by."""

import itertools

import pytest

import tenure
from tenure.predicates import is_stale, matches_evidence, same_owner
from tests.runs.support import A_AGAIN, A, B, C


@pytest.mark.parametrize(
    ("stamp", "now", "stale"),
    [
        (0, 30_000, False),
        (0, 30_001, True),
        (0, 29_999, False),
        (5, 30_005, False),
        (5, 30_006, True),
        (2**53 - 1, 0, False),
        (0, 2**53 - 1, True),
        (0, 0, False),
        (None, 2**53 - 1, False),
    ],
)
def test_stale(stamp: int | None, now: int, stale: bool) -> None:
    """Strictly older than thirty seconds; without a stamp never (RS-004)."""
    assert is_stale(stamp, now) is stale


def test_same_owner() -> None:
    """All three parts count (RS-004, RS-011)."""
    owners = [tenure.OwnerId(*parts) for parts in itertools.product(("h1", "h2"), (1, 2), ("a", "b"))]
    for left, right in itertools.product(owners, owners):
        assert same_owner(left, right) is (left is right)
    assert same_owner(A, tenure.OwnerId("h1", 1, "a"))


@pytest.mark.parametrize(
    ("observer", "kind", "matches"),
    [
        (B, "same-host-pid-dead", True),
        (A, "same-host-pid-dead", True),
        (C, "same-host-pid-dead", False),
        (B, "cross-host-unreachable-stale", False),
        (C, "cross-host-unreachable-stale", True),
        (B, "lease-expired", True),
        (C, "lease-expired", True),
    ],
)
@pytest.mark.parametrize("named", [A, A_AGAIN, B])
@pytest.mark.parametrize("checked_at_ms", [4, 5, 6])
def test_evidence(
    observer: tenure.OwnerId, kind: tenure.EvidenceKind, matches: bool, named: tenure.OwnerId, checked_at_ms: int
) -> None:
    """Evidence must name the target, be of this very instant, and fit the hosts (RS-207)."""
    evidence = tenure.LivenessEvidence(named, checked_at_ms, kind)

    assert matches_evidence(A, observer, 5, evidence) is (matches and named == A and checked_at_ms == 5)
