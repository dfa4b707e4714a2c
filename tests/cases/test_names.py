"""Which failures from the field there are, and that each of them has a test under its name."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

CASES = {
    "BR-01": "an abandoned owner passes for its namesake and writes over its replacement",
    "BR-02": "a superseded owner's heartbeats go on succeeding",
    "BR-04": "a comparison is dropped because what it compares with is missing",
    "BR-05": "the failure of a fenced-off owner lands on its successor's work",
    "BR-06": "a slow owner and its replacement both complete",
    "BR-07": "a lock's version cannot tell an older holder from a newer one",
    "BR-08": "the first holder goes on writing after a partition",
    "BR-11": "a zombie becomes the owner again on the way to noticing that it is dead",
    "BR-12": "the body of a lost run keeps working and publishes",
    "BR-13": "a restarted node's orphans look alive for ever, because it has the same name",
    "BR-14": "a side table, or somebody else's beats, decide who is dead",
    "BR-16": "an unrelated process under the dead holder's id keeps the lock",
    "BR-17": "a peer with a shorter lease steals early",
    "BR-18": "clocks that differ make a live lease look stale",
    "BR-19": "old silence is held against a renewed lease",
    "BR-20": "a clock that steps back shortens the lease",
    "BR-22": "a beat waits behind other writers while its lease runs out",
    "BR-23": "an owner infers its loss from its own clock and never beats again",
    "BR-25": "a beat's period leaves no room for its retry",
    "BR-26": "a node that was cut off works before its first successful beat",
    "BR-27": "live work is taken for dead and run again",
    "BR-29": "a rescue checks nothing but the id",
    "BR-30": "the loser of a recovery goes on as the winner",
    "BR-32": "a passing failure in a takeover is dropped, and leaves half of it",
    "BR-33": "a call answers failure and has committed",
    "BR-35": "a crash between claim and start leaves a run claimed for ever",
    "BR-36": "an accepted run vanishes in a crash",
    "BR-37": "nobody looks whether a conditional update changed a row",
    "BR-38": "an operation sets a combination of columns that the table forbids",
    "BR-39": "cancel and completion cross, and one is lost without a signal",
    "BR-41": "a cancel of a run that does not exist yet is reported as delivered",
    "BR-42": "a cancel is seen only at the next heartbeat",
    "BR-43": "a reader passes a number that is committed later",
    "BR-45": "a missing number stalls a reader for ever",
    "BR-46": "two appending processes kill each other's transactions",
    "BR-47": "a crash in a compaction gives a number out twice, or hides an entry",
    "BR-50": "an event that is sent twice is stored twice",
    "BR-51": "new content under a used identity is dropped as a duplicate",
    "BR-52": "transactions that die busy, and acknowledged commits lost with the power",
    "BR-54": "a value at the edge is accepted here and refused there, or breaks the next call",
}
"""Each case in one sentence."""


def named_cases():
    """Every test whose docstring starts with the names of cases: (file, function, names)."""
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                start = re.match(r"((?:BR-\d\d(?:, )?)+): ", ast.get_docstring(node) or "")
                if start:
                    yield path, node.name, start[1].split(", ")


@pytest.mark.parametrize("case", CASES)
def test_every_case_has_a_test(case):
    """Each failure is tested under its name."""
    assert any(case in names for _, _, names in named_cases())


def test_names_and_docstrings_agree():
    """A test of this folder that is named after cases says so in its docstring, and names no other."""
    for path, function, names in named_cases():
        if path.parent.name == "cases":
            numbers = re.findall(r"(?:br|and)_(\d\d)", function)

            assert [f"BR-{number}" for number in numbers] == names, function
