"""Tests of the SQLite engine: what it asserts when it opens, and how it reports failure."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import cast

import apsw
import pytest

import tenure
from tenure.database.engine import CommitUnknownError, DatabaseError, OpenError, UndecodableTextError
from tenure.database.sqlite import SqliteConnection, SqliteEngine
from tests.database.support import contents, raw

PRAGMAS = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 5_000}


def test_file_settings(tmp_path: Path) -> None:
    """A file opens in WAL with full synchronisation, foreign keys on, and five seconds of patience."""
    connection = SqliteEngine(str(tmp_path / "runs.db")).connect()

    assert {name: connection.rows(f"PRAGMA {name}")[0][0] for name in PRAGMAS} == PRAGMAS


def test_memory_settings() -> None:
    """A memory database has the same settings, but for the journal it can have."""
    connection = SqliteEngine(":memory:").connect()

    assert {name: connection.rows(f"PRAGMA {name}")[0][0] for name in PRAGMAS} == {**PRAGMAS, "journal_mode": "memory"}


def test_busy_timeout_is_a_parameter(tmp_path: Path) -> None:
    """The patience is what the caller says."""
    connection = SqliteEngine(str(tmp_path / "runs.db"), 17).connect()

    assert connection.rows("PRAGMA busy_timeout") == [(17,)]


def test_reader_cannot_write(tmp_path: Path) -> None:
    """A connection for reading refuses to write."""
    reader = SqliteEngine(str(tmp_path / "runs.db")).connect(read_only=True)

    with pytest.raises(DatabaseError) as caught:
        reader.rows("CREATE TABLE t (x)")

    assert caught.value.code == "io"


class StubbornVfs(apsw.VFS):
    """A VFS whose files have no shared memory, as some network file systems: SQLite cannot switch to WAL there."""

    def __init__(self) -> None:
        super().__init__("stubborn", "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  # APSW's name
        return cast(apsw.VFSFile, StubbornFile(name, flags))


class StubbornFile:
    """A file that forwards everything except shared memory."""

    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._file = apsw.VFSFile("", name, flags)

    def __getattr__(self, name: str) -> object:
        if name.startswith("xShm"):
            raise AttributeError(name)
        return getattr(self._file, name)


def test_setting_that_does_not_take_is_refused(tmp_path: Path) -> None:
    """Where SQLite silently keeps another journal mode, opening fails and says which."""
    vfs = StubbornVfs()
    engine = SqliteEngine(str(tmp_path / "runs.db"), vfs="stubborn")

    with pytest.raises(OpenError) as caught:
        engine.connect()

    vfs.unregister()
    assert caught.value.code == "unsupported"
    assert "journal_mode at delete, and wal is required" in caught.value.text


def test_missing_folder(tmp_path: Path) -> None:
    """A path into a folder that does not exist is refused, and the folder is not made."""
    with pytest.raises(OpenError) as caught:
        tenure.open(tmp_path / "no" / "runs.db")

    assert caught.value.text == f"the folder {tmp_path / 'no'} does not exist"
    assert not (tmp_path / "no").exists()


def test_folder_as_path(tmp_path: Path) -> None:
    """A folder is no database."""
    with pytest.raises(OpenError) as caught:
        tenure.open(tmp_path)

    assert caught.value.text == f"{tmp_path} is a folder, not a database file"


def test_not_a_database(tmp_path: Path) -> None:
    """A file of something else is refused and left as it was."""
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, not a database\n" * 100)
    before = path.read_bytes()

    with pytest.raises(OpenError) as caught:
        tenure.open(path)

    assert caught.value.text == f"{path} is not an SQLite database"
    assert path.read_bytes() == before


def test_damaged_database(tmp_path: Path) -> None:
    """A database cut short is refused."""
    path = tmp_path / "runs.db"
    tenure.open(path).close()
    path.write_bytes(path.read_bytes()[:5_000])

    with pytest.raises(tenure.DatabaseError) as caught:
        tenure.open(path)

    assert caught.value.code == "io"


OPEN_AS_NOBODY = """
import os, sys, tenure
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    tenure.open(sys.argv[1])
except tenure.OpenError as error:
    print(error.text)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_read_only_file() -> None:
    """A file that may not be written is refused with a clear error, and not opened for reading instead."""
    # A folder of its own, because those of the test runner admit nobody else.
    folder = Path(tempfile.mkdtemp())
    path = folder / "runs.db"
    tenure.open(path).close()
    before = contents(path)
    path.chmod(0o444)
    folder.chmod(0o555)
    if os.getuid() == 0:
        # Permissions do not bind the superuser: let somebody else try.
        command = [sys.executable, "-c", OPEN_AS_NOBODY, str(path)]
        text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    else:
        with pytest.raises(OpenError) as caught:
            tenure.open(path)
        text = caught.value.text

    folder.chmod(0o755)
    path.chmod(0o644)
    assert text == f"{path} cannot be written"
    assert contents(path) == before
    shutil.rmtree(folder)


def test_locked_file_is_busy(tmp_path: Path) -> None:
    """A file that another process keeps locked is busy, after every attempt to open it."""
    path = tmp_path / "runs.db"
    holder = raw(path)
    holder.execute("BEGIN EXCLUSIVE; CREATE TABLE t (x)").fetchall()
    delays: list[float] = []

    with pytest.raises(DatabaseError) as caught:
        tenure.open(path, busy_timeout_ms=0, sleep=delays.append)

    holder.close()
    assert (caught.value.code, caught.value.text) == ("busy", f"{path} is locked by another process")
    assert len(delays) == 9


