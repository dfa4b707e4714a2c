"""The rules in specs/rules and the code that cites them keep each other complete.

A rule is defined by its id in bold (``**RS-nnn**``) and cited by its id, or by a range of two ids with two dots between
them, in a Python file of the model, the implementation or the tests. ``specs/rules/uncited.md`` lists the rules that
nothing cites, one table row each with the reason.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "specs" / "rules"
UNCITED = RULES / "uncited.md"
CITING_FOLDERS = ("model", "impl", "tests")

DEFINITION = re.compile(r"\*\*(RS-\d+)\*\*")
CITATION = re.compile(r"\b(RS-\d+)(?:\.\.(RS-\d+))?")
UNCITED_ROW = re.compile(r"^\| (RS-\d+) \|([^|]*)\|$", re.MULTILINE)


def number_of(rule: str) -> int:
    """The number in a rule's id, by which rules are ordered."""
    return int(rule.removeprefix("RS-"))


def in_order(rules: Iterable[str]) -> list[str]:
    """The rules by number."""
    return sorted(rules, key=number_of)


def named_in(text: str) -> Iterator[str]:
    """Every rule id that stands in the text, both ends of a range included."""
    for match in CITATION.finditer(text):
        yield from (rule for rule in match.groups() if rule is not None)


def cited_in(text: str, defined: Iterable[str]) -> set[str]:
    """The defined rules that the text cites, a range citing all that lie within it."""
    cited: set[str] = set()
    for first, last in CITATION.findall(text):
        span = range(number_of(first), number_of(last or first) + 1)
        cited.update(rule for rule in defined if number_of(rule) in span)
    return cited


def rule_texts() -> Mapping[Path, str]:
    """The text of every rule file."""
    return {path: path.read_text("utf-8") for path in sorted(RULES.glob("*.md"))}


def citing_texts() -> Mapping[Path, str]:
    """The text of every Python file whose citations count; this file's examples do not."""
    paths = (path for folder in CITING_FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))
    return {path: path.read_text("utf-8") for path in paths if path != Path(__file__).resolve()}


def defined_rules() -> Counter[str]:
    """How often each rule is defined."""
    return Counter(rule for text in rule_texts().values() for rule in DEFINITION.findall(text))


def uncited_reasons() -> list[tuple[str, str]]:
    """The rules that uncited.md lists, each with its reason, in the file's order."""
    return [(rule, reason.strip()) for rule, reason in UNCITED_ROW.findall(UNCITED.read_text("utf-8"))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no rule here, nor in XRS-1", []),
        ("the order (RS-1)", ["RS-1"]),
        ("RS-1, RS-3", ["RS-1", "RS-3"]),
        ("RS-2..RS-9", ["RS-2", "RS-3", "RS-9"]),
        ("RS-9..RS-2", []),
        ("RS-4..RS-8", []),
        ("RS-10", ["RS-10"]),
    ],
)
def test_a_citation_is_an_id_or_a_range(text: str, expected: list[str]) -> None:
    """A range cites the defined rules between its ends, and an id is never taken for a longer one."""
    actual = cited_in(text, ("RS-1", "RS-2", "RS-3", "RS-9", "RS-10"))

    assert in_order(actual) == expected


def test_each_rule_is_defined_once() -> None:
    """No id is defined in two places, and there are rules to speak of."""
    defined = defined_rules()

    assert defined
    assert [rule for rule, times in defined.items() if times > 1] == []


def test_only_rules_that_exist_are_cited() -> None:
    """Every id that code, tests or the rules themselves name is defined."""
    defined = defined_rules()
    texts = {**citing_texts(), **rule_texts()}
    unknown = [
        f"{path.relative_to(ROOT)}: {rule}"
        for path, text in texts.items()
        for rule in in_order(set(named_in(text)) - set(defined))
    ]

    assert unknown == []


def test_every_rule_is_cited_or_listed_as_uncited() -> None:
    """uncited.md lists exactly the rules that nothing cites; the failure prints the rows to add and to remove."""
    defined = defined_rules()
    cited = cited_in("\n".join(citing_texts().values()), defined)
    listed = {rule for rule, _ in uncited_reasons()}
    missing = [f"| {rule} | (why nothing cites it yet) |" for rule in in_order(set(defined) - cited - listed)]
    stale = [f"| {rule} | {reason} |" for rule, reason in uncited_reasons() if rule in cited or rule not in defined]

    if missing or stale:
        report = [f"add to {UNCITED.relative_to(ROOT)}:", *missing, "remove from it:", *stale]
        pytest.fail("\n".join(report), pytrace=False)


def test_every_uncited_rule_has_a_reason_and_one_row() -> None:
    """A row of uncited.md without a reason, or a second row for a rule, says nothing."""
    rows = uncited_reasons()

    assert [rule for rule, reason in rows if not reason or reason.startswith("(why")] == []
    assert [rule for rule, times in Counter(rule for rule, _ in rows).items() if times > 1] == []
