"""What a scope says."""

from tenure_model.explore.journal.scope import OWNERS, START_MS, JournalScope, Move, lossy, options, writer


def test_moves_are_said_once() -> None:
    """Groups of moves may name one step several times."""
    scope = JournalScope("s", {"a": options()}, (*writer("a", 1), lossy("a"), *writer("a")))

    assert [move.operation for move in scope.moves] == [
        "writer.take",
        "writer.write",
        "writer.settle",
        "writer.write",
        "journal.emitLossy",
    ]


def test_what_comes_before() -> None:
    """Runs that are owned are created and claimed before any instance opens, so that no fact is recorded."""
    scope = JournalScope("s", {"a": options(), "b": options()}, (), owned={"r": "b"}, before=(lossy("a"),))
    opening = list(scope.opening())

    assert [move.operation for move in opening] == [
        "run.create",
        "run.claimAndOwn",
        "journal.open",
        "journal.open",
        "journal.emitLossy",
    ]
    assert opening[1].arguments["owner"] == OWNERS["b"]
    assert scope.sessions == ("a", "b")


def test_a_command_has_its_clock_and_number() -> None:
    """The clock counts from the start; what the step is about is added."""
    command = Move("a", "flush.poll", at_ms=5).command(ticket=3)

    assert (command.operation, command.arguments, command.clock_ms) == ("flush.poll", {"ticket": 3}, START_MS + 5)
