"""What waits can be answered, and a wrong model under which it cannot."""

import attrs

from tenure_model.explore.journal.liveness import is_at_rest, search_for_rest
from tenure_model.explore.journal.scope import JournalScope, flushing, lossy, options, writer
from tenure_model.explore.journal.system import JournalSystem
from tenure_model.semantics.commands import Command
from tenure_model.semantics.journal.commands import apply
from tenure_model.semantics.journal.state import JournalState, JournalStep, with_instance

SCOPE = JournalScope("s", {"a": options()}, (lossy("a"), *writer("a"), *flushing("a")))


def test_nothing_is_stuck() -> None:
    """From every state the entry can be written and the flush answered."""
    assert search_for_rest(JournalSystem(SCOPE)).stuck == ()


def test_a_flush_that_is_never_answered() -> None:
    """A writer that settles without answering leaves every flush waiting that has begun beside an entry."""

    def wrong(state: JournalState, session: str, command: Command) -> JournalStep:
        step = apply(state, session, command)
        if command.operation != "writer.settle":
            return step
        unanswered = attrs.evolve(step.state.instances[session], flushes=state.instances[session].flushes)
        return attrs.evolve(step, state=with_instance(step.state, session, unanswered))

    system = JournalSystem(SCOPE, wrong)
    found = search_for_rest(system)
    labels = [label.operation for label, _ in found.explored.way_to(found.stuck[0])]

    assert labels == ["journal.emitLossy", "flush.begin"]
    assert len(found.stuck) == 4


def test_rest() -> None:
    """A journal with nothing to do is at rest; one with an entry in its queue is not."""
    system = JournalSystem(SCOPE)
    start = system.start()
    queued = next(iter(system.steps(start))).after

    assert is_at_rest(start.state)
    assert not is_at_rest(queued.state)
