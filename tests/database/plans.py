"""How SQLite finds the rows of a statement."""

import re
from pathlib import Path
from types import ModuleType

import apsw

import tenure
from tests.database.support import raw

SCAN = re.compile(r"\bSCAN (flows_\w+)")
"""A step that goes through a whole table."""


def migrated(path: Path) -> apsw.Connection:
    """A raw connection to an empty, migrated database."""
    tenure.migrate(path)
    return raw(path)


def plan(connection: apsw.Connection, sql: str) -> list[str]:
    """What SQLite says it will do."""
    width = max((int(number) for number in re.findall(r"\?(\d+)", sql)), default=0)
    rows = connection.execute(f"EXPLAIN QUERY PLAN {sql}", ("x",) * width).fetchall()
    return [str(row[3]) for row in rows]


def statements_in(module: ModuleType) -> set[str]:
    """Every statement that a module names."""
    return {
        value
        for name, value in vars(module).items()
        if name.isupper() and not name.startswith("_") and isinstance(value, str)
    }
