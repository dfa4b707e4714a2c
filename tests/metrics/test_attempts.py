"""Tests of the spans of operations on attempts. None of them is counted."""

from collections.abc import Callable, Mapping

import pytest

import tenure
from tests.metrics.support import Observed, swallow
from tests.runs.support import NOW, A, B

ATTEMPT = tenure.Attempt("r", "step", 2, state="running", started_at_ms=NOW, meta=None)
KEY = {"runId": "r", "stepKeyDigest": "step", "attempt": 2}
OWNED = {**KEY, "ownerHostId": "h1"}


@pytest.mark.parametrize(
    ("call", "name", "attributes"),
    [
        (lambda attempts: attempts.put(ATTEMPT, A), "put", {**OWNED, "outcome": "existing_same"}),
        (lambda attempts: attempts.get(ATTEMPT), "get", {**KEY, "outcome": "success"}),
        (
            lambda attempts: attempts.get({"runId": "x", "stepKeyDigest": "s", "attempt": 0}),
            "get",
            {"runId": "x", "stepKeyDigest": "s", "attempt": 0, "outcome": "success"},
        ),
        (lambda attempts: attempts.heartbeat("r", "step", 2, A, NOW), "heartbeat", {**OWNED, "outcome": "updated"}),
        (lambda attempts: attempts.heartbeat("r", "step", 2, B, NOW), "heartbeat", {**OWNED, "outcome": "fence_lost"}),
        (
            lambda attempts: attempts.finish(tenure.FinishAttempt("r", "step", 2, "done", NOW), A),
            "finish",
            {**OWNED, "outcome": "finished"},
        ),
        (
            lambda attempts: attempts.patch(ATTEMPT, tenure.AttemptPatch(meta=1), A),
            "patch",
            {**OWNED, "outcome": "patched"},
        ),
        (lambda attempts: attempts.put(ATTEMPT, None), "put", {"outcome": "failure"}),
        (lambda attempts: attempts.get(None), "get", {"outcome": "failure"}),
        (lambda attempts: attempts.heartbeat("r", "step", -1, A, NOW), "heartbeat", {"outcome": "failure"}),
    ],
)
def test_an_operation_has_a_span_and_no_counter(
    observed: Observed, call: Callable[[tenure.AttemptStore], object], name: str, attributes: Mapping[str, object]
) -> None:
    """Its key, its owner's host and its outcome are attributes, once they are admitted (RS-961, RS-966)."""
    observed.world.owned()
    observed.store.attempts.put(ATTEMPT, A)
    with observed.rises() as risen:
        swallow(lambda: call(observed.store.attempts))
    spans = observed.collected.of_operations()

    assert risen == {}
    assert spans == [(f"AttemptStore.{name}", attributes, attributes["outcome"] == "failure")]


def test_an_interruption_is_the_outcome_of_a_span(observed: Observed) -> None:
    """Ctrl-C in a write (RS-966)."""
    observed.world.owned()
    observed.collected.spans()
    observed.interrupt()
    swallow(lambda: observed.store.attempts.put(ATTEMPT, A))
    observed.mend()

    assert observed.collected.of_operations() == [("AttemptStore.put", {**OWNED, "outcome": "interrupt"}, True)]
