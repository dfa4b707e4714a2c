"""Ways that are walked again."""

from tenure_model.explore.journal.properties import Property
from tenure_model.explore.journal.scope import JournalScope, lossy, options, writer
from tenure_model.explore.journal.system import JournalSystem
from tenure_model.explore.journal.traces import shortest
from tenure_model.semantics.journal.invariants import Transition
from tenure_model.semantics.journal.state_invariants import Where

SCOPE = JournalScope(
    "two",
    {"a": options(1), "b": options(1)},
    tuple(move for session in ("a", "b") for move in (lossy(session), *writer(session))),
)


def three_rows(taken: Transition) -> Where:
    """Where a run has three rows."""
    yield from (run_id for run_id, rows in taken.after.committed.journal.events.items() if len(rows) > 2)


def both_settled(taken: Transition) -> Where:
    """Where neither instance has anything left, and two entries had been queued."""
    if len(taken.after.fates) == 2 and "outstanding" not in taken.after.fates.values():
        yield "both"


def test_a_way_has_real_names() -> None:
    """Each step of the history follows from the one before, though states stand for either session."""
    trace = shortest(JournalSystem(SCOPE, properties=(Property("settled", "", (), of_steps=(both_settled,)),)))

    assert trace is not None
    assert [one.label.operation for one in trace.steps].count("journal.emitLossy") == 2
    assert len(trace.steps) == 8
    assert trace.start.state.instances.keys() == {"a", "b"}
    assert trace.steps[-1].broken == ("settled",)


def test_nothing_to_find() -> None:
    """Two entries become no third row, in whatever order."""
    assert shortest(JournalSystem(SCOPE, properties=(Property("rows", "", (), of_steps=(three_rows,)),))) is None
