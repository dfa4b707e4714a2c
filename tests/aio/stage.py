"""The stage of the threads' supervisor, with the tasks' supervisor on it: the same scripts are played on both.

The script runs in a thread of its own and sees plain ``with`` blocks; the loop gets to run while time passes.
"""

from collections.abc import Callable
from inspect import isawaitable
from typing import Any

import anyio
from anyio.from_thread import BlockingPortal
from anyio.lowlevel import checkpoint

import tenure
from tenure.aio.block import SupervisedBlock
from tenure.aio.supervisor import Hook, Supervisor, Timing
from tenure.ownership.beats import BeatCalls, perform
from tests.aio.support import PATIENCE_SECONDS
from tests.ownership.stage import A, Scripted

STEPS = 40
"""More steps of the loop than anything here takes that needs no time."""


class LoopStage(Scripted):
    """``firing`` says whether the loop gets to run at all, ``writing`` whether the thread of the beats gets on."""

    def __init__(self, portal: BlockingPortal) -> None:
        super().__init__()
        self.portal = portal
        self._calls = BeatCalls(self.write, self.heartbeat, self.reconfirm)
        self.supervisor = portal.call(self._make)

    async def _make(self) -> Any:
        self._news = anyio.Event()
        return LoopSupervisor(
            self.portal, Supervisor(self.write_beats, self.clock, Timing(lambda: self._timer, self.sleep))
        )

    async def sleep(self, seconds: float) -> None:
        """Until the time has come and the loop runs."""
        end = self._timer + seconds
        await checkpoint()
        while round(self._timer, 6) < round(end, 6):
            await self._news.wait()

    async def write_beats(self, beats: Any) -> Any:
        """In place of a worker thread."""
        while not self.writing:
            await self._news.wait()
        return perform(self._calls, beats)

    def settle(self) -> None:
        """Let every task do what it has to do now."""
        self.portal.call(self._settle)

    async def _settle(self) -> None:
        if not self.firing:
            return
        for _ in range(2):
            self._news.set()
            self._news = anyio.Event()
            for _ in range(STEPS):
                await checkpoint()

    def supervise(self, run_id: str = "r", **hooks: Any) -> Any:
        """As a store's."""
        block = SupervisedBlock(
            self.supervisor.inner, run_id, A, self.hook(hooks.get("on_reconfirm")), self.hook(hooks.get("on_lapse"))
        )
        return LoopBlock(self.portal, block)

    def hook(self, hook: Callable[[float], object] | None) -> Hook | None:
        """A hook that hangs while ``holding``."""
        if hook is None:
            return None

        async def wait(gap_ms: float) -> None:
            while self.holding:
                await self._news.wait()
            answer = hook(gap_ms)
            if isawaitable(answer):
                await answer

        return wait


class LoopSupervisor:
    """What scripts ask of a supervisor."""

    def __init__(self, portal: BlockingPortal, inner: Supervisor) -> None:
        self._portal = portal
        self.inner = inner

    def next_due(self) -> float | None:
        return self._portal.call(self.inner.next_due)

    def stop(self) -> None:
        self._portal.call(self.inner.stop)


class LoopBlock:
    """A task that is in the block while the script is. ``cancel`` does so from outside, ``cancelled`` says so."""

    def __init__(self, portal: BlockingPortal, block: SupervisedBlock) -> None:
        self._portal = portal
        self._block = block
        self._error: BaseException | None = None

    def __enter__(self) -> tenure.Lease:
        task, lease = self._portal.start_task(self._stay)
        self._task = task
        return lease

    async def _stay(self, *, task_status: anyio.abc.TaskStatus[tenure.Lease]) -> None:
        with anyio.CancelScope() as scope:
            async with self._block as lease:
                self._scope, self._left, self._error = scope, anyio.Event(), None
                task_status.started(lease)
                await self._left.wait()
                if self._error is not None:
                    raise self._error

    def cancel(self) -> None:
        """Cancel the task around the block, and wait until that is left."""
        self._portal.call(self._scope.cancel)
        self._task.result()

    @property
    def cancelled(self) -> bool:
        return self._scope.cancelled_caught

    def raised(self) -> BaseException | None:
        """What the block raised though nobody left it. One that goes on is cancelled, and is a ``TimeoutError``."""
        try:
            return self._task.exception(PATIENCE_SECONDS)
        except TimeoutError:
            self.cancel()
            raise

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self._error = error
        self._portal.call(self._left.set)
        try:
            self._task.result()
        except BaseException as raised:
            if raised is not error:
                raise
