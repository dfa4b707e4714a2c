"""What anyio does not offer: calls into a loop that never wait, and tasks of no scope."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context
from typing import TypeAlias

import anyio

Call: TypeAlias = Callable[[], object]


def _in_trio() -> bool:
    if "trio" not in sys.modules:
        return False
    from trio.lowlevel import in_trio_task

    return in_trio_task()


def calls_into_this_loop() -> Callable[[Call], None]:
    """How any thread, holding any lock, has something called in the running loop. A loop that is over calls nothing."""
    schedule: Callable[[Call], object]
    if _in_trio():
        from trio.lowlevel import current_trio_token

        schedule = current_trio_token().run_sync_soon
    else:
        schedule = asyncio.get_running_loop().call_soon_threadsafe

    def call(target: Call) -> None:
        with suppress(RuntimeError):
            schedule(target)

    return call


def spawn(main: Callable[[], Coroutine[object, object, None]], over: Call, name: str) -> object:
    """Start a task that belongs to the loop and to no scope; keep the answer as long as it is to live.

    It must not raise. The loop cancels it when its main task is over. ``over`` is called when it has ended, also where
    it was cancelled before its first step, as asyncio does: then ``main`` has never run.
    """
    if _in_trio():
        from trio.lowlevel import spawn_system_task

        async def run() -> None:
            try:
                await main()
            finally:
                over()

        return spawn_system_task(run, name=name)
    task = asyncio.get_running_loop().create_task(main(), name=name, context=Context())
    task.add_done_callback(lambda _: over(), context=Context())
    return task


class Bell:
    """Rung from any thread, holding any lock; waited for in the loop that it was made in."""

    __slots__ = ("_call", "_is_rung", "_rung")

    def __init__(self) -> None:
        self._call = calls_into_this_loop()
        self._rung = anyio.Event()
        self._is_rung = False

    def ring(self) -> None:
        """Let whoever listens look; it never waits. Rings that come together are one."""
        if not self._is_rung:
            self._is_rung = True
            self._call(self._answer)

    def listen(self) -> anyio.Event:
        """What is set by the next ring. Listen, then look, then wait: so nothing is missed."""
        if self._rung.is_set():
            self._rung = anyio.Event()
        return self._rung

    def _answer(self) -> None:
        # Before it is set: who rings from now on is heard again.
        self._is_rung = False
        self._rung.set()
