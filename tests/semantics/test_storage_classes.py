"""What SQLite stores, as the model says, against SQLite itself."""

import math
import sqlite3

import pytest

from tenure_model.semantics.storage_classes import (
    Stored,
    in_integer_column,
    in_text_column,
    is_bindable,
    sql_length,
)

BINDABLE: list[object] = [
    None,
    True,
    False,
    0,
    7,
    -1,
    2**53,
    2**63 - 1,
    -(2**63),
    0.0,
    5.0,
    -5.0,
    5.5,
    1e15,
    2.0**53,
    1e18,
    2.0**63,
    -(2.0**63),
    1e300,
    math.inf,
    -math.inf,
    math.nan,
    "",
    "h",
    "running",
    "7",
    "+7",
    "-7",
    " 7 ",
    "\t7\n",
    "007",
    "7x",
    "x7",
    "7.0",
    "7.",
    ".5",
    ".",
    "7.5",
    "7e2",
    "7e-2",
    "7e",
    "0x10",
    "1_000",
    "\u0667",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "1e400",
    "0" * 30 + "1",
    "\0",
    "h\0x",
    "\U0001f600",
    b"",
    b"h",
    b"7",
    b"\0",
]


def stored_by_sqlite(declared: str, value: object) -> tuple[str, Stored, int | None]:
    """Storage class, value and length after one insertion into a column of this type."""
    with sqlite3.connect(":memory:") as connection:
        connection.execute(f"CREATE TABLE t (v {declared})")
        connection.execute("INSERT INTO t VALUES (?)", (value,))
        kind, content, length = connection.execute("SELECT typeof(v), v, length(v) FROM t").fetchone()
    connection.close()
    return kind, content, length


CLASSES = {"null": type(None), "integer": int, "real": float, "text": str, "blob": bytes}


@pytest.mark.parametrize("value", BINDABLE, ids=repr)
def test_integer_columns(value: object) -> None:
    """Class and value of an INTEGER column are SQLite's."""
    kind, content, _ = stored_by_sqlite("INTEGER", value)
    stored = in_integer_column(value)

    assert is_bindable(value)
    assert type(stored) is CLASSES[kind]
    assert stored == content


@pytest.mark.parametrize("value", BINDABLE, ids=repr)
def test_text_columns(value: object) -> None:
    """Class and length of a TEXT column are SQLite's; how it writes a float is its own affair."""
    kind, content, length = stored_by_sqlite("TEXT", value)
    stored = in_text_column(value)

    assert type(stored) is CLASSES[kind]
    if stored is not None and not isinstance(value, float):
        assert stored == content
        assert sql_length(stored) == length


@pytest.mark.parametrize("value", ["\ud800", "a\udfff", 2**63, -(2**63) - 1, object(), [], {}, (), 1j])
def test_what_no_driver_binds(value: object) -> None:
    """Lone surrogates, integers beyond 64 bits and other types never reach a column."""
    assert not is_bindable(value)
