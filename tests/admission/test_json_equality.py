"""JSON equality: `tenure_model.admission.json_equality`."""

import copy
from typing import Final

import pytest
from hypothesis import given

from tenure_model.admission.json_equality import json_equal
from tenure_model.admission.json_values import JsonValue
from tenure_model.vocabulary.absent import ABSENT
from tests.admission.oracle import GOOD_VALUES
from tests.admission.values import nested

# Values of different classes are different, values within a class are equal.
_CLASSES: Final[tuple[tuple[object, ...], ...]] = (
    (ABSENT,),
    (None,),
    (True,),
    (False,),
    (0, 0.0, -0.0),
    (1, 1.0),
    (2,),
    ("",),
    ("1",),
    ("\u00e9",),
    ("e\u0301",),
    ([],),
    ([0], [-0.0]),
    ([False],),
    ([None],),
    ([1, 2], [1.0, 2]),
    ([2, 1],),
    ([[1], 2],),
    ({},),
    ({"a": 1, "b": [True]}, {"b": [True], "a": 1.0}),
    ({"a": True, "b": [True]},),
    ({"a": 1},),
    ({"b": 1},),
    ({"a": None},),
    ({"a": {"a": None}},),
)


@pytest.mark.parametrize("left", range(len(_CLASSES)))
def test_equality_is_that_of_the_classes(left: int) -> None:
    """One equals 1.0 and never true, zero has no sign, key order is ignored, absent is only itself (RS-328)."""
    for right, others in enumerate(_CLASSES):
        for one in _CLASSES[left]:
            for other in others:
                assert json_equal(one, other) == (left == right), (one, other)


@given(GOOD_VALUES, GOOD_VALUES)
def test_equality_is_reflexive_and_symmetric(left: JsonValue, right: JsonValue) -> None:
    """A value equals its deep copy, and the order of the two sides does not matter (RS-328)."""
    assert json_equal(left, copy.deepcopy(left))
    assert json_equal(left, right) == json_equal(right, left)


def test_deep_values_are_compared_without_recursion() -> None:
    """Values deeper than the interpreter's stack are compared to the very bottom."""
    assert json_equal(nested(100_000), nested(100_000))
    assert not json_equal(nested(100_000), nested(100_000, 1, empty=False))
