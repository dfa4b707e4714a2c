"""The rules in specs/rules and the code that cites them keep each other complete.

A rule is defined by its id in bold (``**RS-nnn**``, ``**JN-nnn**``) and cited by its id, or by a range of two ids with
two dots between them, in a Python file of the model, the implementation or the tests. The rows of
``specs/rules/uncited.md`` cover the rules that nothing cites: each row is an id or a range, and the reason. A row stays
as long as any rule in it is uncited.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "specs" / "rules"
INDEX = RULES / "README.md"
UNCITED = RULES / "uncited.md"
CITING_FOLDERS = ("model", "impl", "tests")

# A range stays within one family: two dots between ids of different families are just two ids.
SPAN = r"((RS|JN)-\d+)(?:\.\.(\2-\d+))?"
DEFINITION = re.compile(r"\*\*((?:RS|JN)-\d+)\*\*")
CITATION = re.compile(rf"\b{SPAN}")
UNCITED_ROW = re.compile(rf"^\| {SPAN} \|([^|]*)\|$", re.MULTILINE)
INDEX_ROW = re.compile(r"^\| \[([^\]]*)\]\(\1\) \|[^|]*\|([^|]*)\|$", re.MULTILINE)


class Span(NamedTuple):
    """The rules of a family from the first id to the last, both included."""

    first: str
    last: str

    def __contains__(self, rule: object) -> bool:
        """Whether the rule is in the family and between the ends."""
        first, last = order_of(self.first), order_of(self.last)
        return isinstance(rule, str) and first <= order_of(rule) <= last

    def __str__(self) -> str:
        """The span as text cites it."""
        return self.first if self.first == self.last else f"{self.first}..{self.last}"


class UncitedRow(NamedTuple):
    """A row of uncited.md."""

    span: Span
    reason: str

    def __str__(self) -> str:
        """The row as it stands in the file."""
        return f"| {self.span} | {self.reason} |"


def order_of(rule: str) -> tuple[str, int]:
    """A rule's family and its number in it, by which rules are ordered."""
    family, number = rule.split("-")
    return family, int(number)


def in_order(rules: Iterable[str]) -> list[str]:
    """The rules by family and number."""
    return sorted(rules, key=order_of)


def spans_in(text: str) -> Iterator[Span]:
    """Every id and every range that stands in the text."""
    for first, _, last in CITATION.findall(text):
        yield Span(first, last or first)


def named_in(text: str) -> Iterator[str]:
    """Every rule id that stands in the text, both ends of a range included."""
    for span in spans_in(text):
        yield from dict.fromkeys(span)


def cited_in(text: str, defined: Iterable[str]) -> set[str]:
    """The defined rules that the text cites, a range citing all that lie within it."""
    spans = set(spans_in(text))
    return {rule for rule in defined if any(rule in span for span in spans)}


def rows_in(text: str) -> list[UncitedRow]:
    """The rows of a list of uncited rules, in its order."""
    return [UncitedRow(Span(first, last or first), why.strip()) for first, _, last, why in UNCITED_ROW.findall(text)]


def unlisted(rows: Iterable[UncitedRow], defined: Iterable[str], cited: set[str]) -> list[str]:
    """The rules that nothing cites and no row covers."""
    spans = [row.span for row in rows]
    return in_order(rule for rule in defined if rule not in cited and not any(rule in span for span in spans))


def stale(rows: Iterable[UncitedRow], defined: Iterable[str], cited: set[str]) -> list[UncitedRow]:
    """The rows in which every rule is cited, or which cover none."""
    uncited = set(defined) - cited
    return [row for row in rows if not any(rule in row.span for rule in uncited)]


def rule_texts() -> Mapping[Path, str]:
    """The text of every rule file."""
    return {path: path.read_text("utf-8") for path in sorted(RULES.rglob("*.md"))}


def citing_texts() -> Mapping[Path, str]:
    """The text of every Python file whose citations count; this file's examples do not."""
    paths = (path for folder in CITING_FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))
    return {path: path.read_text("utf-8") for path in paths if path != Path(__file__).resolve()}


