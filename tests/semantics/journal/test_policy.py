"""Automatic compaction: when it is attempted, what an attempt does, and that no emit hears of it."""

from collections.abc import Callable

import pytest

from tenure_model.admission.journal_options import admit_journal_options
from tenure_model.semantics.journal.answers import Blocked, Waiting
from tenure_model.semantics.journal.state import JournalState
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tenure_model.vocabulary.journal import Accepted, CompactionPolicy, JournalOptions
from tenure_model.vocabulary.journal_errors import JournalError, JournalUsageError
from tests.semantics.journal.journals import (
    B,
    after,
    also_opened,
    begun,
    call,
    code,
    drained,
    emitted,
    event,
    history,
    lost,
    memory,
    opened,
    queued,
    world,
    written,
)

PROFILES = pytest.mark.parametrize("profile", [REFERENCE, ORIGINAL], ids=lambda profile: profile.name)


def compacting(
    threshold: int = 5, capture: object = "tail", profile: Profile = REFERENCE, **options: object
) -> JournalState:
    """The runs and an instance that compacts by itself."""
    return opened(profile, compaction={"entryThreshold": threshold, "capture": capture}, **options)


def seqs(state: JournalState, run_id: str = "r") -> list[int]:
    """The sequences of the run's rows."""
    return [seq for seq, _, _ in history(state, run_id)]


def checkpoints(state: JournalState, run_id: str = "r") -> dict[int, bool]:
    """The run's checkpoints, and whether each is compacted."""
    rows = state.committed.journal.checkpoints.get(run_id, {})
    return {seq: row.compacted_at_ms is not None for seq, row in rows.items()}


def test_the_sample() -> None:
    """Threshold 5: seqs 0..4 leave a checkpoint at 4, one row and the counter 1; four rows later one at 8 (JN-307)."""
    first = emitted(compacting(), *range(5))
    assert (seqs(first), checkpoints(first), memory(first).counters) == ([4], {4: True}, {"r": 1})
    assert first.committed.journal.checkpoints["r"][4].state_json == '{"upTo":4}'

    between = emitted(first, *range(3))
    assert (seqs(between), checkpoints(between)) == ([4, 5, 6, 7], {4: True})

    second = emitted(between, 0)
    assert (seqs(second), checkpoints(second), memory(second).counters) == ([8], {8: True}, {"r": 1})


def test_off_by_default() -> None:
    """Nothing compacts unless it was asked for (JN-300)."""
    assert seqs(emitted(opened(), *range(9))) == list(range(9))


def test_runs_are_counted_apart() -> None:
    """Each run has its counter; an unknown one starts with the rows that are there (JN-301)."""
    state = emitted(emitted(compacting(3), 0, 1), 0, run_id="s")
    state = after(after(state, "session.crash"), "journal.open", options=_options(3))
    state = emitted(state, 2)

    assert (seqs(state), seqs(state, "s")) == ([2], [0])


def _options(threshold: int) -> dict[str, object]:
    return {"capacity": 8, "overflow": "reject", "compaction": {"entryThreshold": threshold, "capture": "tail"}}


@PROFILES
@pytest.mark.parametrize("capture", ["fail", "flush"])
def test_a_failed_attempt_is_damped(profile: Profile, capture: str) -> None:
    """It takes as many rows again, and the emit that started it is accepted (JN-303)."""
    state = emitted(compacting(3, capture, profile), 0, 1)

    step = call(queued(state, "x", run_id="s"), "journal.emitDurableUnfenced", input=event(2))

    assert step.outcome == Accepted(2, 2)
    assert seqs(step.state) == [0, 1, 2]
    assert checkpoints(step.state) == {}
    assert memory(step.state).counters == {"r": 0}
    assert memory(step.state).flushes == {}
    assert step.fired == ({"R-9"} if (profile, capture) == (REFERENCE, "flush") else frozenset())


def test_a_capture_that_flushes_an_idle_journal() -> None:
    """R-9: a usage error in any case; original lets a flush pass that has nothing to wait for (JN-306)."""
    checkpointed = {}
    for profile in (REFERENCE, ORIGINAL):
        checkpointed[profile.name] = checkpoints(emitted(compacting(2, "flush", profile), 0, 1))

    assert checkpointed == {"reference": {}, "original": {1: True}}


