"""No rule takes more than time linear in the text (JN-062), shown on texts made against each rule's pattern.

What is measured is processor time, the best of some runs, on texts of which one is sixteen times as long as the
other: linear work grows sixteenfold, quadratic work 256-fold. The bound lies between, far from both.
"""

import time
from collections.abc import Callable
from typing import Final

import pytest

from tenure_model.admission.canonical_json import encode_canonical
from tenure_model.admission.redaction.baseline import BASELINE_RULES
from tenure_model.admission.redaction.names import is_sensitive_name
from tenure_model.admission.redaction.redactor import DEFAULT_REDACTOR
from tenure_model.admission.redaction.rules import TextRule, redact_text

SHORT: Final = 8_000
TIMES_LONGER: Final = 16
MOST_GROWTH: Final = 64

HOSTILE: Final = {
    "scheme letters": "a",
    "schemes": "a://",
    "users without password": "a://b",
    "users and passwords without host": "a://b:c",
    "urls": "a://b:c@ ",
    "no schemes": "1://b:c@",
    "white space": " ",
    "Bearer": "bearer ",
    "Bearer without space": "bearer",
    "Bearer and white space": "bearer    ",
    "Basic": "basic ",
    "eyJ": "eyJ",
    "eyJ and dots": "eyJ.",
    "headers of tokens": "eyJabcdefghij.",
    "tokens of two parts": "eyJabcdefghijk.a ",
    "dashes": "-",
    "BEGIN": "-----BEGIN ",
    "BEGIN markers": "-----BEGIN PRIVATE KEY-----",
    "END and BEGIN markers": "-----END PRIVATE KEY----------BEGIN PRIVATE KEY-----",
    "sk": "sk-",
    "short keys": "sk-abcdef ",
    "ghp": "ghp_",
    "github_pat": "github_pat_",
    "AKIA": "AKIA",
    "xox": "xoxb-",
    "AIza": "AIza",
    "names": "key",
    "names and white space": "key    ",
    "empty assignments": "key=",
    "redacted assignments": "key=[REDACTED]",
    "open quotes": 'key="',
    "open single quotes": "key='",
    "open quotes of both kinds": "key=\"'",
    "open and escaped quotes": 'key="\\" ',
    "cookies": "cookie  ",
    "open cookies": 'session="',
    "open and escaped cookies": 'session="\\"',
    "cookies and commas": 'session=",',
    "quotes": '"',
    "escaped quotes": '\\"',
    "backslashes": "\\",
    "names in quotes": '"key"',
    "members without value": '"key":',
    "members with open value": '"key":"',
    "members with escaped quotes": '"key":"\\"',
    "members that do not matter": '"a":"b',
    "names that open nothing": 'key":"',
}

OPENINGS: Final = ("", 'key="', '"key":"', "session='", 'key="\\', "-----BEGIN PRIVATE KEY-----", "eyJabcdefghij.b.c")
"""What stands before the hostile text, so that it is also met from within a match."""


def filled(opening: str, unit: str, length: int) -> str:
    """``opening`` and as many times ``unit`` as make it ``length`` long."""
    return opening + unit * (length // len(unit))


def growth(work: Callable[[str], object], opening: str, unit: str) -> float:
    """How many times longer the work takes on a text sixteen times as long; what looks bad is measured more closely."""
    short, long = (filled(opening, unit, length) for length in (SHORT, SHORT * TIMES_LONGER))
    ratio = 0.0
    for runs in (1, 3, 7):
        # Times below a tenth of a millisecond are noise; quadratic work on the longer text takes thousands of them.
        ratio = best_time(work, long, runs) / max(best_time(work, short, runs), 1e-4)
        if ratio < MOST_GROWTH:
            break
    return ratio


def best_time(work: Callable[[str], object], text: str, runs: int) -> float:
    """The shortest processor time of some runs, in seconds."""
    times = []
    for _ in range(runs):
        started = time.process_time()
        work(text)
        times.append(time.process_time() - started)
    return min(times)


def quadratic(text: str) -> int:
    """Work that looks at every pair of a sample of the characters."""
    sample = text[::40]
    return sum(1 for _ in sample for _ in sample)


def test_the_measure_tells_quadratic_work() -> None:
    """Work that is not linear is seen to grow too much."""
    assert growth(quadratic, "", "a") >= MOST_GROWTH


@pytest.mark.parametrize("rule", BASELINE_RULES, ids=lambda rule: str(rule.id))
def test_a_rule_is_linear(rule: TextRule) -> None:
    """One pass of one rule, over every hostile text after every opening (JN-062)."""
    worst = {
        f"{name} after {opening!r}": growth(rule.apply, opening, unit)
        for name, unit in HOSTILE.items()
        for opening in OPENINGS
    }

    assert {name: by for name, by in worst.items() if by >= MOST_GROWTH} == {}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE)
def test_all_rules_until_stable_are_linear(unit: str) -> None:
    """The passes do not multiply with the length of the text (JN-060, JN-062)."""
    assert growth(lambda text: redact_text(text, BASELINE_RULES), '"key":"', unit) < MOST_GROWTH


def test_blocks_in_one_another_do_not_multiply() -> None:
    """Every pass takes out one block of very many; the eighth pass ends it (JN-065)."""

    def nested(text: str) -> str:
        count = len(text) // 60
        return redact_text("-----BEGIN PRIVATE KEY-----" * count + "-----END PRIVATE KEY-----" * count, BASELINE_RULES)

    assert growth(nested, "", "a") < MOST_GROWTH


@pytest.mark.parametrize("unit", ["a", "s", "é", "-", "key", "-key"])
def test_names_are_judged_in_linear_time(unit: str) -> None:
    """A long member name is no trap either (JN-052, JN-055)."""
    assert growth(is_sensitive_name, "", unit) < MOST_GROWTH


def test_wide_values_are_walked_in_linear_time() -> None:
    """Redaction and encoding take time linear in the number of values."""

    def wide(text: str) -> object:
        count = len(text) // 40
        value = [{f"m{number}": [number, "text"], "a": None} for number in range(count)]
        return encode_canonical(DEFAULT_REDACTOR({f"k{number}": number for number in range(count)} | {"list": value}))

    assert growth(wide, "", "a") < MOST_GROWTH
