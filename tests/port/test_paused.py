"""Tests of calls that are driven one piece at a time."""

import threading

import pytest

from tenure.port.journal.paused import Paused, pause_here


def test_a_call_goes_on_from_pause_to_pause() -> None:
    """It does nothing but between two steps of its driver, and then answers."""
    done: list[str] = []

    def body() -> str:
        done.append("first")
        pause_here("middle")
        done.append("second")
        return "answer"

    call = Paused(body)
    before = list(done)
    call.go_on()
    between = (list(done), call.at, call.has_ended)
    call.go_on()

    assert before == []
    assert between == (["first"], "middle", False)
    assert (done, call.has_ended, call.answer()) == (["first", "second"], True, "answer")


def test_what_a_call_raises_is_raised_where_its_answer_is_asked_for() -> None:
    """And not in its thread."""

    def body() -> None:
        raise LookupError("lost")

    call = Paused(body)
    call.go_on()

    with pytest.raises(LookupError, match="lost"):
        call.answer()


def test_a_question_is_answered_in_the_thread_of_the_call() -> None:
    """It stays at its pause."""
    call = Paused(lambda: pause_here("middle"))
    call.go_on()
    thread = call.ask(threading.current_thread)
    stands = (call.at, call.has_ended)
    call.go_on()

    assert thread is not threading.current_thread()
    assert stands == ("middle", False)
    assert call.has_ended


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_a_call_that_is_given_up_undoes_what_it_has_open(steps: int) -> None:
    """Before it began, at a pause, and after its end: what it began is ended, and the rest never happens."""
    done: list[str] = []

    def body() -> None:
        done.append("begun")
        try:
            pause_here("middle")
            done.append("through")
        finally:
            done.append("undone")

    call = Paused(body)
    for _ in range(steps):
        call.go_on()
    call.give_up()

    assert done == ([], ["begun", "undone"], ["begun", "through", "undone"])[steps]
    assert call.has_ended


def test_elsewhere_a_pause_is_none() -> None:
    """What is not driven runs through."""
    pause_here("middle")
