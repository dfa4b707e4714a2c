"""Who drives the lossy writer and the tasks of maintenance: threads of their own, or the caller, by hand."""

import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Sized
from contextvars import copy_context
from typing import TYPE_CHECKING, TypeAlias

from tenure.journal.instance import LOG, Instance
from tenure.journal.writer import LossyWriter

if TYPE_CHECKING:
    from tenure.journal.policy import Maintenance

Task: TypeAlias = Callable[[], None]


class Driver(ABC):
    """What makes asynchronous things happen."""

    __slots__ = ()

    @abstractmethod
    def admitted(self) -> None:
        """An entry was queued; called with the instance's lock held."""

    @abstractmethod
    def wait_until(self, done: Callable[[], bool]) -> None:
        """Return once ``done``, which looks at the instance with its lock held, says so."""

    @abstractmethod
    def maintain(self, task: "Maintenance") -> None:
        """See a registered task of maintenance through."""

    @abstractmethod
    def capture(self, call: Task, seconds: float) -> bool:
        """Run ``call``, giving it up after so many seconds; whether it came to its end."""

    @abstractmethod
    def stop(self) -> None:
        """The queue is empty for good."""


class ManualDriver(Driver):
    """Nothing happens by itself: a harness calls the writer's steps, and whatever must wait lets the writer run."""

    __slots__ = ("_instance", "writer")

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self.writer = LossyWriter(instance)

    def admitted(self) -> None:
        """The entry stays queued."""

    def wait_until(self, done: Callable[[], bool]) -> None:
        """Let the writer finish its batch and then empty the queue."""
        while not self._look(done):
            if not self.writer.take():
                raise RuntimeError("waits for something that only another thread could do")
            self.writer.write()
            self.writer.settle()

    def maintain(self, task: "Maintenance") -> None:
        """At once, in the caller's thread."""
        task.finish()

    def capture(self, call: Task, seconds: float) -> bool:
        """At once, in the caller's thread, however long it takes."""
        call()
        return True

    def stop(self) -> None:
        """There is nothing to stop."""

    def _look(self, done: Callable[[], bool]) -> bool:
        with self._instance.lock:
            return done()


class _Leash:
    """How the writer's thread is told to end. It knows no instance, so that one that is dropped can go."""

    __slots__ = ("pulled",)

    def __init__(self) -> None:
        self.pulled = False


class ThreadDriver(Driver):
    """One thread writes batches, from the first admission on; each task of maintenance has a thread of its own.

    The threads end with the instance, closed or dropped, and never keep a program from ending.
    """

    __slots__ = ("__weakref__", "_instance", "_leash", "_thread")

    def __init__(self, instance: Instance) -> None:
        self._instance = weakref.ref(instance)
        self._leash = _Leash()
        self._thread: threading.Thread | None = None
        weakref.finalize(instance, _pull, self._leash, instance.work).atexit = False

    def admitted(self) -> None:
        """Start the thread, or wake it."""
        instance = self._required()
        if self._thread is None:
            self._thread = threading.Thread(
                target=_write_batches,
                args=(self._instance, self._leash, instance.work, instance.backlog.queue),
                name="tenure-journal-writer",
                daemon=True,
            )
            self._thread.start()
        else:
            instance.work.notify()

    def wait_until(self, done: Callable[[], bool]) -> None:
        """Wait for the threads to get there."""
        instance = self._required()
        with instance.lock:
            while not done():
                instance.progress.wait()

    def maintain(self, task: "Maintenance") -> None:
        """Count at once, and compact in a thread of its own: that waits for the writer, which cannot wait for it."""
        if task.step():
            threading.Thread(target=task.finish, name="tenure-journal-maintenance", daemon=True).start()

    def capture(self, call: Task, seconds: float) -> bool:
        """In a thread of its own, with the caller's context: a thread can be given up, and not interrupted."""
        thread = threading.Thread(target=copy_context().run, args=(call,), name="tenure-journal-capture", daemon=True)
        thread.start()
        thread.join(seconds)
        return not thread.is_alive()

    def stop(self) -> None:
        """Wait for the writer's thread to end."""
        instance = self._required()
        _pull(self._leash, instance.work)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _required(self) -> Instance:
        instance = self._instance()
        if instance is None:
            raise ReferenceError("the journal is gone")
        return instance


def _pull(leash: _Leash, work: threading.Condition) -> None:
    with work:
        leash.pulled = True
        work.notify_all()


def _write_batches(
    instance_of: "weakref.ref[Instance]", leash: _Leash, work: threading.Condition, queue: Sized
) -> None:
    """Write batch after batch until the leash is pulled. Between batches it holds on to nothing but the queue."""
    while True:
        with work:
            while not queue and not leash.pulled:
                work.wait()
        instance = instance_of()
        if instance is None or (leash.pulled and not queue):
            return
        try:
            LossyWriter(instance).drain()
        except Exception:  # noqa: BLE001  # only a fault of this program gets here, and the queue must go on
            LOG.exception("the journal's writer failed")
        del instance
