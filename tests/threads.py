"""Threads that tests start, and how long they wait for them."""

import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

PATIENCE_SECONDS = 60
"""Longer than anything takes that does not hang."""


def in_thread(work: Callable[[], Result]) -> "tuple[threading.Thread, list[Result | BaseException]]":
    """Start a thread; its answer, or what it died of, arrives in the list."""
    answers: list[Result | BaseException] = []

    def body() -> None:
        try:
            answers.append(work())
        except BaseException as error:  # noqa: BLE001  # handed to the test
            answers.append(error)

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    return thread, answers


def join(*threads: threading.Thread) -> None:
    """Wait for each of them to end."""
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive(), "it never ended"


def in_time(work: Callable[[], Result]) -> Result:
    """What work answers that might wait for ever, or raise what it raises: a test then fails instead of hanging."""
    thread, answers = in_thread(work)
    join(thread)
    (answer,) = answers
    if isinstance(answer, BaseException):
        raise answer
    return answer


def eventually(condition: Callable[[], bool]) -> None:
    """Wait until another thread has made ``condition`` true."""
    waiter = threading.Event()
    for _ in range(PATIENCE_SECONDS * 1_000):
        if condition():
            return
        waiter.wait(0.001)
    raise AssertionError("it never came true")
