"""Automatic compaction: who counts, when an attempt starts, and what it does (JN-300..JN-307)."""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from tenure.journal import statements
from tenure.journal.checkpoints import write_checkpoint
from tenure.journal.compaction import compact_run
from tenure.journal.instance import LOG, Instance
from tenure_model.vocabulary.journal import CheckpointOptions, CompactionPolicy, CompactOptions

Stage: TypeAlias = Literal["count", "capture", "checkpoint", "compact"]


class CaptureTimeoutError(Exception):
    """``capture`` took too long and was given up."""


class Maintenance:
    """What one batch sets going for a run, stage by stage. From its start to its end, flushes wait for it.

    ``stage`` is the next one. It is made with the instance's lock held.
    """

    __slots__ = ("_instance", "_number", "_policy", "_stages", "run_id", "stage")

    def __init__(self, policy: "Policy", instance: Instance, run_id: str, inserted: int) -> None:
        self._policy = policy
        self._instance = instance
        self._stages = policy.stages(run_id, inserted)
        self._number = instance.backlog.begin_maintenance()
        policy.enter(run_id)
        self.run_id = run_id
        self.stage: Stage = "count"

    def step(self) -> bool:
        """Take the next stage; whether there is another."""
        following: Stage | None = None
        try:
            following = next(self._stages, None)
        finally:
            if following is None:
                self._end()
        if following is None:
            return False
        self.stage = following
        return True

    def finish(self) -> None:
        """Take every stage that is left."""
        while self.step():
            pass

    def _end(self) -> None:
        instance = self._instance
        with instance.lock:
            self._policy.leave(self.run_id)
            instance.backlog.end_maintenance(self._number)
            instance.end_flushes()


class Policy:
    """Counts rows by run, and compacts a run that has enough of them. It holds no fence.

    ``counters``, ``compacting`` and ``users`` are read and changed under the instance's lock; counting is one at a
    time. ``users`` says how many admissions, compactions and tasks of maintenance are under way in a run.
    """

    __slots__ = ("_counting", "_instance", "_options", "compacting", "counters", "users")

    def __init__(self, instance: Instance, options: CompactionPolicy) -> None:
        self._instance = instance
        self._options = options
        self._counting = threading.Lock()
        self.counters: dict[str, int] = {}
        self.compacting: set[str] = set()
        self.users: Counter[str] = Counter()

    def settled_durable(self, run_id: str) -> None:
        """Count one committed row, and wait for the attempt that it may start (JN-304)."""
        for _ in self.stages(run_id, 1):
            pass

    def settled_lossy(self, run_ids: Iterable[str]) -> list[Maintenance]:
        """What the rows that a batch inserted set going, registered so that flushes wait for it (JN-304).

        The rows of a run that is being compacted are passed over (JN-301).
        """
        instance = self._instance
        with instance.lock:
            return [
                Maintenance(self, instance, run_id, inserted)
                for run_id, inserted in Counter(run_ids).items()
                if run_id not in self.compacting
            ]

    def stages(self, run_id: str, inserted: int) -> Iterator[Stage]:
        """Count, and where that is due, checkpoint and compact the run; stops before each of the later stages.

        Whatever goes wrong is logged and starts the count anew (JN-302, JN-303).
        """
        if not self._is_due(run_id, inserted):
            return
        instance = self._instance
        counter: int | None = None
        try:
            yield "capture"
            tail = instance.database.read(statements.TAIL, (run_id,))[0][0]
            if tail is None:
                return
            state = self._capture(run_id, tail)
            yield "checkpoint"
            write_checkpoint(instance, CheckpointOptions(run_id, tail, state), None)
            yield "compact"
            compact_run(instance, CompactOptions(run_id, tail), None)
            counter = self._count(run_id)
        except Exception:  # noqa: BLE001  # whatever fails, the emit must not see it (JN-303)
            LOG.warning("automatic compaction of run %s failed", run_id, exc_info=True)
            counter = 0
        finally:
            with instance.lock:
                self.compacting.discard(run_id)
                if counter is not None:
                    self.counters[run_id] = counter

    def enter(self, run_id: str) -> None:
        """An admission, a compaction or a task of the run begins."""
        with self._instance.lock:
            self.users[run_id] += 1

    def leave(self, run_id: str) -> None:
        """It has ended."""
        with self._instance.lock:
            self.users[run_id] -= 1
            if not self.users[run_id]:
                del self.users[run_id]

    def retire_idle(self) -> None:
        """With the lock held: forget the counters of runs that nothing goes on in (JN-228)."""
        instance = self._instance
        read = {stream.run_id for stream in instance.streams}
        for run_id in list(self.counters):
            busy = run_id in self.compacting or run_id in read or run_id in self.users
            if not busy and instance.backlog.is_drained(run_id):
                del self.counters[run_id]

    def _is_due(self, run_id: str, inserted: int) -> bool:
        """Count, unless an attempt is in flight, and say whether one is to start; it is in flight then (JN-301)."""
        instance = self._instance
        try:
            with self._counting:
                with instance.lock:
                    if run_id in self.compacting:
                        return False
                    counter = self.counters.get(run_id)
                counter = self._count(run_id) if counter is None else counter + inserted
                with instance.lock:
                    self.counters[run_id] = counter
                    if counter < self._options.entry_threshold:
                        return False
                    self.compacting.add(run_id)
                    return True
        except Exception:  # noqa: BLE001  # a count that fails must not fail the emit (JN-305)
            LOG.warning("could not count the entries of run %s for automatic compaction", run_id, exc_info=True)
            return False

    def _count(self, run_id: str) -> int:
        counted: int = self._instance.database.read(statements.COUNT, (run_id,))[0][0]
        return counted

    def _capture(self, run_id: str, tail: int) -> object:
        """The state that stands for the run up to ``tail``, from the program, within its time."""
        instance = self._instance
        answers: list[object] = []
        failures: list[BaseException] = []

        def call() -> None:
            try:
                with instance.capturing():
                    answers.append(self._options.capture(run_id, tail))
            except BaseException as error:  # noqa: BLE001  # raised below, in the thread that waits
                failures.append(error)

        if not instance.driver.capture(call, instance.timing.capture_seconds):
            raise CaptureTimeoutError(f"capture of run {run_id} took more than {instance.timing.capture_seconds} s")
        if failures:
            raise failures[0]
        return answers[0]
