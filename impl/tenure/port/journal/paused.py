"""A call that runs in a thread of its own, one piece at a time: so code that waits in the middle can be driven."""

import threading
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import TypeVar

Result = TypeVar("Result")

_current: ContextVar["Paused | None"] = ContextVar("tenure_port_paused", default=None)


class _GivenUp(BaseException):
    """Ends a call that nobody will let go on: its process is gone."""


class Paused:
    """A call that goes on only while its driver waits for it, up to the next place that is a pause.

    ``at`` names the pause that it has reached, ``None`` before the first; ``has_ended`` says that it is over.
    """

    def __init__(self, body: Callable[[], object]) -> None:
        self.at: str | None = None
        self.has_ended = False
        self._body = body
        self._answer: object = None
        self._failure: BaseException | None = None
        self._is_given_up = False
        self._job: Callable[[], None] | None = None
        self._go = threading.Semaphore(0)
        self._stopped = threading.Semaphore(0)
        self._thread = threading.Thread(target=copy_context().run, args=(self._run,), daemon=True)
        self._thread.start()

    def go_on(self) -> None:
        """Run up to the next pause, or to the end."""
        self._go.release()
        self._stopped.acquire()

    def answer(self) -> object:
        """What the call answered, once it has ended, or raise what it raised."""
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        return self._answer

    def ask(self, question: Callable[[], Result]) -> Result:
        """Run something inside the paused call, in its thread, and answer what that answered."""
        answers: list[Result] = []
        self._job = lambda: answers.append(question())
        self.go_on()
        return answers[0]

    def give_up(self) -> None:
        """End the call where it stands; what it has open is undone."""
        if not self.has_ended:
            self._is_given_up = True
            self.go_on()
        self._thread.join()

    def pause(self, at: str) -> None:
        """Inside the call: stop here until the driver lets it go on."""
        self.at = at
        while True:
            self._stopped.release()
            self._go.acquire()
            if self._is_given_up:
                raise _GivenUp
            job, self._job = self._job, None
            if job is None:
                return
            job()

    def _run(self) -> None:
        self._go.acquire()
        _current.set(self)
        try:
            if not self._is_given_up:
                self._answer = self._body()
        except BaseException as error:  # noqa: BLE001  # raised again where the answer is asked for
            self._failure = error
        self.has_ended = True
        self._stopped.release()


def pause_here(at: str) -> None:
    """Stop here where this is a paused call, for its driver to decide when it goes on."""
    call = _current.get()
    if call is not None:
        call.pause(at)


def paused_call() -> Paused | None:
    """The paused call that this code runs in, if it does."""
    return _current.get()
