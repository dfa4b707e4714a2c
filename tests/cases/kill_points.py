"""Kills a real process at every statement boundary of a history: ``python -m tests.cases.kill_points FOLDER ENGINE``.

Copies ``FOLDER/base.db`` for each boundary, forks a child that takes the history on the copy and kills itself there,
and goes on until a child gets to the end, where it is killed too. Beside ``N.db`` lies ``N.told``: what the child's
caller had been told, one name a line.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

import tenure
from tenure.database.engine import Bindings, Connection, SqlRow
from tenure.database.sqlite import SqliteEngine
from tests.cases.support import T0, A, PassThrough, WrappedEngine


class Killing(PassThrough):
    """Kills the process before or after the statement of a number, BEGIN and COMMIT counted."""

    boundary = 0
    fatal = 0

    def _pass(self) -> None:
        Killing.boundary += 1
        if Killing.boundary == Killing.fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    def rows(self, sql: str, bindings: Bindings = (), /) -> list[SqlRow]:
        self._pass()
        rows = self.inner.rows(sql, bindings)
        self._pass()
        return rows

    def begin(self) -> None:
        self._pass()
        self.inner.begin()
        self._pass()

    def commit(self) -> None:
        self._pass()
        self.inner.commit()
        self._pass()


class Lazy(Killing):
    """Acknowledges commits that it keeps for later."""

    def begin(self) -> None:
        if not self.inner.in_transaction:
            super().begin()

    def commit(self) -> None:
        self._pass()


ENGINES: dict[str, type[Killing]] = {"right": Killing, "lazy": Lazy}


def live(path: Path, told: Path, fatal: int, wrap: type[Killing]) -> None:
    """Accept two runs, and take one of them as far as its first state; die at the boundary or at the end."""
    connections: list[Connection] = []

    def wrapped(connection: Connection) -> Connection:
        connections.append(wrap(connection))
        return connections[-1]

    with told.open("w", buffering=1) as tell:
        runs = tenure.open(WrappedEngine(SqliteEngine(str(path)), wrapped), clock=lambda: T0).runs
        Killing.boundary, Killing.fatal = 0, fatal
        for name, call in (
            ("create root", lambda: runs.create("root", "{}")),
            ("create next", lambda: runs.create("next", "{}", tenure.CreateOptions("root", "root", 1))),
            ("claim", lambda: runs.claim("root", tenure.PENDING, A, T0)),
            ("activate", lambda: runs.activate("root", A, T0, tenure.PENDING)),
            ("heartbeat", lambda: runs.heartbeat("root", A, T0)),
            ("rewrite", lambda: runs.transition_owned("root", A, "running", '{"at":1}')),
            ("own", lambda: runs.claim_and_own("next", tenure.PENDING, A, T0)),
        ):
            call()
            tell.write(name + "\n")
        tell.write("end\n")
    os.kill(os.getpid(), signal.SIGKILL)


def main(folder: Path, engine: str) -> None:
    """One child after another, each with a boundary of its own."""
    fatal = 0
    while True:
        fatal += 1
        path, told = folder / f"{fatal}.db", folder / f"{fatal}.told"
        shutil.copyfile(folder / "base.db", path)
        child = os.fork()
        if child == 0:
            try:
                live(path, told, fatal, ENGINES[engine])
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            raise SystemExit(f"the child of boundary {fatal} failed")
        if told.read_text().endswith("end\n"):
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