@pytest.mark.parametrize("captured", [object(), float, 2**60])
def test_a_state_that_is_no_json(captured: object) -> None:
    """What cannot be stored fails the attempt like a capture that raises (JN-303)."""
    state = _with_capture(1, lambda _run_id, _up_to: captured)

    assert checkpoints(emitted(state, 0)) == {}
    assert memory(emitted(state, 0)).counters == {"r": 0}


def _with_capture(threshold: int, capture: Callable[[str, int], object]) -> JournalState:
    options = JournalOptions(8, "reject", compaction=CompactionPolicy(threshold, capture))
    assert not isinstance(admit_journal_options(options), JournalError)
    return after(world(), "journal.open", options=options)


def test_capture_is_told_what_to_capture() -> None:
    """It gets the run and its tail (JN-302)."""
    state = emitted(_with_capture(2, lambda run_id, up_to: [run_id, up_to]), 0, 1)

    assert state.committed.journal.checkpoints["r"][1].state_json == '["r",1]'


def test_a_reader_damps_it() -> None:
    """A live stream refuses the compaction; the checkpoint stays, and nobody hears of it (JN-303)."""
    state, _ = begun(compacting(2), "stream.open", runId="r")
    state = emitted(state, 0, 1)

    assert (seqs(state), checkpoints(state), memory(state).counters) == ([0, 1], {1: False}, {"r": 0})


def test_damping_is_forgotten_by_a_flush() -> None:
    """HZ-25: a flush drops the counter of an idle run, and the next row attempts at once."""
    state = emitted(compacting(3, "fail"), 0, 1, 2)
    kept = emitted(state, 3)
    flushed = emitted(after(state, "journal.flush"), 3)

    assert memory(kept).counters == {"r": 1}
    assert memory(flushed).counters == {"r": 0}


def test_lossy_batches_start_it_in_the_background() -> None:
    """A settled batch registers one task a run, which flush waits for (JN-304)."""
    state = queued(queued(compacting(2), 0, 1), 2, run_id="s")
    state = after(written(state), "writer.settle")
    waiting, ticket = begun(state, "flush.begin")

    assert [(task.run_id, task.inserted) for task in memory(state).maintenance.values()] == [("r", 2), ("s", 1)]
    assert call(waiting, "flush.poll", ticket=ticket).outcome == Waiting(ticket)

    finished = after(waiting, "maintenance.finish")
    assert call(finished, "flush.poll", ticket=ticket).outcome is not None
    assert (seqs(finished), seqs(finished, "s")) == ([1], [0])


def test_every_row_of_a_batch_counts() -> None:
    """A known counter grows by the rows of the settlement (JN-301)."""
    state = after(drained(queued(emitted(compacting(9), 0), 1, 2, 3)), "maintenance.finish")

    assert memory(state).counters == {"r": 4}


def test_stages() -> None:
    """Counting, capturing, checkpointing and compacting are steps of their own (JN-302)."""
    state = drained(queued(compacting(2), 0, 1))
    seen = []
    while memory(state).maintenance:
        (task,) = memory(state).maintenance.values()
        seen.append((task.stage, checkpoints(state)))
        state = after(state, "maintenance.step")

    assert seen == [("count", {}), ("capture", {}), ("checkpoint", {}), ("compact", {1: False})]
    assert checkpoints(state) == {1: True}
    assert call(state, "maintenance.step").outcome == 0


def test_the_state_may_cover_more_than_its_tail() -> None:
    """HZ-23: rows that commit between capture and checkpoint lie above the tail that the state is filed under."""
    state = drained(queued(compacting(2), 0, 1))
    state = after(after(state, "maintenance.step"), "maintenance.step")
    state = after(state, "journal.emitDurableUnfenced", input=event(2))
    state = after(state, "maintenance.finish")

    assert (seqs(state), checkpoints(state)) == ([1, 2], {1: True})


def test_settlements_during_an_attempt_are_not_counted() -> None:
    """HZ-25: rows that settle while an attempt is in flight are passed over (JN-301)."""
    state = drained(queued(compacting(2), 0, 1))
    state = emitted(after(state, "maintenance.step"), 2)

    assert memory(state).counters == {"r": 2}
    assert len(memory(drained(queued(state, 3))).maintenance) == 1


