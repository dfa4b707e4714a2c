"""A commit that was acknowledged survives the loss of power, and what survives is a prefix (BR-52)."""

import random
from pathlib import Path

import apsw
import pytest

import tenure
from tenure.database.sqlite import SqliteEngine
from tests.cases.power import LoggingVfs, power_cuts, read_images, write_images
from tests.cases.support import STALE, T0, A, B, StoreSubject, WrappedEngine, digest, expired, must

NOW = T0 + STALE + 1


def history(subject):
    """A run's life in commits, each as a call and the outcome it must have."""
    yield lambda: subject.create("r", '{"text":"' + "x" * 6_000 + '"}'), type(None)
    yield lambda: subject.claim("r", tenure.PENDING, A, T0), tenure.Claimed
    yield lambda: subject.activate("r", A, T0, tenure.PENDING), tenure.Activated
    yield lambda: subject.heartbeat("r", A, T0 + 1), tenure.Updated
    yield lambda: subject.transition_owned("r", A, "running", '{"at":1}'), tenure.Transitioned
    yield lambda: subject.request_cancel("r", T0 + 2), tenure.CancelRequested
    subject.clock_ms = NOW + 1
    yield lambda: subject.steal("r", subject.get("r"), B, NOW + 1, expired(A, NOW + 1)), tenure.Claimed
    yield lambda: subject.activate("r", B, NOW + 1, subject.get("r")), tenure.Activated
    yield lambda: subject.transition_owned("r", B, "cancelled", "{}"), tenure.Transitioned


class Recording:
    """A history recorded twice on one file, with a checkpoint between its commits and a reopening in the middle."""

    def __init__(self, path, wrap=lambda connection: connection):
        self.vfs = LoggingVfs(f"logging-{id(self)}")
        self.path = path
        engine = WrappedEngine(SqliteEngine(str(path), vfs=self.vfs.name), wrap)
        StoreSubject(engine).close()
        subject = StoreSubject(engine)
        self.start = read_images(path)
        self.vfs.log.clear()
        self.states = [subject.state()]
        for number, (call, kind) in enumerate(history(subject)):
            must(call(), kind)
            self.vfs.acknowledge()
            self.states.append(subject.state())
            if number == 4:
                apsw.Connection(str(path), vfs=self.vfs.name).execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
        subject.close()
        self.vfs.unregister()


def contents(path):
    """The whole database, read by a connection that recovers it first."""
    connection = apsw.Connection(str(path))
    # What this reader recovers need not last.
    connection.pragma("synchronous", 0)
    try:
        return digest(lambda sql: connection.execute(sql).fetchall())
    finally:
        connection.close(True)


def every_acknowledged_commit_survives(recording, folder, seed=1):
    """Whatever a cut leaves, the database holds all acknowledged commits in full, and at most the one under way."""
    path, cuts = folder / "cut.db", 0
    for acknowledged, images in power_cuts(recording.start, recording.vfs.log, random.Random(seed)):
        write_images(images, path)
        found = contents(path)
        cuts += 1
        possible = recording.states[acknowledged : acknowledged + 2]
        assert found in possible, f"cut {cuts}: not the state after commit {acknowledged} or the next"
    return cuts


def test_br_52_acknowledged_commits_survive_a_power_cut(tmp_path):
    """BR-52: only synced bytes count, the rest may be lost, torn at any byte or kept in part: survivors are a prefix
    that holds everything acknowledged."""
    recording = Recording(tmp_path / "runs.db")

    assert len(recording.states) == 10
    assert every_acknowledged_commit_survives(recording, tmp_path) > 400


def test_br_52_a_store_opens_what_a_power_cut_left(tmp_path):
    """BR-52: the store itself opens such a file and goes on with it."""
    recording = Recording(tmp_path / "runs.db")
    cuts = list(power_cuts(recording.start, recording.vfs.log, random.Random(2)))
    for number, (_, images) in enumerate(cuts[:: len(cuts) // 12]):
        path = Path(tmp_path / f"{number}.db")
        write_images(images, path)
        with tenure.open(path) as store:
            store.runs.create("after", "{}")

            assert store.database.read("PRAGMA integrity_check") == [("ok",)]


def normal(connection):
    """Syncs the log at checkpoints only."""
    connection.rows("PRAGMA synchronous = NORMAL")
    return connection


def test_br_52_kills_commits_that_are_not_synced(tmp_path):
    """BR-52: with synchronous=NORMAL acknowledged commits are lost, and the check sees it."""
    recording = Recording(tmp_path / "runs.db", normal)

    with pytest.raises(AssertionError):
        every_acknowledged_commit_survives(recording, tmp_path)
