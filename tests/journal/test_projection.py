"""Tests of folds over a stream."""

import threading

import pytest

import tenure
from tests.journal.support import A, World, refused
from tests.threads import PATIENCE_SECONDS, in_thread, in_time


def count(state: dict[str, int], entry: tenure.Entry) -> dict[str, int]:
    """How many entries of each type there were."""
    return {**state, entry.event_type: state.get(entry.event_type, 0) + 1}


COUNTS: tenure.Projection[dict[str, int]] = tenure.Projection("counts", {}, count)


def test_a_state_for_the_start_and_for_each_entry(world: World) -> None:
    """History first, then what is committed (JN-262)."""
    world.durable(event_type="a")
    world.durable(event_type="b")
    states = world.journal.project(COUNTS, "r")
    history = [next(states) for _ in range(3)]
    world.durable(event_type="a")

    assert history == [{}, {"a": 1}, {"a": 1, "b": 1}]
    assert next(states) == {"a": 2, "b": 1}


def test_from_a_cursor_it_still_begins_with_initial(world: World) -> None:
    """Only the entries after the cursor are folded (JN-262)."""
    world.fill(3)
    states = world.journal.project(COUNTS, "r", after_sequence=1)

    assert [next(states), next(states)] == [{}, {"e": 1}]


def test_a_failing_reducer_ends_it_and_nothing_else(world: World) -> None:
    """The cause is kept, and a fresh fold starts over (JN-263)."""
    world.fill(1)
    states = world.journal.project(tenure.Projection("broken", 0, lambda state, entry: state // 0), "r")
    initial = next(states)
    error = refused(lambda: next(states))

    assert initial == 0
    assert (error.code, error.text) == ("projection_failed", "projection broken failed")
    assert isinstance(error.cause, ZeroDivisionError)
    assert list(states) == []
    assert world.durable().seq == 1


def test_an_interruption_inside_the_reducer_stays_one(world: World) -> None:
    """Cancellation is no failure of the projection (JN-263)."""

    def interrupted(state: int, entry: tenure.Entry) -> int:
        raise KeyboardInterrupt

    world.fill(1)
    states = world.journal.project(tenure.Projection("interrupted", 0, interrupted), "r")
    next(states)
    with pytest.raises(KeyboardInterrupt):
        next(states)

    assert list(states) == []


def test_the_streams_own_errors_pass(world: World) -> None:
    """A compacted run ends the fold with compacted, to resync from the checkpoint."""
    world.own()
    world.fill(3)
    world.journal.checkpoint("r", 2, {"e": 3}, A)
    world.journal.compact("r", A)
    states = world.journal.project(COUNTS, "r")
    next(states)
    error = refused(lambda: next(states))
    checkpoint = world.journal.latest_checkpoint("r")
    assert checkpoint is not None
    world.durable()
    resumed = world.journal.project(
        tenure.Projection("counts", checkpoint.state, COUNTS.reduce),  # type: ignore[arg-type]  # a checkpoint's state is any JSON
        "r",
        after_sequence=checkpoint.seq,
    )

    assert (error.code, error.checkpoint_seq) == ("compacted", 2)
    assert [next(resumed), next(resumed)] == [{"e": 3}, {"e": 4}]


@pytest.mark.parametrize("projection", [3, None, count])
def test_what_is_no_projection_is_refused_at_once(world: World, projection: object) -> None:
    """The parameter is named, and no stream is left behind that a compaction would wait for."""
    with pytest.raises(tenure.JournalUsageError, match=r"^projection must be a tenure\.Projection$"):
        world.journal.project(projection, "r")  # type: ignore[arg-type]  # what the test is about

    assert not world.instance.streams


def test_closed_it_ends(world: World) -> None:
    """Closing the projection closes its stream; a closed journal gives none."""
    with world.journal.project(COUNTS, "r") as states:
        first = next(states)
    world.journal.close()

    assert first == {}
    assert in_time(lambda: list(states)) == []
    assert in_time(lambda: list(world.journal.project(COUNTS, "r"))) == []


def test_threads_that_share_a_projection_fold_one_at_a_time(world: World) -> None:
    """A thread that asks while another reduces waits, and folds into what that made of the state (JN-262)."""
    world.fill(2)
    reducing, go_on = threading.Event(), threading.Event()

    def reduce(state: tuple[int, ...], entry: tenure.Entry) -> tuple[int, ...]:
        if entry.seq == 0:
            reducing.set()
            go_on.wait(PATIENCE_SECONDS)
        return (*state, entry.seq)

    states = world.journal.project(tenure.Projection("seqs", (), reduce), "r")
    initial = next(states)
    first, first_answers = in_thread(lambda: next(states))
    assert reducing.wait(PATIENCE_SECONDS)
    second, second_answers = in_thread(lambda: next(states))
    second.join(0.05)
    go_on.set()
    first.join(PATIENCE_SECONDS)
    second.join(PATIENCE_SECONDS)

    assert initial == ()
    assert first_answers == [(0,)]
    assert second_answers == [(0, 1)]
