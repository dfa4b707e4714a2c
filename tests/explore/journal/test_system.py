"""The journal as states and steps."""

import attrs
import pytest

from tenure_model.explore.journal.scope import JournalScope, Move, crash, durable, event, lossy, options, writer
from tenure_model.explore.journal.system import JournalSystem, Label
from tenure_model.explore.search import explore

ONE = JournalScope("one", {"a": options(1)}, (lossy("a"), *writer("a"), crash("a")))


def test_a_whole_scope() -> None:
    """Idle, queued, taken, written, settled; and dead with nothing emitted, with the entry lost, and with its row."""
    system = JournalSystem(ONE)
    found = explore(system.initial(), system.successors)

    assert (len(found.states), found.depth, found.complete) == (8, 4, True)


def test_moves_are_counted() -> None:
    """A move that changed something is left once less; one that changed nothing is left as it was."""
    system = JournalSystem(
        attrs.evolve(ONE, moves=(durable("a", event(sourceSeq=0), 2), Move("a", "flush.begin", {}, 1)))
    )
    emit, flush = list(system.steps(system.start()))

    assert emit.after.left == (1, 1)
    assert flush.after is not None
    assert emit.label == Label("a", "journal.emitDurableUnfenced", "Accepted", 0)


def test_the_steps_out_of_a_state_are_given_once() -> None:
    """What stood for the state is let go of."""
    system = JournalSystem(ONE)
    initial = system.initial()

    assert len(list(system.successors(initial))) == 2
    with pytest.raises(ValueError, match="once"):
        list(system.successors(initial))


def test_interchangeable_sessions_are_one() -> None:
    """Whoever of two emits first, it is the same situation."""
    scope = JournalScope("two", {"a": options(1), "b": options(1)}, (lossy("a"), lossy("b")))
    system = JournalSystem(scope)
    first, second = (system.code(taken.after) for taken in system.steps(system.start()))
    apart = JournalSystem(attrs.evolve(scope, symmetric=False))
    one, other = (apart.code(taken.after) for taken in apart.steps(apart.start()))

    assert first == second
    assert one != other


def test_an_opening_that_is_refused() -> None:
    """A scope that does not begin where it says is a mistake of the scope."""
    with pytest.raises(AssertionError, match="is refused"):
        JournalSystem(attrs.evolve(ONE, instances={"a": options(0)}))
