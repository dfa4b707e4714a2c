"""Which calls can be made."""

from tenure_model.explore.journal.calls import calls
from tenure_model.explore.journal.scope import JournalScope, crash, flushing, lossy, options, transacting, writer
from tenure_model.explore.journal.system import JournalSystem, Situation

SCOPE = JournalScope(
    "s", {"a": options()}, (lossy("a"), *writer("a"), *flushing("a", 2), *transacting("a"), crash("a"))
)
SYSTEM = JournalSystem(SCOPE)


def after(*operations: str) -> Situation:
    """The situation after these steps, each the first of its name that there is."""
    situation = SYSTEM.start()
    for operation in operations:
        situation = next(one.after for one in SYSTEM.steps(situation) if one.label.operation == operation)
    return situation


def called(situation: Situation) -> list[str]:
    """The operations of the calls there."""
    return [call.command.operation for call in calls(SCOPE, situation.state, situation.left)]


def test_at_the_start() -> None:
    """Nothing is to be written, polled or ended yet."""
    assert called(after()) == ["journal.emitLossy", "flush.begin", "session.begin", "session.crash"]


def test_the_writer_goes_step_by_step() -> None:
    """It takes what is queued, writes what it took, settles what it wrote."""
    queued = ("journal.emitLossy",)

    assert called(after(*queued))[0] == "writer.take"
    assert called(after(*queued, "writer.take"))[0] == "writer.write"
    assert called(after(*queued, "writer.take", "writer.write"))[0] == "writer.settle"


def test_each_flush_is_polled() -> None:
    """A step is called about everything that it may be about."""
    situation = after("journal.emitLossy", "flush.begin", "flush.begin")
    tickets = [
        call.command.arguments["ticket"]
        for call in calls(SCOPE, situation.state, situation.left)
        if "ticket" in call.command.arguments
    ]

    assert tickets == list(situation.state.instances["a"].flushes)
    assert len(tickets) == 2


def test_a_transaction_is_ended_by_who_began_it() -> None:
    """Commit and rollback are for inside."""
    assert called(after("session.begin"))[-3:] == ["session.commit", "session.rollback", "session.crash"]


def test_the_dead_do_nothing_but_begin() -> None:
    """Without an instance only a transaction can be begun."""
    assert called(after("session.crash")) == ["session.begin"]
