"""Stores for tasks, threads to stop in, and owners."""

import threading
from collections.abc import Callable, Coroutine
from typing import Any

import anyio

import tenure
import tenure.aio

A = tenure.OwnerId("h1", 1, "a")
B = tenure.OwnerId("h2", 2, "b")
JOURNAL = tenure.JournalOptions(1_000, "reject")
PATIENCE_SECONDS = 30
"""How long anything is waited for before a test gives up: never reached unless something hangs."""


class Stop:
    """Where a worker thread stops until it is told to go on. ``reached`` waits, in the loop, until one has."""

    def __init__(self) -> None:
        self._here = threading.Event()
        self._go = threading.Event()

    def __call__(self) -> None:
        self._here.set()
        assert self._go.wait(PATIENCE_SECONDS)

    async def reached(self) -> None:
        assert await anyio.to_thread.run_sync(self._here.wait, PATIENCE_SECONDS)

    def release(self) -> None:
        self._go.set()


class Started:
    """A task of a group: ``scope`` cancels it, ``result`` or ``error`` is what came of it, ``ended`` says so."""

    def __init__(self, tasks: anyio.abc.TaskGroup, call: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self.scope = anyio.CancelScope()
        self.ended = anyio.Event()
        self.result: Any = None
        self.error: BaseException | None = None
        tasks.start_soon(self._run, call)

    async def _run(self, call: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        try:
            with self.scope:
                self.result = await call()
        except Exception as error:  # noqa: BLE001  # it is what the test looks at
            self.error = error
        finally:
            self.ended.set()


async def settle() -> None:
    """Let every task of the loop get as far as it can without a thread."""
    for _ in range(20):
        await anyio.lowlevel.checkpoint()


def ids(store: tenure.aio.Store) -> list[object]:
    """The runs that are committed."""
    return [run_id for (run_id,) in store.sync.database.read("SELECT run_id FROM flows_runs ORDER BY run_id")]
