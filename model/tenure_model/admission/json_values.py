"""The walk that admits a JSON value: depth, counts, numbers, text, and nothing that could run code (RS-320..RS-325)."""

from collections.abc import Iterator
from itertools import islice
from math import isfinite
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Final, TypeAlias, cast, final

import attrs

from tenure_model.admission.text import has_surrogate
from tenure_model.vocabulary.absent import Absent
from tenure_model.vocabulary.constants import MAX_JSON_DEPTH, MAX_JSON_MEMBERS, MAX_JSON_VALUES, MAX_SAFE_INTEGER

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"


@attrs.frozen
class JsonLimits:
    """How large a JSON value may be (RS-014).

    ``depth`` is the greatest depth of any value, the root's being 0 (RS-321); ``values`` counts every value, the root
    included (RS-322); ``members`` counts array elements and object members over all containers (RS-323).
    """

    depth: int = MAX_JSON_DEPTH
    values: int = MAX_JSON_VALUES
    members: int = MAX_JSON_MEMBERS


@final
@attrs.frozen
class JsonComplaint:
    """Why a value or a text is refused as JSON; the text never quotes the input."""

    text: str


JSON_LIMITS: Final = JsonLimits()
"""The limits of run state and of attempt values (RS-014)."""

MEMBERS_COMPLAINT: Final = JsonComplaint("exceeds the JSON members limit")
NUMBER_COMPLAINT: Final = JsonComplaint("contains a non-finite number")
TEXT_COMPLAINT: Final = JsonComplaint("contains unbounded or ill-formed text")
KEY_COMPLAINT: Final = JsonComplaint("contains an unbounded or ill-formed object key")
CYCLE_COMPLAINT: Final = JsonComplaint("contains a cycle")
OBJECT_COMPLAINT: Final = JsonComplaint("contains a non-plain object")
FUNCTION_COMPLAINT: Final = JsonComplaint("contains a non-JSON function")
UNDEFINED_COMPLAINT: Final = JsonComplaint("contains a non-JSON undefined")
INSPECTION_COMPLAINT: Final = JsonComplaint("cannot be inspected without executing object code")

_FUNCTION_TYPES: Final = (FunctionType, BuiltinFunctionType, MethodType, type)
"""What JavaScript calls a function: classes too, instances that can be called not."""


@attrs.define
class _Frame:
    """A container being visited: its children still to come, the copies made so far, and an object's keys."""

    identity: int
    size: int
    children: Iterator[object]
    keys: list[str] | None
    copies: list[JsonValue]

    def copy(self) -> "JsonValue":
        return self.copies if self.keys is None else dict(zip(self.keys, self.copies, strict=True))


def admit_json_value(value: object, limits: JsonLimits = JSON_LIMITS) -> "JsonValue | JsonComplaint":
    """An inert copy of ``value``, or the first complaint in the walk's order (RS-320..RS-325).

    Exact ``dict`` with exact ``str`` keys, ``list``, ``str``, ``int``, ``float``, ``bool`` and ``None`` are JSON;
    ``ABSENT`` and functions are named as what they are, everything else is no plain object. Integers beyond
    2**53-1 either way are refused like non-finite numbers. A container met twice is copied and counted twice.
    """
    values = 0
    members = 0
    ancestors: set[int] = set()
    frames = [_Frame(0, 1, iter((value,)), None, [])]
    while True:
        frame = frames[-1]
        for child in frame.children:
            if len(frames) - 1 > limits.depth:
                return JsonComplaint(f"exceeds the maximum JSON depth of {limits.depth}")
            values += 1
            if values > limits.values:
                return _values_complaint(limits)
            if type(child) is list or type(child) is dict:
                if id(child) in ancestors:
                    return CYCLE_COMPLAINT
                entered = _enter(child, members, values, limits)
                if type(entered) is JsonComplaint:
                    return entered
                members += entered.size
                ancestors.add(entered.identity)
                frames.append(entered)
                break
            scalar = _admit_scalar(child)
            if type(scalar) is JsonComplaint:
                return scalar
            frame.copies.append(scalar)
        else:
            frames.pop()
            if not frames:
                return frame.copies[0]
            ancestors.discard(frame.identity)
            frames[-1].copies.append(frame.copy())


def _enter(
    container: list[object] | dict[object, object], members: int, values: int, limits: JsonLimits
) -> _Frame | JsonComplaint:
    if type(container) is dict:
        return _enter_object(container, members, values, limits)
    return _enter_array(cast(list[object], container), members, limits)


def _enter_array(array: list[object], members: int, limits: JsonLimits) -> _Frame | JsonComplaint:
    if members + len(array) > limits.members:
        return MEMBERS_COMPLAINT
    # The slice is one step for other threads; it may be longer than a moment ago.
    children = array[: limits.members - members + 1]
    if members + len(children) > limits.members:
        return MEMBERS_COMPLAINT
    return _Frame(id(array), len(children), iter(children), None, [])


def _enter_object(
    record: dict[object, object], members: int, values: int, limits: JsonLimits
) -> _Frame | JsonComplaint:
    try:
        # One pair more than may pass is enough to refuse the rest unread.
        pairs = list(islice(record.items(), limits.members - members + 1))
    except RuntimeError:
        return INSPECTION_COMPLAINT
    keys: list[str] = []
    for size, (key, _) in enumerate(pairs, start=1):
        if members + size > limits.members:
            return MEMBERS_COMPLAINT
        if values + size > limits.values:
            return _values_complaint(limits)
        if type(key) is not str or has_surrogate(key):
            return KEY_COMPLAINT
        keys.append(key)
    return _Frame(id(record), len(pairs), iter([child for _, child in pairs]), keys, [])


def _admit_scalar(value: object) -> bool | int | float | str | JsonComplaint | None:
    if value is None or type(value) is bool:
        return value
    if type(value) is str:
        return TEXT_COMPLAINT if has_surrogate(value) else value
    if type(value) is int:
        return value if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER else NUMBER_COMPLAINT
    if type(value) is float:
        return value if isfinite(value) else NUMBER_COMPLAINT
    if type(value) is Absent:
        return UNDEFINED_COMPLAINT
    # Compared one by one with `is`: `in` would let a metaclass's `__eq__` run.
    if any(type(value) is function_type for function_type in _FUNCTION_TYPES):
        return FUNCTION_COMPLAINT
    return OBJECT_COMPLAINT


def _values_complaint(limits: JsonLimits) -> JsonComplaint:
    return JsonComplaint(f"contains more than {limits.values} JSON values")
