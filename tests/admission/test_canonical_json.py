"""The stored text of values: `tenure_model.admission.canonical_json`."""

import json
import math
from collections.abc import Callable
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure_model.admission.canonical_json import canonical_names, decode_json, encode_canonical, encode_plain
from tenure_model.admission.json_text import NO_JSON_COMPLAINT
from tenure_model.admission.json_values import JsonComplaint, JsonValue
from tenure_model.admission.refusal import Refusal, refuse
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tests.admission.values import VALUES, nested

NAMES = (
    st.text(st.characters(codec="utf-8"), max_size=3)
    | st.integers(0, 2**33).map(str)
    | st.sampled_from(["", "00", "01", "4294967294", "4294967295", "\ue000", "\U0001f600", "-1", "1.0", "\u0661"])
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=5)
)
VALUES_OF_JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


def text_of(value: object) -> str:
    """The canonical text of a value that has one."""
    text = encode_canonical(value)
    assert type(text) is str
    return text


def json_same(first: object, second: object) -> bool:
    """Equal as JSON: ``1`` and ``1.0`` are, ``1`` and ``True`` are not, the order of members does not matter."""
    if type(first) is dict and type(second) is dict:
        return first.keys() == second.keys() and all(json_same(first[name], second[name]) for name in first)
    if type(first) is list and type(second) is list:
        return len(first) == len(second) and all(map(json_same, first, second))
    if type(first) in (int, float) and type(second) in (int, float):
        return first == second
    return type(first) is type(second) and first == second


def reordered(value: object) -> object:
    """The value with the members of every object in the opposite order."""
    if type(value) is dict:
        return {name: reordered(child) for name, child in reversed(value.items())}
    return [reordered(child) for child in value] if type(value) is list else value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (MAX_SAFE_INTEGER, "9007199254740991"),
        ([-MAX_SAFE_INTEGER], "[-9007199254740991]"),
        ({"a": -MAX_SAFE_INTEGER}, '{"a":-9007199254740991}'),
        ([1.0, -0.0, 1e16, 1e21, 1e-7], "[1,0,10000000000000000,1e+21,1e-7]"),
        ([math.nan, math.inf, -math.inf], "[null,null,null]"),
        ("é\u2028\U0001f600\x7f", '"é\u2028\U0001f600\x7f"'),
        ('"\\/\b\f\n\r\t\x1f', '"\\"\\\\/\\b\\f\\n\\r\\t\\u001f"'),
        ({"b": 1, "a": {"d": 1, "c": [{}]}}, '{"a":{"c":[{}],"d":1},"b":1}'),
        ({"b": 1, "10": 2, "2": 3, "a": 4}, '{"2":3,"10":2,"a":4,"b":1}'),
        ({"01": 1, "1": 2, "-1": 3}, '{"1":2,"-1":3,"01":1}'),
        ({"4294967295": 1, "4294967294": 2}, '{"4294967294":2,"4294967295":1}'),
        ({"\ue000": 1, "\U0001f600": 2, "z": 3}, '{"z":3,"\U0001f600":2,"\ue000":1}'),
        ({"\u0661": 1, "0": 2}, '{"0":2,"\u0661":1}'),
        ({"__proto__": 1, "": 2}, '{"":2,"__proto__":1}'),
        ({"a": ABSENT, "b": [ABSENT]}, '{"b":[null]}'),
    ],
)
def test_a_value_has_one_canonical_text(value: object, text: str) -> None:
    """Order of members, numbers and text as JavaScript writes them (JN-042, JN-602, JN-603, JN-604)."""
    assert encode_canonical(value) == text


@pytest.mark.parametrize(
    "value",
    [
        ABSENT,
        [MAX_SAFE_INTEGER + 1],
        [-MAX_SAFE_INTEGER - 1],
        ["\ud800"],
        {"\ud800": 1},
        {"a": "\ud83d\ude00"},
        {1: 1},
        (1,),
        {"a": {1}},
        [b""],
        [len],
        pytest.param([object()], id="[object]"),
    ],
    ids=repr,
)
def test_what_is_no_json_is_refused(value: object) -> None:
    """Absence at the root, unsafe integers, surrogates and every foreign type (JN-043, JN-601)."""
    assert encode_canonical(value, "meta") == refuse("meta", "must be JSON-serializable")
    assert encode_plain(value) == refuse("state", "must be JSON-serializable")


def test_cycles_are_refused_and_shared_values_are_not() -> None:
    """Only a container in itself has no text (JN-043)."""
    shared: list[object] = [1]
    cycle: list[object] = []
    cycle.append({"a": cycle})

    assert encode_canonical([shared, shared]) == "[[1],[1]]"
    assert encode_canonical(cycle) == refuse("payload", "must be JSON-serializable")


@pytest.mark.parametrize("leaf", [1, [], {}, 1.5], ids=repr)
@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"a": value}], ids=["array", "object"])
def test_256_containers_are_canonical_and_257_are_not(wrap: Callable[[object], object], leaf: object) -> None:
    """The limit counts what is wrapped around a value (JN-044)."""
    value = leaf
    for _ in range(256):
        value = wrap(value)

    assert type(encode_canonical(value)) is str
    assert encode_canonical(wrap(value)) == refuse("payload", "could not be canonicalized")


def test_what_is_no_json_is_found_below_the_limit() -> None:
    """Encoding comes before canonicalising, so its complaint wins (JN-040, JN-044)."""
    value = nested(50_000, {1}, empty=False)

    assert encode_canonical(value) == refuse("payload", "must be JSON-serializable")


