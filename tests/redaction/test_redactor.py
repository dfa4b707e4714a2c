"""The redactors and their walk: `tenure_model.admission.redaction.redactor` and `.walk`."""

import re
from collections.abc import Callable
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure_model.admission.canonical_json import encode_canonical
from tenure_model.admission.redaction.redactor import (
    DEFAULT_REDACTOR,
    Redactor,
    make_noop_redactor,
    redact_json_string,
)
from tenure_model.admission.redaction.rules import RedactionRule
from tenure_model.admission.redaction.walk import RedactionError
from tenure_model.admission.refusal import refuse
from tenure_model.vocabulary.absent import ABSENT
from tests.admission import hostile
from tests.admission.values import VALUES, PlainDict, PlainList, PlainStr, nested
from tests.redaction.oracle import TEXTS

SECRET = "sk-abcdefgh"

NAMES = (
    st.sampled_from(["a", "password", "tokens", "inputTokens", "n", SECRET, "[REDACTED]", "x=1", "__proto__"]) | TEXTS
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | TEXTS
    | st.binary(max_size=4)
    | st.binary(max_size=4).map(bytearray)
    | st.binary(max_size=4).map(lambda content: memoryview(content)[::1])
    | st.sampled_from([ABSENT, len, dict, object(), (1, SECRET), {SECRET}, "\ud800", PlainStr(SECRET)])
)
LIVE: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(NAMES, inner, max_size=4)
        | st.dictionaries(st.integers(), inner, min_size=1, max_size=2)
        | inner.map(lambda value: PlainList([value]))
    ),
    max_leaves=20,
)


def same(first: object, second: object) -> bool:
    """Equal like JSON, types included, and ``NaN`` equal to itself."""
    if type(first) is not type(second):
        return False
    if type(first) is dict:
        other = cast("dict[object, object]", second)
        return list(first) == list(other) and all(same(first[name], other[name]) for name in first)
    if type(first) is list:
        pairs = cast("list[object]", second)
        return len(first) == len(pairs) and all(map(same, first, pairs))
    return first is second or first == second or (first != first and second != second)


@pytest.mark.parametrize(
    ("value", "redacted"),
    [
        ({"password": [{"deep": 1}], "n": 1}, {"password": "[REDACTED]", "n": 1}),
        ({"a": [{"apiKey": None}]}, {"a": [{"apiKey": "[REDACTED]"}]}),
        ({"tokens": 5, "inputTokens": 6, "token": 7}, {"tokens": 5, "inputTokens": 6, "token": "[REDACTED]"}),
        ({"tokens": True}, {"tokens": "[REDACTED]"}),
        ([1, 1.5, True, None, "text"], [1, 1.5, True, None, "text"]),
        (f"a {SECRET}", "a [REDACTED_API_KEY]"),
        ({SECRET: 1, "pk-abcdefgh": 2}, {"[REDACTED]": 2}),
        ({"key=1": {"password": 1}}, {"[REDACTED]": {"password": "[REDACTED]"}}),
        ({"my key=1 key": "x"}, {"[REDACTED]": "[REDACTED]"}),
        ({"__proto__": {"secret": 1}}, {"__proto__": {"secret": "[REDACTED]"}}),
        ({"a": ABSENT, "b": [ABSENT]}, {"a": ABSENT, "b": [ABSENT]}),
        (b"abc", {"[Binary]": "bytes 3 bytes"}),
        (bytearray(b"ab"), {"[Binary]": "bytearray 2 bytes"}),
        (memoryview(bytes(8)).cast("i"), {"[Binary]": "memoryview 8 bytes"}),
        ([len, dict, lambda: 1, [].append], ["[Function]"] * 4),
        (None, None),
    ],
)
def test_a_value_is_redacted_by_its_structure(value: object, redacted: object) -> None:
    """Members, names, texts, binary and functions (JN-052..JN-058)."""
    result = DEFAULT_REDACTOR(value)

    assert result == redacted


def test_the_later_of_two_members_whose_names_collapse_wins() -> None:
    """It takes the earlier one's place (JN-055)."""
    result = DEFAULT_REDACTOR({SECRET: 1, "a": 2, "[REDACTED]": 3})

    assert list(cast("dict[str, object]", result).items()) == [("[REDACTED]", 3), ("a", 2)]


