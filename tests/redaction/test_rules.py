"""A caller's own rules, and the fixed point: `tenure_model.admission.redaction.rules`."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure_model.admission.redaction.marks import MARKS
from tenure_model.admission.redaction.redactor import Redactor
from tenure_model.admission.redaction.rules import RedactionRule, redact_text

PATTERNS = ("a", "b+", "aa", "[ab]c?", "", "^a", "c$", r"\[", "REDACTED", "Deep", "(a)(b)?")
REPLACEMENTS = ("[REDACTED]", "", "a", "b", "ab", "aa", r"[\g<0>]")

RULES = st.lists(
    st.builds(
        RedactionRule,
        id=st.just("own"),
        pattern=st.sampled_from(PATTERNS).map(re.compile),
        replacement=st.sampled_from(REPLACEMENTS),
    ),
    max_size=3,
)


def test_every_match_becomes_the_placeholder() -> None:
    """A rule without a replacement takes out its whole matches, all of them (JN-061)."""
    rule = RedactionRule("ssn", re.compile(r"\d{3}-\d{2}-\d{4}"))

    assert rule.apply("123-45-6789 and 987-65-4321") == "[REDACTED] and [REDACTED]"


def test_a_replacement_may_keep_parts_of_the_match() -> None:
    """The replacement is a template (JN-061)."""
    rule = RedactionRule("pin", re.compile(r"(pin )\d+"), r"\1****")

    assert rule.apply("pin 1234") == "pin ****"


@pytest.mark.parametrize(("pattern", "replacement"), [("a", r"\1"), ("a", r"\g<b>"), ("a", "\\"), (b"a", "b")])
def test_a_rule_that_can_never_apply_is_refused_when_built(pattern: str | bytes, replacement: str) -> None:
    """A faulty template shows at once, not with the first match (JN-061)."""
    with pytest.raises((re.error, IndexError, TypeError)):
        RedactionRule("own", re.compile(pattern), replacement)  # type: ignore[arg-type]  # bytes are part of the test


def test_rules_of_ones_own_replace_the_built_in_ones() -> None:
    """A list of rules stands instead of the built-in list, an empty one for no rule at all (JN-061)."""
    value = {"text": "sk-abcdefgh 42", "password": "x"}
    rule = RedactionRule("digits", re.compile(r"\d+"))

    own = Redactor(rules=[rule])(value)
    none = Redactor(rules=[])(value)

    assert own == {"text": "sk-abcdefgh [REDACTED]", "password": "[REDACTED]"}
    assert none == {"text": "sk-abcdefgh 42", "password": "[REDACTED]"}


def test_passes_are_made_until_nothing_changes() -> None:
    """Seven changes settle within the eight passes, eight do not (JN-060, JN-065)."""
    rule = RedactionRule("shorten", re.compile("^aa"), "a")

    assert redact_text("a" * 8, [rule]) == "a"
    assert redact_text("a" * 9, [rule]) == "[REDACTED]"


def test_a_rule_that_multiplies_the_text_is_stopped() -> None:
    """A text that grows beyond measure is replaced whole, before eight passes have made it huge."""
    lengths: list[int] = []

    class Watched:
        id = "watched"

        def apply(self, text: str) -> str:
            lengths.append(len(text))
            return text * 10

    assert redact_text("a" * 10_000, [Watched()]) == "[REDACTED]"
    assert lengths == [10_000, 100_000]


@pytest.mark.parametrize("mark", sorted(MARKS))
def test_marks_are_left_alone(mark: str) -> None:
    """No rule touches what redaction itself has written (JN-051, JN-060)."""
    assert redact_text(mark, [RedactionRule("all", re.compile("[a-zA-Z]"), "x")]) == mark


@given(rules=RULES, text=st.text("abc[]REDACT", max_size=12))
def test_any_rules_reach_a_fixed_point(rules: list[RedactionRule], text: str) -> None:
    """Whatever the rules are, redacting again changes nothing (JN-060)."""
    once = redact_text(text, rules)

    assert redact_text(once, rules) == once
