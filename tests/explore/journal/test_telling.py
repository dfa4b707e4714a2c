"""A trace as it reads."""

from tenure_model.explore.journal.evidence import witnessed
from tenure_model.explore.journal.scopes import named
from tenure_model.explore.journal.system import JournalSystem
from tenure_model.explore.journal.telling import told
from tenure_model.explore.journal.traces import Trace
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE


def test_told() -> None:
    """Who, the call with its arguments, the answer, and below it what it left where that changed."""
    trace = witnessed("HZ-40", ORIGINAL)

    assert trace is not None
    assert told(trace) == (
        "    at first: no rows | a: idle",
        " 1. a: journal.emitLossy(runId=r, sourceId=p, payload=x) -> Accepted(seq=0, source_seq=0)",
        "      no rows | a: queue p0@0",
        " 2. a: journal.emitLossy(runId=r, sourceId=p, payload=x) -> Accepted(seq=1, source_seq=1)",
        "      no rows | a: queue p0@0 p1@1",
        " 3. a: writer.take() -> 1",
        "      no rows | a: queue p1@1, taken p0@0",
        " 4. a: writer.write(fault=sink) -> done",
        "      no rows | a: queue p1@1, lost p0@0",
        " 5. a: writer.settle() -> done",
        "      no rows | a: queue p1@1, a loss to report",
        " 6. a: flush.begin() -> Failed(error=sink_failed)  [HZ-40]",
        "      no rows | a: queue p1@1",
    )


def test_clocks_are_told() -> None:
    """A clock that has moved on is told with the call."""
    trace = witnessed("HZ-09", ORIGINAL)

    assert trace is not None
    assert told(trace)[-2].endswith(" at 30,001 ms -> Activated()  [HZ-09]")


def test_repairs_are_told() -> None:
    """A step by which a repair makes a difference says so."""
    system = JournalSystem(named("closing", REFERENCE))
    moves = ("journal.emitLossy", "journal.emitLossy", "writer.take", "writer.write", "writer.settle", "flush.begin")
    situation, steps = system.start(), []
    for operation in moves:
        found = [taken for taken in system.steps(situation) if taken.label.operation == operation]
        steps.append(found[-1])
        situation = steps[-1].after

    assert told(Trace(system.scope, system.start(), tuple(steps)))[-1].endswith(
        "flush.begin() -> Waiting(ticket=3)  [R-8]"
    )
