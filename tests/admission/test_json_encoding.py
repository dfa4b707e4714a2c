"""Compact JSON: `tenure_model.admission.json_encoding`."""

import re

import pytest
from hypothesis import given

from tenure_model.admission.json_encoding import encode_json, encode_number, encoded_json_bytes
from tenure_model.admission.json_equality import json_equal
from tenure_model.admission.json_text import read_json_text
from tenure_model.admission.json_values import JsonValue
from tests.admission.oracle import GOOD_VALUES
from tests.admission.values import nested


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (-1, "-1"),
        (2**53 - 1, "9007199254740991"),
        (1.0, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (-1.5, "-1.5"),
        (100.25, "100.25"),
        (1e20, "100000000000000000000"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e21, "1e+21"),
        (-1.5e21, "-1.5e+21"),
        (1e-6, "0.000001"),
        (1.5e-6, "0.0000015"),
        (1e-7, "1e-7"),
        (1.25e-7, "1.25e-7"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
    ],
)
def test_numbers_take_their_shortest_javascript_form(number: int | float, text: str) -> None:
    """The forms are those of ECMAScript's number to string (RS-327)."""
    assert encode_number(number) == text


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ('"', 4),
        ("\\", 4),
        ("\b\t\n\f\r", 12),
        ("\0\x0b\x1f", 20),
        ("a\x7f", 4),
        ("\u0080\u07ff", 6),
        ("\u0800\ufffd\u2028", 11),
        ("\U0001f600", 6),
    ],
)
def test_strings_cost_what_the_rule_says(text: str, size: int) -> None:
    """Two quotes and the cost of every unit (RS-327)."""
    assert encoded_json_bytes(text) == size
    assert encoded_json_bytes({text: None}) == size + 7


@given(GOOD_VALUES)
def test_the_size_is_the_sum_of_the_rule(value: JsonValue) -> None:
    """The size of any value is the sum over its parts, counted without encoding it (RS-327)."""
    assert encoded_json_bytes(value) == _size(value)


def _size(value: JsonValue) -> int:
    if isinstance(value, list):
        return 2 + max(len(value) - 1, 0) + sum(map(_size, value))
    if isinstance(value, dict):
        return 2 + max(len(value) - 1, 0) + sum(_size(key) + 1 + _size(member) for key, member in value.items())
    if isinstance(value, str):
        return 2 + sum(map(_character_size, value))
    if value is None or value is True:
        return 4
    return 5 if value is False else len(encode_number(value))


def _character_size(character: str) -> int:
    if character in '"\\\b\t\n\f\r':
        return 2
    return 6 if character < " " else len(character.encode())


@given(GOOD_VALUES)
def test_the_text_is_compact_and_decodes_equal(value: JsonValue) -> None:
    """Decoding gives an equal value, and there is no white space outside strings (RS-814)."""
    text = encode_json(value)

    assert json_equal(read_json_text(text), value)
    assert not any(character in _unquoted(text) for character in " \t\r\n")


def _unquoted(text: str) -> str:
    return re.sub(r'"(?:[^"\\]|\\.)*"', "", text)


def test_members_keep_their_order() -> None:
    """Keys come in the order of the value (RS-814)."""
    assert encode_json({"b": [True, None], "a": {}, "": "\u00e9"}) == '{"b":[true,null],"a":{},"":"\u00e9"}'


def test_deep_values_are_encoded_without_recursion() -> None:
    """Any depth is encoded; the limit on depth is for admission alone."""
    assert encode_json(nested(100_000)) == "[" * 100_000 + "]" * 100_000