def test_states_keep_their_order_and_may_nest_deeper() -> None:
    """As deep as SQLite takes for JSON; below that limit they decode again (JN-007, JN-272)."""
    deepest = nested(1_000)

    assert encode_plain({"b": 1, "a": math.nan, "2": ABSENT, "1": 1.0}) == '{"b":1,"a":null,"1":1}'
    assert encode_plain(deepest) == "[" * 1_000 + "]" * 1_000
    assert encode_plain([deepest]) == refuse("state", "must be JSON-serializable")
    assert encode_plain(nested(999, 1, empty=False)) == "[" * 999 + "1" + "]" * 999
    assert encode_plain(nested(1_000, 1, empty=False)) == refuse("state", "must be JSON-serializable")


def test_a_hook_encodes_foreign_values() -> None:
    """Its answer is taken as it is, and is not given to it again (JN-042, JN-043)."""

    def hook(value: object) -> object:
        return {"listed": list(cast("tuple[object, ...]", value))}

    assert encode_canonical([(2, 1)], default=hook) == '[{"listed":[2,1]}]'
    assert (
        encode_plain({"b": (1,), "a": ((2,),)}, default=hook) == '{"b":{"listed":[1]},"a":{"listed":[{"listed":[2]}]}}'
    )


def test_a_hook_is_not_asked_for_json() -> None:
    """What JSON has keeps its meaning, absence too (JN-042)."""
    value = {"a": [None, True, 1, 1.5, "text", ABSENT, [], {}], "b": ABSENT}

    assert encode_canonical(value, default=lambda value: "asked") == encode_canonical(value)


@pytest.mark.parametrize(
    "hook", [lambda value: value, lambda value: 1j, lambda value: ABSENT, lambda value: [value], lambda value: 1 // 0]
)
def test_a_hook_that_does_not_help_leaves_the_refusal(hook: Callable[[object], object]) -> None:
    """It answers the value itself, another foreign one, nothing, a cycle, or raises (JN-043)."""
    assert encode_canonical([object()], default=hook) == refuse("payload", "must be JSON-serializable")


@pytest.mark.parametrize("name", sorted(VALUES.keys() - {"million arrays"}))
def test_no_code_of_a_value_runs(name: str) -> None:
    """Whatever it is given, encoding answers (JN-042)."""
    assert type(encode_canonical(VALUES[name]())) in (str, Refusal)
    assert type(encode_plain([VALUES[name]()])) in (str, Refusal)


@given(value=VALUES_OF_JSON)
def test_canonical_text_decodes_to_the_value(value: object) -> None:
    """Nothing is lost, numbers compared as numbers (JN-042)."""
    assert json_same(decode_json(text_of(value)), value)


@given(value=VALUES_OF_JSON)
def test_the_canonical_form_is_stable(value: object) -> None:
    """Encoding what a canonical text decodes to gives that text (JN-046)."""
    text = text_of(value)

    assert text_of(decode_json(text)) == text
    assert json_same(json.loads(text, parse_int=float), decode_json(text))


@given(value=VALUES_OF_JSON)
def test_the_order_of_members_does_not_matter(value: object) -> None:
    """Equal content has equal text (JN-046)."""
    assert text_of(reordered(value)) == text_of(value)


@given(value=st.dictionaries(NAMES, SCALARS | st.sampled_from([ABSENT, 2**60, "\ud800"]), max_size=20) | SCALARS)
def test_the_short_cut_for_small_values_says_what_the_walk_says(value: object) -> None:
    """A value alone and the same value in an array, which takes no short cut, are written alike."""
    alone = encode_canonical(value)
    inside = encode_canonical([value])

    assert inside == (f"[{alone}]" if type(alone) is str else alone)


@given(names=st.lists(NAMES, unique=True))
def test_names_are_ordered_as_worded(names: list[str]) -> None:
    """Array indexes by number, then the rest by UTF-16 units (JN-602)."""

    def place(name: str) -> tuple[int, int, bytes]:
        for number in (int(name),) if name.isascii() and name.isdigit() else ():
            if str(number) == name and number < 2**32 - 1:
                return (0, number, b"")
        return (1, 0, name.encode("utf-16-be"))

    assert canonical_names(names) == sorted(names, key=place)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9007199254740991", MAX_SAFE_INTEGER),
        ("-9007199254740992", -9007199254740992.0),
        ("1" * 5_000, math.inf),
        ("[1,1.5,1e2]", [1, 1.5, 100.0]),
        ('{"a":1,"a":2}', {"a": 2}),
    ],
    ids=["safe", "unsafe", "huge", "numbers", "duplicate"],
)
def test_text_decodes(text: str, value: JsonValue) -> None:
    """Integers beyond the safe range are doubles (RS-329)."""
    decoded = decode_json(text)

    assert decoded == value
    assert type(decoded) is type(value)


def test_deep_text_decodes_without_recursion() -> None:
    """However deep it is."""
    decoded = decode_json("[" * 100_000 + "]" * 100_000)

    assert type(decoded) is list


@pytest.mark.parametrize(
    "text", ["", "NaN", "Infinity", "-Infinity", "\ufeff1", "{", "[1,]", "01", "1 2", "[" * 100_000]
)
def test_what_is_no_json_text_is_a_complaint(text: str) -> None:
    """Texts that no journal wrote (JN-253)."""
    decoded = decode_json(text)

    assert type(decoded) is JsonComplaint
    assert decoded.text in (NO_JSON_COMPLAINT.text, "must be non-empty JSON text")