def test_containers_are_rebuilt() -> None:
    """What the caller does to its own value afterwards does not show (JN-057)."""
    value: dict[str, Any] = {"a": [1], "b": {}}
    result = DEFAULT_REDACTOR(value)
    value["a"].append(2)
    value["b"]["c"] = 3

    assert result == {"a": [1], "b": {}}


def test_a_container_in_itself_is_circular() -> None:
    """Only its own ancestor is; the same container beside itself is copied twice (JN-057)."""
    shared = [1]
    array: list[object] = [shared, shared]
    record: dict[str, object] = {"array": array}
    array.append(record)

    assert DEFAULT_REDACTOR(record) == {"array": [[1], [1], "[Circular]"]}


def test_a_released_view_has_no_size() -> None:
    """Then the mark stands alone (JN-058)."""
    view = memoryview(b"abc")
    view.release()

    assert DEFAULT_REDACTOR(view) == {"[Binary]": "[Binary]"}


def test_type_and_size_of_binary_pass_the_rules() -> None:
    """The description is a text like any other (JN-058)."""
    redactor = Redactor(rules=[RedactionRule("digits", re.compile(r"\d+"), "N")])

    assert redactor(b"abc") == {"[Binary]": "bytes N bytes"}


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"a": value}], ids=["array", "object"])
@pytest.mark.parametrize("leaf", [1, "a", [], {}, None], ids=repr)
def test_256_containers_are_walked_and_257_are_not(wrap: Callable[[object], object], leaf: object) -> None:
    """The depth counts what is wrapped around a value (JN-044, JN-059)."""
    value = leaf
    for _ in range(256):
        value = wrap(value)

    assert DEFAULT_REDACTOR(value) == value
    with pytest.raises(RedactionError):
        DEFAULT_REDACTOR(wrap(value))


def test_what_is_too_deep_may_be_named_instead() -> None:
    """Everything beyond the depth becomes one mark (JN-059)."""
    redactor = Redactor(max_depth=2, on_too_deep="name")

    assert redactor([[[1], b"", {"secret": 1}, "a"]]) == [
        [["[Deep]"], {"[Binary]": "[Deep]"}, {"secret": "[REDACTED]"}, "a"]
    ]


def test_marks_may_stand_deeper() -> None:
    """What an earlier redaction wrote below the depth is no reason to refuse its result (JN-060)."""
    once = Redactor(max_depth=0)({"password": [1], "[Binary]": "[Binary]"})

    assert once == {"password": "[REDACTED]", "[Binary]": "[Binary]"}
    assert Redactor(max_depth=0)({"a": "[REDACTED]"}) == {"a": "[REDACTED]"}
    with pytest.raises(RedactionError):
        Redactor(max_depth=0)({"a": "[redacted]"})


def test_very_deep_values_need_no_recursion() -> None:
    """Many containers are refused, cut or walked, never a `RecursionError` (JN-059)."""
    value = nested(50_000)

    with pytest.raises(RedactionError):
        DEFAULT_REDACTOR(value)
    assert Redactor(max_depth=1, on_too_deep="name")(value) == [["[Deep]"]]
    assert encode_canonical(Redactor(max_depth=50_000)(value)) == refuse("payload", "could not be canonicalized")


