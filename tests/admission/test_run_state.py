"""Run state: `tenure_model.admission.run_state`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure_model.admission.refusal import Refusal
from tenure_model.admission.run_state import admit_run_state, is_run_state


def test_the_text_is_kept_as_it_was_written() -> None:
    """White space, key order and repeated keys are the caller's own (RS-314)."""
    text = ' {"b" : 1, "a":[ ],"b":\t2}\n'

    assert admit_run_state(text, {"runId": "run-1"}) == text


def test_the_cause_is_the_operations_own_shape_and_two_facts() -> None:
    """Order as in the rule; the JSON complaint itself is dropped (RS-315)."""
    shape = {"runId": "run-1", "parentRunId": None, "lineageId": None, "roundOrdinal": None}

    refusal = admit_run_state("[1e400]", shape)

    assert refusal == Refusal({**shape, "stateJsonLength": 7, "stateJsonValid": True})
    assert isinstance(refusal, Refusal)
    assert list(refusal.cause) == [*shape, "stateJsonLength", "stateJsonValid"]


def test_the_shape_is_copied() -> None:
    """A shape that changes later does not change the refusal (RS-300)."""
    shape: dict[str, object] = {"runId": "run-1"}
    refusal = admit_run_state(None, shape)

    shape["runId"] = "run-2"

    assert refusal == Refusal({"runId": "run-1", "stateJsonLength": None, "stateJsonValid": False})


@pytest.mark.parametrize("text", ["secret", '"secret', '{"secret":1e400}', '"secret\ud800"'])
def test_a_refusal_never_holds_the_text(text: str) -> None:
    """Neither the text nor a part of it is in the cause (RS-361, RS-362)."""
    assert "secret" not in repr(admit_run_state(text, {"runId": "run-1"}))


@given(st.text(max_size=20) | st.text('[]{},:"\\u d8019eE.-+truefalsn\n', max_size=20) | st.none() | st.integers())
def test_any_value_is_admitted_or_refused_and_raises_nothing(value: object) -> None:
    """Both functions are total and agree (RS-314)."""
    outcome = admit_run_state(value, {})

    assert is_run_state(value) == (outcome is value)
    assert outcome is value or type(outcome) is Refusal
