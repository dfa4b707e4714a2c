"""What SQLite makes of a bound value before a CHECK sees it: storage classes and column affinity.

Assumed: ordinary tables, not STRICT ones, with the declared types of RS-100 (TEXT, INTEGER), and a driver that binds
``None``, ``int`` (``bool`` as 0 or 1), ``float``, ``str`` and ``bytes`` and nothing else. NaN binds as NULL.
"""

import math
import re
from typing import Final, TypeAlias

from tenure_model.admission.text import has_surrogate

Stored: TypeAlias = int | float | str | bytes | None

_INT64: Final = range(-(2**63), 2**63)
_NUMBER: Final = re.compile(r"[ \t\n\v\f\r]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t\n\v\f\r]*")


def is_bindable(value: object) -> bool:
    """Whether a driver can hand the value to SQLite at all: no lone surrogate, no integer beyond 64 bits."""
    kind = type(value)
    if kind is str:
        return isinstance(value, str) and not has_surrogate(value)
    if kind is int:
        return value in _INT64
    return value is None or kind in (bool, float, bytes)


def in_text_column(value: object) -> Stored:
    """What a TEXT column stores: numbers become text, blobs stay blobs. The value must be bindable."""
    bound = _bound(value)
    return repr(bound) if isinstance(bound, int | float) else bound


def in_integer_column(value: object) -> Stored:
    """What an INTEGER column stores: whole numbers and text that reads as one become integers; all else stays."""
    bound = _bound(value)
    if isinstance(bound, str) and _NUMBER.fullmatch(bound):
        literal = bound.strip(" \t\n\v\f\r")
        whole = re.fullmatch(r"[+-]?[0-9]+", literal)
        bound = int(literal) if whole and len(literal) < 25 and int(literal) in _INT64 else float(literal)
    if isinstance(bound, float) and bound.is_integer() and -(2.0**63) < bound < 2.0**63:
        return int(bound)
    return bound


def sql_length(value: Stored) -> int:
    """SQL ``length()`` of a value that is not NULL: text ends at its first NUL character, a blob counts its bytes."""
    if isinstance(value, bytes):
        return len(value)
    return len(str(value).split("\0", 1)[0])


def _bound(value: object) -> Stored:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return None if math.isnan(value) else value
    return value if isinstance(value, int | str | bytes) else None
