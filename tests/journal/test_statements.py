"""Tests of how the journal's statements find their rows."""

import pytest

from tenure.journal.statements import STATEMENTS
from tests.journal.support import World


@pytest.mark.parametrize("statement", STATEMENTS)
def test_no_statement_scans_a_table(world: World, statement: str) -> None:
    """Each finds its rows by a key or an index, and sorts nothing but what a filter or a union found."""
    bindings = [None] * 9
    used = max(number for number in range(10) if number == 0 or f"?{number}" in statement)
    plan = [row[3] for row in world.store.database.rows(f"EXPLAIN QUERY PLAN {statement}", bindings[:used])]
    scans = [
        step
        for step in plan
        if step.startswith("SCAN")
        and "VIRTUAL TABLE" not in step
        and "startup_idx" not in step
        and "CONSTANT" not in step
    ]

    assert scans == []