@pytest.mark.parametrize(
    ("sql", "bindings", "code"),
    [
        ("INSERT INTO t VALUES (1)", (), "constraint"),
        ("SELECT * FROM missing", (), "schema"),
        ("SELECT missing FROM t", (), "schema"),
        ("SELEKT", (), "unknown"),
        ("SELECT ?", (2**63,), "unknown"),
        ("SELECT ?", ("\ud800",), "unknown"),
        ("SELECT ?", (), "unknown"),
    ],
)
def test_failure_codes(sql: str, bindings: tuple[str | int, ...], code: str) -> None:
    """Whatever a statement fails of becomes one of the six codes, and nothing of it is quoted (JN-144, RS-363)."""
    connection = SqliteEngine(":memory:").connect()
    connection.rows("CREATE TABLE t (x UNIQUE)")
    connection.rows("INSERT INTO t VALUES (1)")

    with pytest.raises(DatabaseError) as caught:
        connection.rows(sql, bindings)

    assert caught.value.args == (code, "")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_busy_code(tmp_path: Path) -> None:
    """A lock held by somebody else is ``busy``."""
    engine = SqliteEngine(str(tmp_path / "runs.db"), 0)
    holder, other = engine.connect(), engine.connect()
    holder.begin()

    with pytest.raises(DatabaseError) as caught:
        other.begin()

    assert caught.value.code == "busy"
    assert not other.in_transaction


def test_full_disk_code(tmp_path: Path) -> None:
    """A disk without room is ``io``."""
    connection = SqliteEngine(str(tmp_path / "runs.db")).connect()
    connection.rows("CREATE TABLE t (x)")
    connection.rows("PRAGMA max_page_count = 2")

    with pytest.raises(DatabaseError) as caught:
        connection.rows("INSERT INTO t VALUES (zeroblob(100000))")

    assert caught.value.code == "io"


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    """Text that is not UTF-8 is its own error, and the connection holds no snapshot afterwards."""
    engine = SqliteEngine(str(tmp_path / "runs.db"))
    connection = engine.connect()
    connection.rows("CREATE TABLE t (x TEXT)")
    connection.rows("INSERT INTO t VALUES ('fine'), (CAST(x'ff' AS TEXT)), ('fine')")

    with pytest.raises(UndecodableTextError):
        connection.rows("SELECT x FROM t")

    other = engine.connect()
    assert connection.rows("SELECT count(*) FROM t") == [(3,)]
    assert other.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0] == 0


def test_commit_that_rolls_back_is_unknown() -> None:
    """An error from COMMIT that leaves no transaction open says that the outcome is unknown."""
    driver = apsw.Connection(":memory:")
    connection = SqliteConnection(driver)
    connection.rows("CREATE TABLE t (x)")
    driver.set_commit_hook(lambda: True)
    connection.begin()
    connection.rows("INSERT INTO t VALUES (1)")

    with pytest.raises(CommitUnknownError) as caught:
        connection.commit()

    assert caught.value.code == "constraint"
    assert not connection.in_transaction


def test_commit_that_stays_open_is_known(tmp_path: Path) -> None:
    """An error from COMMIT that leaves the transaction open is an ordinary one: nothing was kept."""
    driver = apsw.Connection(str(tmp_path / "runs.db"))
    connection = SqliteConnection(driver)
    connection.rows("PRAGMA foreign_keys = 1")
    connection.rows("CREATE TABLE t (x PRIMARY KEY, y REFERENCES t DEFERRABLE INITIALLY DEFERRED)")
    connection.begin()
    connection.rows("INSERT INTO t VALUES (1, 2)")

    with pytest.raises(DatabaseError) as caught:
        connection.commit()

    assert type(caught.value) is DatabaseError
    assert connection.in_transaction
    connection.rollback()
    assert connection.rows("SELECT * FROM t") == []


def test_commit_after_an_automatic_rollback_is_known() -> None:
    """Where a failure rolled everything back and somebody went on, COMMIT says so instead of guessing."""
    connection = SqliteEngine(":memory:").connect()

    with pytest.raises(DatabaseError) as caught:
        connection.commit()

    assert type(caught.value) is DatabaseError
    assert caught.value.code == "io"


def test_savepoints_nest() -> None:
    """Scopes of one name nest: each undo reaches exactly one level."""
    connection = SqliteEngine(":memory:").connect()
    connection.rows("CREATE TABLE t (x)")
    connection.begin()
    for value in (1, 2, 3):
        connection.savepoint()
        connection.rows("INSERT INTO t VALUES (?)", (value,))
    connection.rollback_to_savepoint()
    connection.release()
    connection.rollback_to_savepoint()
    connection.commit()

    assert connection.rows("SELECT * FROM t") == []


@pytest.mark.parametrize("path", ["", "a\0b", "\ud800", b"bytes.db", 5, None], ids=repr)
def test_what_names_no_file_is_said(path: object) -> None:
    """A path that is none is an ``OpenError``, not whatever the driver makes of it."""
    with pytest.raises(OpenError) as caught:
        tenure.open(path)  # type: ignore[arg-type]  # that is the point

    assert caught.value.text


def test_a_foreign_table_in_the_way_is_named(tmp_path: Path) -> None:
    """Which migration met something else under its table's name."""
    path = tmp_path / "runs.db"
    with apsw.Connection(str(path)) as connection:
        connection.execute("CREATE TABLE flows_runs(x)")

    with pytest.raises(OpenError, match="migration"):
        tenure.open(path)
