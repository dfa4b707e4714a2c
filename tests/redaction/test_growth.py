"""No rule takes more than time linear in the text (JN-062), shown on texts made against each rule's pattern.

What is measured is processor time, the best of some runs, on texts of which one is sixteen times as long as the
other: linear work grows sixteenfold, quadratic work 256-fold. The bound lies between, far from both. There are texts
that somebody thought of, long ones, and all that can be made in a few ways of what a rule's pattern looks for.
"""

import re
import time
from collections.abc import Callable, Iterator
from itertools import pairwise, product
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

PIECES: Final = {
    "url-credentials": ("://@ ", ("://", ":", "@", "/", " ", "a", "1")),
    "bearer-token": ("", ("bearer", " ", "a", "=", ".")),
    "basic-authorization": ("", ("basic", " ", "a", "=", ".")),
    "jwt": ("", ("eyJ", ".", "a", " ", "-")),
    "private-key-block": ("PRIVATE KEY ", ("-----", "-", "BEGIN ", "A", "-----BEGIN PRIVATE KEY-----")),
    "api-key": ("", ("sk-", "pk_", "a", "-", "_", " ")),
    "github-token": ("", ("ghp_", "a", "_", " ")),
    "github-fine-grained-token": ("", ("github_pat_", "a", "_", " ")),
    "aws-access-key": ("", ("AKIA", "A", "_", " ")),
    "slack-token": ("", ("xox", "xoxb-", "a", "-", " ")),
    "google-api-key": ("", ("AIza", "a", "_", " ")),
    "assignment": (": ", ("key", "s", " ", "=", '"', "'", "\\", "a", "[redacted]")),
    "cookie-session-assignment": ("= ", ("cookie", "s", " ", "=", '"', "'", "\\", "a", ";")),
    "embedded-json-credential": ('": ', ("key", '"', ":", " ", "\\", "a")),
}
"""For each rule: what it wants to see anywhere before it looks closely, and its words, spaces and delimiters."""

RUNGS: Final = (8, 20, 256, 4_096)
"""How often a piece is repeated: 20 times tell exponential work, 256 times cubic work, the last quadratic work."""


def pieced(front: str, pieces: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Every prefix of up to two pieces, repeated unit and suffix; the unit has two pieces where the prefix has not."""
    one, two = ("", *pieces), tuple(map("".join, product(pieces, repeat=2)))
    yield from product([front + prefix for prefix in (*one, *two)], pieces, one)
    yield from product([front + prefix for prefix in one], two, one)


def growing_rung(work: Callable[[str], object], prefix: str, unit: str, suffix: str) -> int | None:
    """The first rung on which the work takes too many times longer than on the one before; none behind it is tried."""
    texts = {times: prefix + unit * times + suffix for times in RUNGS}
    for short, long in pairwise(RUNGS):
        if growth_between(work, texts[short], texts[long]) >= MOST_GROWTH:
            return long
    return None


def filled(opening: str, unit: str, length: int) -> str:
    """``opening`` and as many times ``unit`` as make it ``length`` long."""
    return opening + unit * (length // len(unit))


def growth(work: Callable[[str], object], opening: str, unit: str) -> float:
    """How many times longer the work takes on a text sixteen times as long."""
    return growth_between(work, *(filled(opening, unit, length) for length in (SHORT, SHORT * TIMES_LONGER)))


def growth_between(work: Callable[[str], object], short: str, long: str) -> float:
    """How many times longer the work takes on the second text; what looks bad is measured more closely."""
    ratio = 0.0
    for runs in (1, 3, 7):
        longer = best_time(work, long, runs)
        # Shorter times than these are noise; quadratic work on the longer text takes hundreds of them.
        ratio = longer / max(best_time(work, short, runs), 5e-6)
        # Nothing linear takes as long as a second, so a second look would only take long.
        if ratio < MOST_GROWTH or longer > 1:
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


@pytest.mark.parametrize(("pattern", "rung"), [("(a|a)*b", 20), ("a*a*b", 256), ("a*b", 4_096), ("a*+b?", None)])
def test_the_rungs_tell_what_grows(pattern: str, rung: int | None) -> None:
    """Exponential and cubic work are stopped while they are small, and quadratic work is seen."""
    assert growing_rung(re.compile(pattern).findall, "", "a", "") == rung


@pytest.mark.parametrize("rule", BASELINE_RULES, ids=lambda rule: str(rule.id))
def test_a_rule_is_linear(rule: TextRule) -> None:
    """One pass of one rule, over every hostile text after every opening (JN-062)."""
    growing = (
        (opening, name)
        for name, unit in HOSTILE.items()
        for opening in OPENINGS
        if growth(rule.apply, opening, unit) >= MOST_GROWTH
    )

    assert next(growing, None) is None


@pytest.mark.parametrize("rule", BASELINE_RULES, ids=lambda rule: str(rule.id))
def test_a_rule_is_linear_in_repetitions_of_its_own_pieces(rule: TextRule) -> None:
    """Whatever stands before them, and whatever makes the match fail behind them (JN-062)."""
    front, pieces = PIECES[str(rule.id)]
    growing = ((text, rung) for text in pieced(front, pieces) if (rung := growing_rung(rule.apply, *text)) is not None)

    assert next(growing, None) is None


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
