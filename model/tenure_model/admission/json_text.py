"""JSON as text: whether it is one document, and whether its value is admitted (RS-314, RS-320..RS-326, RS-329).

``json.loads`` alone will not do: it takes ``NaN`` and ``Infinity``, fails on integers of more than 4,300 digits and on
deep nesting, and keeps ``1e400`` as infinity. So the text is looked at first. Most documents are shown by a few counts
to be within every limit, and then parsing with hooks that refuse what is not finite is the whole check. The others are
parsed, without recursion where they nest deeply, and their value is walked.
"""

import json
import math
import re
from itertools import accumulate
from typing import Final, NoReturn

from tenure_model.admission.json_values import (
    JSON_LIMITS,
    TEXT_COMPLAINT,
    JsonComplaint,
    JsonLimits,
    JsonValue,
    admit_json_value,
)
from tenure_model.admission.text import has_surrogate
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER

NO_TEXT_COMPLAINT: Final = JsonComplaint("must be non-empty JSON text")
NO_JSON_COMPLAINT: Final = JsonComplaint("must be valid JSON text")
BYTES_COMPLAINT: Final = JsonComplaint("exceeds the JSON byte limit")

_RECURSIVE_NESTING: Final = 200
"""How deep a text may nest and still be parsed recursively: far below any interpreter's own limit."""

_SAFE_DIGITS: Final = len(str(MAX_SAFE_INTEGER))

_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
"""A string literal, valid or not, with its quotes. Possessive: a long literal must not pile up backtracking state."""

_NESTING_BYTES: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_OTHER_BYTES: Final = bytes(set(range(256)) - set(b"[{]}"))

_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")

_TOKEN: Final = re.compile(
    r"""
      (?P<scalar> "[^"\\\x00-\x1f]*+ (?: \\ (?: ["\\/bfnrt] | u[0-9a-fA-F]{4} ) [^"\\\x00-\x1f]*+ )*+ "
                | -? (?: 0 | [1-9][0-9]*+ ) (?: \.[0-9]++ )?+ (?: [eE][+-]?[0-9]++ )?+
                | true | false | null )
    | (?P<marks> \[++ | \]++ | [{},:] )
    | (?P<other> [^ \t\n\r] )
    """,
    re.VERBOSE,
)


class _NonFiniteNumber(Exception):
    """A number of the text is beyond every double."""


def json_text_complaint(
    text: object, limits: JsonLimits = JSON_LIMITS, *, max_bytes: int | None = None
) -> JsonComplaint | None:
    """Why ``text`` is no admitted JSON document, or ``None`` (RS-314, RS-326).

    Complaints in order: no non-empty exact ``str``; not JSON (RFC 8259, no byte order mark, no ``NaN``); those of the
    walk; a surrogate anywhere in the text itself; more than ``max_bytes`` of UTF-8. Numbers are judged as doubles.
    """
    if type(text) is not str or not text:
        return NO_TEXT_COMPLAINT
    if _counts_show_it_small(text, limits):
        try:
            _FINITE_DECODER.decode(text)
        except ValueError:
            return NO_JSON_COMPLAINT
        except (_NonFiniteNumber, RecursionError):
            # The number may be one of a duplicate key, or of a text that turns out not to be JSON.
            pass
        else:
            return BYTES_COMPLAINT if _exceeds(text, max_bytes) else None
    outcome = read_json_text(text, limits, max_bytes=max_bytes)
    return outcome if type(outcome) is JsonComplaint else None


def read_json_text(
    text: object, limits: JsonLimits = JSON_LIMITS, *, max_bytes: int | None = None
) -> "JsonValue | JsonComplaint":
    """The value of an admitted JSON document, or the complaint of ``json_text_complaint`` (RS-326).

    Of equal keys the last wins and counts once. Integers beyond 2**53-1 either way become doubles (RS-329).
    """
    if type(text) is not str or not text:
        return NO_TEXT_COMPLAINT
    try:
        parsed = _parse(text)
    except ValueError:
        return NO_JSON_COMPLAINT
    value = admit_json_value(parsed, limits)
    if type(value) is JsonComplaint:
        return value
    if has_surrogate(text):
        # Where a duplicate key dropped it, the walk does not meet it, but the text cannot be stored.
        return TEXT_COMPLAINT
    return BYTES_COMPLAINT if _exceeds(text, max_bytes) else value