def rules_by_file() -> Mapping[Path, list[str]]:
    """The ids that each rule file defines, as often as it does."""
    return {path: DEFINITION.findall(text) for path, text in rule_texts().items()}


def defined_rules() -> Counter[str]:
    """How often each rule is defined."""
    return Counter(rule for rules in rules_by_file().values() for rule in rules)


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
        ("JN-2", ["JN-2"]),
        ("JN-1..JN-3", ["JN-2", "JN-3"]),
        ("JN-2..RS-9", ["JN-2", "RS-9"]),
    ],
)
def test_a_citation_is_an_id_or_a_range(text: str, expected: list[str]) -> None:
    """A range cites the defined rules of its family between its ends, and an id is never taken for a longer one."""
    actual = cited_in(text, ("RS-1", "RS-2", "RS-3", "RS-9", "RS-10", "JN-2", "JN-3"))

    assert in_order(actual) == in_order(expected)


@pytest.mark.parametrize(
    ("cited", "missing", "superfluous"),
    [
        (set[str](), ["JN-9"], []),
        ({"JN-2", "JN-9"}, [], []),
        ({"JN-2", "JN-3", "JN-9"}, [], ["| JN-1..JN-3 | later |"]),
        ({"RS-1", "JN-9"}, [], ["| RS-1 | never |"]),
    ],
)
def test_a_row_stays_while_any_rule_in_it_is_uncited(
    cited: set[str], missing: list[str], superfluous: list[str]
) -> None:
    """A row of one rule is stale when that is cited, a row of a range when all of its rules are."""
    defined = ("RS-1", "JN-2", "JN-3", "JN-9")
    rows = rows_in("| rule | reason |\n| --- | --- |\n| RS-1 | never |\n| JN-1..JN-3 | later |\n")

    assert unlisted(rows, defined, cited) == missing
    assert [str(row) for row in stale(rows, defined, cited)] == superfluous


def test_each_rule_is_defined_once() -> None:
    """No id is defined in two places, and there are rules to speak of in both families."""
    defined = defined_rules()

    assert {order_of(rule)[0] for rule in defined} == {"RS", "JN"}
    assert [rule for rule, times in defined.items() if times > 1] == []


def test_the_index_names_each_rule_file_and_the_rules_in_it() -> None:
    """README.md has one row for each other file, and the ranges in it cover the rules of that file and no others."""
    defined = defined_rules()
    rows = INDEX_ROW.findall(INDEX.read_text("utf-8"))
    expected = {str(path.relative_to(RULES)): in_order(rules) for path, rules in rules_by_file().items()}
    del expected[INDEX.name]

    assert [name for name, times in Counter(name for name, _ in rows).items() if times > 1] == []
    assert {name: in_order(cited_in(ranges, defined)) for name, ranges in rows} == expected


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
    """uncited.md covers what nothing cites, without idle rows; the failure prints the rows to add and to remove."""
    defined = defined_rules()
    cited = cited_in("\n".join(citing_texts().values()), defined)
    rows = rows_in(UNCITED.read_text("utf-8"))
    missing = [f"| {rule} | (why nothing cites it yet) |" for rule in unlisted(rows, defined, cited)]
    superfluous = [str(row) for row in stale(rows, defined, cited)]

    if missing or superfluous:
        report = [f"add to {UNCITED.relative_to(ROOT)}:", *missing, "remove from it:", *superfluous]
        pytest.fail("\n".join(report), pytrace=False)


def test_every_uncited_rule_has_a_reason_and_one_row() -> None:
    """A row of uncited.md without a reason, or a second row for a rule, says nothing."""
    rows = rows_in(UNCITED.read_text("utf-8"))
    listed = Counter(rule for rule in defined_rules() for row in rows if rule in row.span)

    assert [str(row) for row in rows if not row.reason or row.reason.startswith("(why")] == []
    assert [rule for rule, times in listed.items() if times > 1] == []
