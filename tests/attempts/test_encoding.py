"""Tests of the text that is stored of a JSON value."""

import inspect
import json
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tenure
from tenure.attempts.encoding import stored_text
from tenure_model.admission.json_encoding import encode_json
from tenure_model.admission.json_equality import json_equal
from tenure_model.admission.json_text import read_json_text

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.sampled_from(["1.5", "e+", "e-", "1e-7", "", "\0\x1f\x7f\u2028", '"\\/'])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_spelling(value: object) -> None:
    """The fast way spells every value as ``encode_json`` does, and it decodes to an equal one (RS-814, RS-328)."""
    text = stored_text(value)

    assert text == encode_json(value)  # type: ignore[arg-type]  # JSON by construction
    assert json_equal(read_json_text(text), value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (tenure.ABSENT, None),
        (None, "null"),
        (-0.0, "0"),
        (1.0, "1"),
        (1e16, "10000000000000000"),
        (1e21, "1e+21"),
        (1e-7, "1e-7"),
        (["e+", "e-", "."], '["e+","e-","."]'),
        ({"z": [True, False], "a": "é\u2028\x7f"}, '{"z":[true,false],"a":"é\u2028\x7f"}'),
    ],
)
def test_text(value: object, text: str | None) -> None:
    """Compact, members in their order, numbers in their shortest form; nothing for what is absent (RS-813, RS-814)."""
    assert stored_text(value) == text


def at_depth(frames: int, call: Callable[[], object]) -> object:
    """What ``call`` answers with so many more frames on the stack."""
    return call() if frames == 0 else at_depth(frames - 1, call)


def test_close_to_the_end_of_the_stack() -> None:
    """A deep value is stored wherever the caller stands."""
    value: object = 1
    for _ in range(128):
        value = [value]
    limit = sys.getrecursionlimit()
    used = len(inspect.stack(0))

    text = at_depth(limit - used - 40, lambda: stored_text(value))

    assert text == json.dumps(value, separators=(",", ":"))