def _counts_show_it_small(text: str, limits: JsonLimits) -> bool:
    """Whether no document with this text can break a limit of the walk or hold a surrogate.

    Every value but the root follows ``[``, ``{`` or ``,`` directly or after its key, so these three bound the values
    and the members; marks inside strings only raise the bound.
    """
    containers = text.count("[") + text.count("{")
    if containers + text.count(",") >= min(limits.values, limits.members + 1):
        return False
    depth = min(limits.depth, _RECURSIVE_NESTING)
    if containers > depth and _nesting(text) > depth:
        return False
    return not has_surrogate(text) and _SURROGATE_ESCAPE.search(text) is None


def _nesting(text: str) -> int:
    """The deepest nesting of brackets outside strings, up to the first error of the text at least."""
    steps = _STRING.sub("", text).encode(errors="replace").translate(_NESTING_BYTES, _OTHER_BYTES)
    return max(accumulate(memoryview(steps).cast("b")), default=0)


def _exceeds(text: str, max_bytes: int | None) -> bool:
    return max_bytes is not None and len(text.encode()) > max_bytes


def _parse(text: str) -> object:
    """The value of the text, unchecked; ``ValueError`` where it is not JSON."""
    containers = text.count("[") + text.count("{")
    if containers <= _RECURSIVE_NESTING or _nesting(text) <= _RECURSIVE_NESTING:
        try:
            return _DECODER.decode(text)
        except RecursionError:
            # The caller stands close to the interpreter's limit.
            pass
    return _parse_iteratively(text)


def _parse_iteratively(text: str) -> object:
    """As ``_parse``, for any depth: the open containers are a list, not the interpreter's stack."""
    values: list[object] = []
    keys: list[str] | None = None
    outer: list[tuple[list[object], list[str] | None]] = []
    expected = "value"
    for token in _TOKEN.finditer(text):
        literal = token[0]
        if token.lastgroup == "other":
            raise ValueError(expected)
        if token.lastgroup == "scalar":
            if expected in ("value", "value or ]"):
                values.append(_DECODER.decode(literal))
                expected = "more" if outer else "nothing"
            elif expected in ("key", "key or }") and keys is not None and literal[0] == '"':
                keys.append(literal[1:-1] if "\\" not in literal else _DECODER.decode(literal))
                expected = ":"
            else:
                raise ValueError(expected)
            continue
        for mark in literal:
            if mark in "[{" and expected in ("value", "value or ]"):
                outer.append((values, keys))
                values, keys, expected = ([], None, "value or ]") if mark == "[" else ([], [], "key or }")
            elif mark == "]" and keys is None and outer and expected in ("more", "value or ]"):
                array = values
                values, keys = outer.pop()
                values.append(array)
                expected = "more" if outer else "nothing"
            elif mark == "}" and keys is not None and expected in ("more", "key or }"):
                record = dict(zip(keys, values, strict=True))
                values, keys = outer.pop()
                values.append(record)
                expected = "more" if outer else "nothing"
            elif mark == "," and expected == "more":
                expected = "value" if keys is None else "key"
            elif mark == ":" and expected == ":":
                expected = "value"
            else:
                raise ValueError(expected)
    if expected != "nothing":
        raise ValueError(expected)
    return values[0]


def _integer(digits: str) -> int | float:
    """An integer of the text: exact in the safe range, else as a double, which has no limit on digits."""
    if len(digits) <= _SAFE_DIGITS + 1:
        number = int(digits)
        if -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER:
            return number
    return float(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _NonFiniteNumber
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER: Final = json.JSONDecoder(parse_int=_integer, parse_constant=_refuse_constant)
_FINITE_DECODER: Final = json.JSONDecoder(parse_int=_finite, parse_float=_finite, parse_constant=_refuse_constant)