@pytest.mark.parametrize(
    "value",
    [(1, SECRET), {SECRET}, object(), PlainDict(a=SECRET), PlainStr(SECRET), 1j],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_json_stays_for_the_encoder_to_refuse(value: object) -> None:
    """Redaction does not look into it (JN-043)."""
    result = DEFAULT_REDACTOR([value])

    assert cast("list[object]", result)[0] is value


def test_nothing_is_kept_of_an_object_with_foreign_names() -> None:
    """A stand-in that is no JSON either takes its place, so that nothing in it can pass unredacted."""
    result = DEFAULT_REDACTOR([{1: SECRET}])

    assert result == [{None: None}]


def test_a_hook_encodes_what_is_no_json() -> None:
    """Its answer is walked at the same depth; its own refusal leaves the value (JN-057, JN-043)."""

    def listed(value: object) -> object:
        if type(value) is not tuple:
            raise TypeError
        return list(value)

    redactor = Redactor(max_depth=2, default=listed)

    assert redactor([(1, SECRET), {2}]) == [[1, "[REDACTED_API_KEY]"], {2}]


def test_a_hook_that_answers_the_value_itself_is_circular() -> None:
    """So is one whose answer leads back to the value (JN-057)."""
    value = object()

    assert Redactor(default=lambda value: value)([value]) == ["[Circular]"]
    assert Redactor(default=lambda value: {"self": value})([value]) == [{"self": "[Circular]"}]


def test_a_hook_is_not_asked_for_what_is_known() -> None:
    """JSON, absence, binary and functions have a meaning of their own (JN-057, JN-058)."""
    value = {"a": [None, True, 1, 1.5, "text", ABSENT, b"", bytearray(), memoryview(b""), len, dict]}
    redactor = Redactor(default=lambda value: "asked")

    assert redactor(value) == DEFAULT_REDACTOR(value)


def test_a_hook_is_asked_once_and_not_for_functions() -> None:
    """An answer that is no JSON is none; functions are named although a hook would take them (JN-057)."""
    value = object()
    asked: list[object] = []

    def hook(value: object) -> object:
        asked.append(value)
        return 1j

    result = Redactor(default=hook)([value, len])

    assert result == [value, "[Function]"]
    assert asked == [value]


@pytest.mark.parametrize("name", VALUES)
def test_no_code_of_a_value_runs(name: str) -> None:
    """Whatever the value is, redaction ends by itself, or says that it is too deep (JN-059)."""
    value = VALUES[name]()
    too_deep = False
    try:
        DEFAULT_REDACTOR(value)
    except RedactionError:
        too_deep = True

    assert too_deep == (name == "million arrays")


@pytest.mark.parametrize("kind", [hostile.HostileDict, hostile.HostileStr, hostile.HostileByMetaclass])
def test_no_code_of_a_member_runs(kind: type) -> None:
    """Nor when the value stands under a sensitive or a counting name (JN-054)."""
    value = hostile.hostile_instance(kind)
    result = cast("dict[str, object]", DEFAULT_REDACTOR({"tokens": value, "password": value, "a": value}))

    assert result["a"] is value
    assert result["tokens"] == result["password"] == "[REDACTED]"


@given(value=LIVE)
def test_redacting_again_changes_nothing(value: object) -> None:
    """The whole redaction reaches a fixed point, and never raises (JN-060)."""
    once = DEFAULT_REDACTOR(value)

    assert same(DEFAULT_REDACTOR(once), once)


@given(
    value=LIVE, depth=st.integers(0, 3), rules=st.sampled_from([(), (RedactionRule("a", re.compile("[a-zA]"), "b"),)])
)
def test_other_redactors_reach_a_fixed_point_too(value: object, depth: int, rules: tuple[RedactionRule, ...]) -> None:
    """With other rules, and with marks for what is too deep (JN-059, JN-060, JN-061)."""
    redactor = Redactor(rules=rules, max_depth=depth, on_too_deep="name")
    once = redactor(value)

    assert same(redactor(once), once)


def test_the_noop_redactor_changes_nothing() -> None:
    """It answers the very value (JN-064)."""
    value = {"password": SECRET}

    assert make_noop_redactor()(value) is value


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ('{ "b" : "sk-abcdefgh", "a": {"password": 1} }', '{"b":"[REDACTED_API_KEY]","a":{"password":"[REDACTED]"}}'),
        ('"é"', '"é"'),
        ("1e400", "null"),
        ("9007199254740993", "9007199254740992"),
        ('{"password":', '{"password":'),
        ("", ""),
        ("NaN", "NaN"),
        ('"\\ud800"', '"[REDACTED]"'),
        ("[" * 300 + "]" * 300, '"[REDACTED]"'),
        ("[" * 100_000 + "]" * 100_000, '"[REDACTED]"'),
        ("[" * 100_000, "[" * 100_000),
        ("[" * 100_000 + '"\\ud800"' + "]" * 100_000, '"[REDACTED]"'),
    ],
    ids=lambda text: text[:20],
)
def test_json_text_is_redacted_as_its_value(text: str, redacted: str) -> None:
    """No JSON passes as it is; JSON that cannot be redacted or written becomes the placeholder (JN-063)."""
    assert redact_json_string(text) == redacted


@pytest.mark.parametrize("redact", [lambda value: 1 // 0, lambda value: ABSENT, lambda value: {1}], ids=range(3))
def test_json_text_survives_any_redactor(redact: Callable[[object], object]) -> None:
    """A redactor that fails, or answers no JSON, leaves the placeholder (JN-063)."""
    assert redact_json_string('{"a":1}', redact) == '"[REDACTED]"'