def test_maintenance_waits_for_the_run_and_the_transaction() -> None:
    """It neither compacts a run with entries pending nor checkpoints while somebody holds the transaction (JN-286)."""
    state = drained(queued(also_opened(compacting(2), B), 0, 1))
    state = after(after(state, "maintenance.step"), "maintenance.step")
    held = after(state, "session.begin", B)
    assert call(held, "maintenance.step").outcome == Blocked()
    assert call(held, "maintenance.finish").outcome == Blocked()

    pending = queued(after(state, "maintenance.step"), 2)
    assert call(pending, "maintenance.step").outcome == Blocked()
    assert seqs(after(pending, "maintenance.finish")) == [1, 2]


def test_a_durable_emit_drains_the_run_it_compacts() -> None:
    """The attempt waits for the run's pending entries, so the writer drains (JN-304)."""
    state = emitted(queued(compacting(2), "late"), 0, 1)

    assert history(state) == [(2, 2, "1"), (3, 0, '"late"')]


def test_inside_a_transaction() -> None:
    """The attempt is among the updates after the commit (JN-304)."""
    state = emitted(after(compacting(2), "session.begin"), 0, 1)
    assert checkpoints(state) == {}

    committed = after(state, "session.commit")
    assert (seqs(committed), checkpoints(committed)) == ([1], {1: True})


def test_tasks_by_number() -> None:
    """A task may be named, so that runs do not wait for each other (JN-301)."""
    state = drained(queued(queued(compacting(9), 0), 1, run_id="s"))
    first, second = memory(state).maintenance

    named = after(state, "maintenance.step", task=second)

    assert list(memory(named).maintenance) == [first]
    assert isinstance(call(state, "maintenance.step", task=99).outcome, JournalUsageError)
    assert isinstance(call(state, "maintenance.step", task="x").outcome, JournalUsageError)


def test_tasks_by_place() -> None:
    """Or it is named by its place in line, which says nothing where there is no line."""
    state = drained(queued(queued(compacting(9), 0), 1, run_id="s"))
    first, _ = memory(state).maintenance

    named = after(state, "maintenance.step", place=1)

    assert list(memory(named).maintenance) == [first]
    assert isinstance(call(state, "maintenance.step", place=2).outcome, JournalUsageError)
    assert isinstance(call(state, "maintenance.step", place="x").outcome, JournalUsageError)
    assert call(compacting(9), "maintenance.step", place=2).outcome == 0


def test_rows_that_settle_while_a_durable_attempt_drains_are_passed_over() -> None:
    """It is in flight as any attempt is (JN-301)."""
    state = emitted(queued(compacting(2), "late"), 0, 1)

    assert memory(state).maintenance == {}
    assert memory(state).counters == {"r": 2}


@pytest.mark.parametrize(
    ("steps", "counters", "kept"),
    [(0, {}, [0, 1]), (1, {"r": 0}, [0, 1]), (3, {"r": 0}, [1])],
    ids=["count", "tail", "count afterwards"],
)
def test_reads_that_fail(steps: int, counters: dict[str, int], kept: list[int]) -> None:
    """A count that fails is none (JN-305); an attempt that reads in vain is damped, whatever it has done (JN-303)."""
    state = drained(queued(compacting(2), 0, 1))
    for _ in range(steps):
        state = after(state, "maintenance.step")
    state = after(state, "maintenance.step", fault="read")

    assert memory(state).maintenance == {}
    assert memory(state).counters == counters
    assert seqs(state) == kept


def test_a_loss_counts_nothing() -> None:
    """Only rows that were inserted count (JN-215)."""
    state = lost(queued(compacting(1), 0))

    assert memory(state).maintenance == {}
    assert memory(state).counters == {}


@pytest.mark.parametrize("operation", ["maintenance.step", "maintenance.finish", "writer.take", "writer.drain"])
def test_without_a_journal(operation: str) -> None:
    """A session without a journal has nothing in the background (JN-420)."""
    assert code(call(world(), operation)) == "journal_closed"
