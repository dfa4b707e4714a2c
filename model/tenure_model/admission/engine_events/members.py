"""The members of a payload, one by one: each is admitted or named in a complaint (JN-356).

Readers raise ``MalformedError``, and the functions that a caller may use catch it: payloads nest, and every level would
pass the complaint on. A complaint names places by the names of the rules and never quotes the input, whose own names
may be secrets too.
"""

from collections.abc import Callable
from math import isfinite
from typing import Final, TypeGuard, TypeVar

from tenure_model.admission.integers import is_safe_integer
from tenure_model.admission.json_values import JsonComplaint, JsonLimits, JsonValue, admit_json_value
from tenure_model.admission.refusal import Refusal, refuse
from tenure_model.admission.text import has_surrogate, is_durable_text
from tenure_model.admission.wire_records import wire_members
from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER

Members = dict[str, object]
"""A private copy of a record: exact strings to whatever was there."""

_Read = TypeVar("_Read")
_Word = TypeVar("_Word", bound=str)

# The rules limit neither depth nor size of a value; where it is stored, the journal does.
_NO_LIMITS: Final = JsonLimits(depth=2**62, values=2**62, members=2**62)

_MOST_NESTED: Final = 32
"""How many containers of a value the short way enters one inside the other: it is recursive."""

_MOST_MEMBERS: Final = 512
"""How many members in all the short way copies, so that a cycle does not keep it."""


class _TooLong(Exception):
    """The short way ends here; only the walk can judge the value."""


class MalformedError(Exception):
    """The first thing that is wrong; ``cause`` is the complaint about it, or the error met while reading (JN-360)."""

    def __init__(self, place: str, detail: str, error: AttributeError | None = None) -> None:
        super().__init__(place, detail)
        self.cause: Refusal | AttributeError = refuse(place, detail) if error is None else error


def strict_record(value: object, names: frozenset[str], place: str) -> Members:
    """The members of an exact ``dict`` that has no others than ``names`` (JN-356)."""
    members = open_record(value, place)
    only(members, names, place)
    return members


def only(members: Members, names: frozenset[str], place: str) -> None:
    """No member is there but ``names``, not even as ``ABSENT`` (JN-356)."""
    if not members.keys() <= names:
        raise MalformedError(place, "has a member that it must not have")


def open_record(value: object, place: str) -> Members:
    """The members of an exact ``dict`` with exact strings as keys, known or not."""
    members = wire_members(value)
    if members is None:
        raise MalformedError(place, "must be an inert record")
    return members


def identifier(members: Members, name: str, place: str) -> str:
    """Durable text (JN-020, JN-021)."""
    value = members.get(name)
    if is_durable_text(value):
        return value
    raise MalformedError(f"{place}.{name}", "must be an identifier")


def quantity(members: Members, name: str, place: str) -> int:
    """A count or a time in milliseconds: 0..2**53-1, a float never (JN-023, JN-607)."""
    value = members.get(name)
    if is_safe_integer(value):
        return value
    raise MalformedError(f"{place}.{name}", "must be a non-negative safe integer")


def positive(members: Members, name: str, place: str) -> int:
    """As ``quantity``, from 1 (JN-023)."""
    value = members.get(name)
    if is_safe_integer(value) and value > 0:
        return value
    raise MalformedError(f"{place}.{name}", "must be a positive safe integer")


def integer(members: Members, name: str, place: str) -> int:
    """Any safe integer, below zero too."""
    value = members.get(name)
    if type(value) is int and -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
        return value
    raise MalformedError(f"{place}.{name}", "must be a safe integer")


def text(members: Members, name: str, place: str) -> str:
    """Any well-formed text, the empty one too."""
    value = members.get(name)
    if type(value) is str and not has_surrogate(value):
        return value
    raise MalformedError(f"{place}.{name}", "must be well-formed text")


def filled_text(members: Members, name: str, place: str) -> str:
    """Well-formed text of any length but zero."""
    value = members.get(name)
    if _is_filled(value):
        return value
    raise MalformedError(f"{place}.{name}", "must be well-formed text, not empty")


def filled_texts(members: Members, name: str, place: str) -> tuple[str, ...]:
    """A list of such texts."""
    found: list[str] = []
    for element in array(members, name, place):
        if not _is_filled(element):
            raise MalformedError(f"{place}.{name}[{len(found)}]", "must be well-formed text, not empty")
        found.append(element)
    return tuple(found)


def array(members: Members, name: str, place: str) -> list[object]:
    """A copy of an exact ``list``."""
    value = members.get(name)
    if type(value) is list:
        return value[:]
    raise MalformedError(f"{place}.{name}", "must be a list")


def flag(members: Members, name: str, place: str) -> bool:
    """``True`` or ``False``."""
    value = members.get(name)
    if type(value) is bool:
        return value
    raise MalformedError(f"{place}.{name}", "must be true or false")


def word(members: Members, name: str, place: str, words: tuple[_Word, ...]) -> _Word:
    """One of the words."""
    value = members.get(name)
    if type(value) is str:
        for known in words:
            if value == known:
                return known
    raise MalformedError(f"{place}.{name}", f"must be one of {', '.join(words)}")


def json(members: Members, name: str, place: str) -> JsonValue:
    """An inert copy of a JSON value, of any size, its numbers finite (JN-352). ``None`` is null; missing is refused."""
    copy = copied_json(members.get(name, ABSENT))
    if type(copy) is JsonComplaint:
        raise MalformedError(f"{place}.{name}", copy.text)
    return copy


def copied_json(value: object) -> "JsonValue | JsonComplaint":
    """As ``json``, of a value that is no member; a complaint is answered."""
    if _is_scalar(value):
        return value
    try:
        return _copied_briefly(value, [_MOST_MEMBERS], _MOST_NESTED)
    except (_TooLong, RuntimeError):
        # Also where another thread resized an object meanwhile, or the caller stands close to the recursion limit.
        return admit_json_value(value, _NO_LIMITS)


def optional(read: Callable[[Members, str, str], _Read], members: Members, name: str, place: str) -> _Read | AbsentType:
    """What ``read`` makes of the member, or ``ABSENT`` where there is none."""
    return ABSENT if members.get(name, ABSENT) is ABSENT else read(members, name, place)


def _copied_briefly(value: object, members_left: list[int], nested_left: int) -> "JsonValue":
    """A copy of a value of ordinary size. What it answers, the walk would; what it cannot judge is too long for it."""
    if nested_left == 0:
        raise _TooLong
    if type(value) is dict:
        members_left[0] -= len(value)
        if members_left[0] < 0:
            raise _TooLong
        pairs = list(value.items())
        record: dict[str, JsonValue] = {}
        for name, child in pairs:
            if type(name) is not str or has_surrogate(name):
                raise _TooLong
            record[name] = child if _is_scalar(child) else _copied_briefly(child, members_left, nested_left - 1)
        return record
    if type(value) is list:
        members_left[0] -= len(value)
        if members_left[0] < 0:
            raise _TooLong
        return [
            child if _is_scalar(child) else _copied_briefly(child, members_left, nested_left - 1) for child in value[:]
        ]
    raise _TooLong


def _is_scalar(value: object) -> TypeGuard[str | int | float | bool | None]:
    if type(value) is str:
        return not has_surrogate(value)
    if type(value) is int:
        return -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER
    if type(value) is float:
        return isfinite(value)
    return value is None or type(value) is bool


def _is_filled(value: object) -> TypeGuard[str]:
    return type(value) is str and value != "" and not has_surrogate(value)
