"""Compact JSON text of an admitted value, and its size in bytes (RS-327, RS-814)."""

import json
from collections.abc import Iterator
from typing import Final

import attrs

from tenure_model.admission.json_values import JsonValue

_TEXT_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)

_LONGEST_PLAIN_INTEGER: Final = 21
"""JavaScript writes numbers of more digits before the point than this with an exponent."""

_MOST_LEADING_ZEROS: Final = 5
"""JavaScript writes fractions with more zeros after the point than this with an exponent."""


@attrs.define
class _Frame:
    """A container being written: its members still to come, what closes it, and whether a comma is due."""

    members: Iterator[tuple[str | None, "JsonValue"]]
    closing: str
    separator: str = ""


def encode_json(value: "JsonValue") -> str:
    """The compact text of a value that ``admit_json_value`` let through: no spaces, members in their order.

    Numbers take their shortest JavaScript form (``1.0`` is ``1``, ``1e21`` is ``1e+21``), strings escape only what
    JSON demands. Decoding gives an equal value (RS-328).
    """
    pieces: list[str] = []
    frames = [_Frame(iter([(None, value)]), "")]
    while frames:
        frame = frames[-1]
        for key, child in frame.members:
            pieces.append(frame.separator)
            frame.separator = ","
            if key is not None:
                pieces.append(_TEXT_ENCODER.encode(key))
                pieces.append(":")
            if type(child) is list:
                pieces.append("[")
                frames.append(_Frame(((None, element) for element in child), "]"))
                break
            if type(child) is dict:
                pieces.append("{")
                frames.append(_Frame(iter(child.items()), "}"))
                break
            pieces.append(_encode_scalar(child))
        else:
            pieces.append(frame.closing)
            frames.pop()
    return "".join(pieces)


def encoded_json_bytes(value: "JsonValue") -> int:
    """How many bytes ``encode_json`` takes in UTF-8; a cap admits what is equal to it (RS-327)."""
    return len(encode_json(value).encode())


def encode_number(number: int | float) -> str:
    """The shortest form in which JavaScript writes a finite number; ``-0.0`` is ``0`` (RS-327)."""
    if type(number) is int:
        return str(number)
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    # Python's shortest digits are JavaScript's; only where the point and the exponent go differs.
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if len(digits) <= point <= _LONGEST_PLAIN_INTEGER:
        return f"{sign}{digits}{'0' * (point - len(digits))}"
    if 0 < point <= _LONGEST_PLAIN_INTEGER:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -_MOST_LEADING_ZEROS <= point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"


def _encode_scalar(value: "JsonValue") -> str:
    if value is None:
        return "null"
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is str:
        return _TEXT_ENCODER.encode(value)
    if type(value) is int or type(value) is float:
        return encode_number(value)
    raise TypeError("not an admitted JSON value")
