"""A database whose writes can be made to meet."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import attrs

from tenure.database.writer import Database
from tests.database.support import Faults
from tests.threads import PATIENCE_SECONDS, eventually


class Refused(Exception):
    """What a body raises."""


@attrs.define
class Shared:
    """A database on file, what it was asked to do, and a way to make writes meet."""

    database: Database
    faults: Faults
    asked: list[str] = attrs.Factory(list)
    threads: list[threading.Thread] = attrs.Factory(list)
    answers: dict[str, object] = attrs.Factory(dict)

    def insert(self, value: str) -> str:
        """A body that inserts one row."""
        self.database.rows("INSERT INTO t VALUES (?)", (value,))
        return value

    def start(self, name: str, body: Callable[[], object]) -> None:
        """Write in a thread of its own; what came of it is found under the name."""

        def work() -> None:
            try:
                self.answers[name] = self.database.write(body)
            except Exception as error:  # noqa: BLE001  # looked at by the test
                self.answers[name] = error

        thread = threading.Thread(target=work, daemon=True)
        self.threads.append(thread)
        thread.start()

    @contextmanager
    def first(self, body: Callable[[], object] | None = None) -> Iterator[None]:
        """A first write that waits, in its transaction, until as many others wait as were started inside."""
        inside, go_on = threading.Event(), threading.Event()

        def held() -> object:
            answer = (body or (lambda: self.insert("first")))()
            inside.set()
            assert go_on.wait(PATIENCE_SECONDS)
            return answer

        self.start("first", held)
        assert inside.wait(PATIENCE_SECONDS)
        started = len(self.threads)
        yield
        eventually(lambda: len(self.database._turns.waiting) == len(self.threads) - started)
        go_on.set()
        for thread in self.threads:
            thread.join(PATIENCE_SECONDS)

    def values(self) -> list[str]:
        """What is committed, in the order of insertion."""
        return [row[0] for row in self.database.read("SELECT x FROM t ORDER BY rowid")]
