"""The JSON walk written down naively, with recursion, as the rules say it (RS-320..RS-325)."""

import math
from typing import Final

from hypothesis import strategies as st

from tenure_model.admission.json_values import JsonLimits
from tenure_model.vocabulary.absent import ABSENT


class Complained(Exception):
    """The walk ends with a complaint."""


def complaint_about(value: object, limits: JsonLimits) -> str | None:
    """The complaint the rules give for ``value``, or ``None``."""
    try:
        _Walk(limits).visit(value, 0, ())
    except Complained as complained:
        return str(complained)
    return None


class _Walk:
    def __init__(self, limits: JsonLimits) -> None:
        self.limits = limits
        self.values = 0
        self.members = 0

    def visit(self, value: object, depth: int, ancestors: tuple[object, ...]) -> None:
        if depth > self.limits.depth:
            raise Complained(f"exceeds the maximum JSON depth of {self.limits.depth}")
        self.values += 1
        self.count(self.values)
        if any(value is ancestor for ancestor in ancestors):
            raise Complained("contains a cycle")
        if type(value) is list:
            self.members += len(value)
            self.total(self.members)
            for element in value:
                self.visit(element, depth + 1, (*ancestors, value))
        elif type(value) is dict:
            for size, key in enumerate(value, start=1):
                self.total(self.members + size)
                self.count(self.values + size)
                if type(key) is not str or not _well_formed(key):
                    raise Complained("contains an unbounded or ill-formed object key")
            self.members += len(value)
            for member in value.values():
                self.visit(member, depth + 1, (*ancestors, value))
        else:
            self.scalar(value)

    def count(self, values: int) -> None:
        if values > self.limits.values:
            raise Complained(f"contains more than {self.limits.values} JSON values")

    def total(self, members: int) -> None:
        if members > self.limits.members:
            raise Complained("exceeds the JSON members limit")

    def scalar(self, value: object) -> None:
        if value is None or type(value) is bool:
            return
        if type(value) is str:
            if not _well_formed(value):
                raise Complained("contains unbounded or ill-formed text")
        elif type(value) is int:
            if abs(value) >= 2**53:
                raise Complained("contains a non-finite number")
        elif type(value) is float:
            if math.isnan(value) or math.isinf(value):
                raise Complained("contains a non-finite number")
        elif value is ABSENT:
            raise Complained("contains a non-JSON undefined")
        else:
            raise Complained("contains a non-plain object")


def _well_formed(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


SMALL_LIMITS: Final = st.builds(JsonLimits, st.integers(0, 4), st.integers(1, 9), st.integers(0, 9))
"""Limits that small documents reach and break."""

_ANY_TEXT: Final = st.text(st.characters(), max_size=3) | st.sampled_from(["\ud800", "\0", "\U0001f600", '"', "a"])

GOOD_SCALARS: Final = (
    st.none()
    | st.booleans()
    | st.integers(1 - 2**53, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
)

ANY_SCALARS: Final = (
    GOOD_SCALARS
    | st.integers()
    | st.floats()
    | _ANY_TEXT
    | st.sampled_from([ABSENT, (), b"", {1}, 1j, 2**53, -(2**53), 1e300])
)

GOOD_VALUES: Final = st.recursive(
    GOOD_SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)

ANY_VALUES: Final = st.recursive(
    ANY_SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(_ANY_TEXT | st.integers(0, 2) | st.binary(max_size=1), inner, max_size=4)
    ),
    max_leaves=12,
)
