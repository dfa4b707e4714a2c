"""Tests of the strategy whose decisions are spans."""

import inspect
from collections.abc import Callable

import pytest

import tenure
from tenure.consensus.strategy import ConsensusError, ConsensusStrategy
from tenure.metrics.consensus import TracedConsensus
from tenure.metrics.observer import TracingObserver
from tests.metrics.support import Collected, collected
from tests.runs.support import NOW, STALE, A, B, evidence

LATER = NOW + STALE + 1
PROOF = evidence(A, LATER)


def traced() -> tuple[TracedConsensus, tenure.LocalConsensus, Collected]:
    """A strategy in memory, itself, and what is collected."""
    found, inner = collected(), tenure.LocalConsensus()
    return TracedConsensus(inner, TracingObserver(found.telemetry)), inner, found


def test_every_method_is_passed_on() -> None:
    """Nothing of the strategy's own is left to the base class."""
    public = {name for name, _ in inspect.getmembers(ConsensusStrategy, inspect.isfunction) if name[0] != "_"}

    assert public <= vars(TracedConsensus).keys()


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("claim", lambda strategy: strategy.claim("r", A, NOW)),
        ("activate", lambda strategy: strategy.activate("r", A, NOW, NOW)),
        ("heartbeat", lambda strategy: strategy.heartbeat("o", A, NOW)),
        ("reconfirm", lambda strategy: strategy.reconfirm("o", A, NOW)),
        ("release", lambda strategy: strategy.release("o", A)),
        ("releaseClaim", lambda strategy: strategy.release_claim("o", A)),
        ("surrender", lambda strategy: strategy.surrender("o", A)),
        ("steal", lambda strategy: strategy.steal("o", B, LATER, PROOF)),
        ("recover", lambda strategy: strategy.recover("o", A, NOW, B, LATER, PROOF)),
        ("holds", lambda strategy: strategy.holds("o", A)),
        ("guard", lambda strategy: strategy.guard("o", A)),
        ("take", lambda strategy: strategy.take("r", A, NOW)),
        ("retake", lambda strategy: strategy.retake("o", A, NOW)),
        ("seize", lambda strategy: strategy.seize("o", B, LATER, PROOF)),
    ],
)
def test_a_call_is_one_span_and_the_same_answer(name: str, call: Callable[[ConsensusStrategy], object]) -> None:
    """As the strategy answers it without a span (JN-413)."""
    strategy, inner, found = traced()
    bare = tenure.LocalConsensus()
    for one in (inner, bare):
        one.take("o", A, NOW)
    expected = call(bare)
    answer = call(strategy)
    spans = [(span.name, span.status.is_ok) for span in found.spans()]

    assert answer == expected
    assert spans == [(f"Consensus.{name}", True)]


def test_a_lost_fence_is_a_failed_span() -> None:
    """And raised as it is."""
    strategy, _, found = traced()
    with pytest.raises(ConsensusError):
        strategy.guard("r", A)
    (span,) = found.spans()

    assert (span.name, dict(span.attributes or {}), span.status.is_ok) == ("Consensus.guard", {"runId": "r"}, False)
