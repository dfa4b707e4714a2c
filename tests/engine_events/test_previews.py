"""Result previews: `tenure_model.admission.engine_events.previews`."""

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure_model.admission.engine_events.previews import preview_result
from tenure_model.admission.redaction.redactor import Redactor, make_noop_redactor
from tenure_model.admission.text import utf16_length
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.engine_events.nodes import ResultPreview
from tests.engine_events.support import BAD_QUANTITIES, not_json

SECRET = "ghp_" + "a1B2" * 9
UNCHANGED = make_noop_redactor()


def test_a_small_value_is_shown_whole() -> None:
    """Its size in bytes, members in their order (JN-384)."""
    assert preview_result({"b": 1.0, "a": ["\u00e9"]}) == ResultPreview('{"b":1,"a":["\u00e9"]}', 18, False)


@pytest.mark.parametrize(("length", "truncated"), [(1_021, False), (1_022, False), (1_023, True), (5_000, True)])
def test_a_preview_has_a_longest_length(length: int, truncated: bool) -> None:
    """1,024 characters, quotes included, of a text whose whole size is told (JN-384)."""
    answer = preview_result("a" * length)

    assert isinstance(answer, ResultPreview)
    assert (answer.bytes, answer.truncated) == (length + 2, truncated)
    assert answer.preview == f'"{"a" * length}"'[:1_024]


def test_redaction_comes_before_the_cut() -> None:
    """A secret that the cut would split is gone whole (JN-384)."""
    for distance in range(1, len(SECRET) + 8):
        value = ["x" * (1_000 - distance), SECRET, "y" * 200]

        answer = preview_result(value)

        assert isinstance(answer, ResultPreview)
        assert "ghp_" not in answer.preview
        assert SECRET[:6] not in answer.preview


def test_sensitive_members_are_redacted() -> None:
    """And the size is that of the redacted text (JN-384)."""
    answer = preview_result({"password": "p" * 500, "ok": True})

    assert answer == ResultPreview('{"password":"[REDACTED]","ok":true}', 35, False)


@pytest.mark.parametrize(("length", "shown"), [(65_534, True), (65_535, False), (1_000_000, False)])
def test_a_value_that_is_too_large_to_redact_is_named_by_its_size(length: int, shown: bool) -> None:
    """64 KiB of its own JSON; nothing of it is shown (JN-384)."""
    asked: list[object] = []

    def redact(value: object) -> object:
        asked.append(value)
        return "gone"

    answer = preview_result("a" * length, redact=redact)

    assert answer == (ResultPreview('"gone"', 6, False) if shown else ResultPreview("", length + 2, True))
    assert len(asked) == int(shown)


def test_sizes_are_bytes_and_lengths_are_units() -> None:
    """No character is split: half a pair is dropped (JN-384, JN-600)."""
    value = "\U0001f600" * 4

    assert preview_result(value, max_units=5) == ResultPreview('"\U0001f600\U0001f600', 18, True)
    assert preview_result(value, max_units=6) == ResultPreview('"\U0001f600\U0001f600', 18, True)
    assert preview_result(value, max_units=10) == ResultPreview(f'"{value}"', 18, False)
    assert preview_result(value, max_redaction_bytes=18) == ResultPreview(f'"{value}"', 18, False)
    assert preview_result(value, max_redaction_bytes=17) == ResultPreview("", 18, True)
    assert preview_result(value, max_units=0) == ResultPreview("", 18, True)


def test_without_a_summary_there_is_none() -> None:
    """What is no JSON has none, nor what a redactor cannot do or makes no JSON of (JN-384)."""

    def refuse(_: object) -> object:
        raise ValueError

    assert preview_result({"a": object()}) is ABSENT
    assert preview_result(1, redact=refuse) is ABSENT
    assert preview_result(1, redact=lambda _: object()) is ABSENT


def test_no_value_makes_it_raise() -> None:
    """Whatever it is, it has a preview or none (JN-384)."""
    kinds = {type(preview_result(value)) for value in not_json()}

    assert kinds == {type(ABSENT), ResultPreview}


def test_a_hook_encodes_what_is_no_json() -> None:
    """And what it answers is redacted too (JN-384)."""

    def encode(value: object) -> object:
        return {"token": str(value)}

    answer = preview_result([date(2020, 1, 2)], default=encode, redact=Redactor(default=encode))

    assert answer == ResultPreview('[{"token":"[REDACTED]"}]', 24, False)
    assert preview_result([date(2020, 1, 2)], default=encode) == answer
    assert preview_result([date(2020, 1, 2)], default=str, redact=UNCHANGED) == ResultPreview(
        '["2020-01-02"]', 14, False
    )


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=12), st.integers(0, 16))
def test_a_preview_is_a_beginning(text: str, units: int) -> None:
    """Bounded, and as long as whole characters allow (JN-384)."""
    answer = preview_result(text, max_units=units, redact=UNCHANGED)
    whole = json.dumps(text, ensure_ascii=False)

    assert isinstance(answer, ResultPreview)
    assert whole.startswith(answer.preview)
    assert utf16_length(answer.preview) <= units
    assert answer.truncated == (answer.preview != whole)
    assert answer.preview == whole or utf16_length(whole[: len(answer.preview) + 1]) > units
    assert answer.bytes == len(whole.encode())


@pytest.mark.parametrize("bound", [bound for bound in BAD_QUANTITIES if bound is not ABSENT], ids=repr)
@pytest.mark.parametrize("name", ["max_units", "max_redaction_bytes"])
def test_a_bound_is_a_safe_integer(name: str, bound: object) -> None:
    """From zero; the complaint names the parameter, whatever the value is (JN-384)."""
    bounds: Any = {name: bound}

    with pytest.raises(ValueError, match=f"^{name} must be a non-negative safe integer$"):
        preview_result("a", **bounds)
