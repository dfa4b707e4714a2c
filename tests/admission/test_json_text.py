"""JSON text: `tenure_model.admission.json_text`."""

import json
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure_model.admission.json_text import (
    NO_JSON_COMPLAINT,
    NO_TEXT_COMPLAINT,
    json_text_complaint,
    read_json_text,
)
from tenure_model.admission.json_values import JsonComplaint, JsonLimits
from tests.admission.oracle import GOOD_SCALARS, SMALL_LIMITS, complaint_about
from tests.admission.values import DOCUMENTS

_PIECES = (
    *'[]{},:"\\+-.01eE \n',
    *("1e400", "null", "true", "nul", '"a"', '"b"', "NaN", "\\ud800", "\\n", "\ufeff", "\u00a0", "\U0001f600", "\x00"),
)

# Finite trees as the parser would build them: strings may be ill-formed and numbers infinite, as text can spell them.
_TREES = st.recursive(
    GOOD_SCALARS | st.sampled_from(["\ud800", float("inf"), float("-inf")]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["", "a", "b", "\udfff", "__proto__"]), inner, max_size=4)
    ),
    max_leaves=12,
)


def _spell(tree: object, *, ascii_only: bool) -> str:
    return json.dumps(tree, ensure_ascii=ascii_only).replace("Infinity", "1e999")


@given(_TREES, SMALL_LIMITS, st.booleans())
def test_the_walk_of_a_text_complains_as_the_rules_read_naively(
    tree: object, limits: JsonLimits, ascii_only: bool
) -> None:
    """Whichever way the text is checked, the first complaint is that of a recursive walk of its value (RS-326)."""
    text = _spell(tree, ascii_only=ascii_only)
    expected = complaint_about(tree, limits)

    complaint = json_text_complaint(text, limits)

    assert (complaint and complaint.text) == expected
    assert (read_json_text(text, limits) == complaint) or complaint is None


@given(_TREES, st.integers(1, 200))
def test_deep_text_is_parsed_to_the_same_value_as_shallow_text(tree: object, depth: int) -> None:
    """The parser without recursion builds what the recursive one builds, at any depth of nesting."""
    text = "[" * depth * 3 + _spell(tree, ascii_only=True) + "]" * depth * 3
    limits = JsonLimits(depth=10_000)
    if complaint_about(tree, limits) is not None:
        return

    value = read_json_text(text, limits)
    for _ in range(depth * 3):
        assert isinstance(value, list)
        (value,) = value

    assert repr(value) == repr(read_json_text(_spell(tree, ascii_only=True), limits))


def _python_parses(text: str) -> bool:
    """Whether the standard parser takes the text, its extensions forbidden."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse, parse_int=float)
    except ValueError:
        return False
    return True


@given(st.lists(st.sampled_from(_PIECES), max_size=10).map("".join), st.sampled_from([0, 201, 1_500]))
def test_any_text_is_json_exactly_where_the_grammar_says_so(text: str, depth: int) -> None:
    """Nothing raises, and both parsers agree with the standard one on what is JSON (RS-314, RS-326, RS-329)."""
    deep = "[" * depth + text + "]" * depth
    # The text may close arrays that it did not open, so a few must stand around it.
    shallow_text = text if depth == 0 else "[" * 12 + text + "]" * 12

    complaint = json_text_complaint(deep)

    assert (complaint not in (NO_TEXT_COMPLAINT, NO_JSON_COMPLAINT)) == _python_parses(shallow_text)


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if "million" not in name])
def test_the_parser_for_deep_text_takes_the_same_documents(name: str) -> None:
    """Within 250 arrays a document is JSON where it is by itself; the limits are out of the way."""
    text = str(DOCUMENTS[name]())
    limits = JsonLimits(depth=3_000_000, values=3_000_000, members=3_000_000)

    alone = json_text_complaint(text, limits)

    assert json_text_complaint("[" * 250 + text + "]" * 250, limits) == alone


@given(st.text() | st.integers() | st.binary() | st.none())
def test_any_object_is_answered_without_an_exception(value: object) -> None:
    """What is no text, and text of any characters, is answered with a complaint or none."""
    complaint = json_text_complaint(value)

    assert complaint is None or type(complaint) is JsonComplaint
    assert complaint is None or read_json_text(value) == complaint


def test_integers_of_the_text_are_exact_where_doubles_are() -> None:
    """Within the safe range integers stay integers, beyond it they are rounded to doubles (RS-329)."""
    value = read_json_text("[9007199254740991,-9007199254740991,9007199254740993,1.0,-0]")

    assert repr(value) == "[9007199254740991, -9007199254740991, 9007199254740992.0, 1.0, 0]"


def test_the_last_of_equal_keys_wins_and_counts_once() -> None:
    """Repeated keys take the place of the first and the value of the last (RS-326)."""
    assert repr(read_json_text('{"a":1,"b":2,"a":3}', JsonLimits(values=3, members=2))) == "{'a': 3, 'b': 2}"


@pytest.mark.parametrize(("text", "admitted"), [('"\u00e9"', 4), ('"\U0001f600"', 6), (" 1 ", 3)])
def test_the_byte_limit_counts_the_text_itself(text: str, admitted: int) -> None:
    """A cap counts the supplied text in UTF-8, white space and all, and admits what is equal to it (RS-326)."""
    assert json_text_complaint(text, max_bytes=admitted) is None
    assert json_text_complaint(text, max_bytes=admitted - 1) == JsonComplaint("exceeds the JSON byte limit")
    assert read_json_text(text, max_bytes=admitted - 1) == JsonComplaint("exceeds the JSON byte limit")


def test_the_byte_limit_is_the_last_complaint() -> None:
    """A document that breaks a limit of the walk as well is refused for that one (RS-326)."""
    assert json_text_complaint("[1e400]", max_bytes=1) == JsonComplaint("contains a non-finite number")


def test_a_caller_close_to_the_interpreters_limit_gets_the_same_answer() -> None:
    """Where the recursive parser has no room left, the other one answers (RS-329)."""
    text = "[" * 100 + "]" * 100

    def descend(levels: int) -> JsonComplaint | None:
        return json_text_complaint(text) if levels == 0 else descend(levels - 1)

    room = sys.getrecursionlimit() - _frames() - 40

    assert descend(room) is None


def _frames() -> int:
    frame, count = sys._getframe(), 0
    while (outer := frame.f_back) is not None:
        frame, count = outer, count + 1
    return count


@pytest.mark.parametrize("admit", [json_text_complaint, read_json_text])
def test_a_long_string_of_escapes_costs_no_memory_of_its_own(admit: Callable[[object], object]) -> None:
    """A million escapes in one string beside deep nesting are looked at without backtracking."""
    text = "[" * 201 + '"' + '\\"' * 1_000_000 + '"' + "]" * 201

    assert admit(text) == JsonComplaint("exceeds the maximum JSON depth of 128")
