"""Opening and closing: what an instance starts with, and what becomes of what it had accepted."""

import pytest

from tenure_model.semantics.commands import Command
from tenure_model.semantics.journal.answers import Done, Ended, Waiting, WouldHang
from tenure_model.semantics.journal.commands import apply
from tenure_model.semantics.journal.invariants import violated_invariants
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tenure_model.vocabulary.journal import Duplicate
from tenure_model.vocabulary.journal_errors import JournalUsageError
from tests.semantics.journal.journals import (
    B,
    after,
    also_opened,
    begun,
    cached,
    call,
    code,
    compacted,
    drained,
    emitted,
    event,
    history,
    lost,
    memory,
    opened,
    planted,
    queued,
    world,
    written,
)
from tests.semantics.worlds import ALICE, T

PROFILES = pytest.mark.parametrize("profile", [REFERENCE, ORIGINAL], ids=lambda profile: profile.name)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"overflow": "reject"}, "capacity must be a positive safe integer"),
        ({"capacity": 0, "batchSize": 0, "overflow": "reject"}, "capacity must be a positive safe integer"),
        ({"capacity": 1, "batchSize": True, "overflow": "reject"}, "batchSize must be a positive safe integer"),
        (
            {"capacity": 1, "overflow": "reject", "compaction": {"entryThreshold": 0, "capture": "tail"}},
            "compaction.entryThreshold must be a positive safe integer",
        ),
        (
            {"capacity": 1, "overflow": "reject", "compaction": {"entryThreshold": 1, "capture": "none"}},
            "compaction.capture must be callable",
        ),
    ],
)
def test_bad_options(options: dict[str, object], text: str) -> None:
    """The first bad option is named, and nothing is opened (JN-150)."""
    state = world()

    step = call(state, "journal.open", options=options)

    assert (code(step), str(step.outcome)) == ("invalid_event", text)
    assert step.state is state


@pytest.mark.parametrize("options", [None, [], "x", {"capacity": 1}])
def test_no_options(options: object) -> None:
    """What are no options at all are refused."""
    assert code(call(world(), "journal.open", options=options)) == "invalid_event"


@pytest.mark.parametrize(
    ("bound", "expected"), [(1, ["q"]), (2, ["a", "q"]), (3, ["b", "a", "q"]), (9, ["b", "a", "q"])]
)
def test_newest_identities_are_remembered(bound: int, expected: list[str]) -> None:
    """The newest rows by time, then run, then number, oldest first (JN-152, HZ-29)."""
    state = opened()
    for source_id, run_id, clock_ms in (("a", "s", T), ("b", "r", T), ("q", "r", T + 1)):
        state = after(
            state, "journal.emitDurableUnfenced", "a", clock_ms, input=event(run_id=run_id, source_id=source_id)
        )
    state = also_opened(state, B, sourceEventCache=bound)

    assert [source_id for _, source_id, _ in memory(state, B).cache] == expected
    assert memory(state, B).floors.run == {}


def test_remembered_identities_are_committed() -> None:
    """A retry after a restart is told that it stands (JN-152)."""
    state = also_opened(emitted(opened(), "x"), B)

    assert call(state, "journal.emitLossy", B, input=event("x", sourceSeq=0)).outcome == Duplicate(0, 0, "committed")


def test_a_corrupt_row_keeps_the_journal_shut() -> None:
    """One row that does not decode, if it is among the newest, prevents opening (JN-152, HZ-30)."""
    state = planted(opened(), 0, source_id="x" * 1025)

    assert code(call(state, "journal.open", B, options={"capacity": 1, "overflow": "reject"})) == "decode_failed"
    newer = after(state, "journal.emitDurableUnfenced", "a", T + 1, input=event())
    options = {"capacity": 1, "overflow": "reject", "sourceEventCache": 1}
    assert call(newer, "journal.open", B, options=options).outcome is None


def test_opening_twice_or_inside_a_transaction() -> None:
    """A session has one journal, and opens it on what is committed."""
    assert isinstance(call(opened(), "journal.open", options={}).outcome, JournalUsageError)
    inside = after(world(), "session.begin")
    assert isinstance(call(inside, "journal.open", options={}).outcome, JournalUsageError)


@PROFILES
def test_close_drains(profile: Profile) -> None:
    """What was accepted is on disk after a close (JN-231)."""
    state = after(after(queued(opened(profile, batchSize=1), 1, 2, 3), "writer.take"), "journal.close")

    assert memory(state).status == "closed"
    assert history(state) == [(0, 0, "1"), (1, 1, "2"), (2, 2, "3")]
    assert set(state.fates.values()) == {"row"}


def test_close_with_an_unreported_loss() -> None:
    """R-6: close drains whatever was lost before."""
    state = queued(lost(queued(opened(), "a")), "b", "c")
    step = call(state, "close.begin")
    closed = after(step.state, "journal.close")

    assert step.fired == {"R-6"}
    assert closed.fates == {0: "lost", 1: "row", 2: "row"}


def test_close_that_drops_the_queue() -> None:
    """HZ-03: with a loss unreported, original fails its final flush at once, and what is queued is gone unheard."""
    state = queued(lost(queued(opened(ORIGINAL), "a")), "b", "c")

    # Asked past ``call``, because the invariant on fates is the one that this breaks.
    step = apply(state, "a", Command("journal.close", {}, T))

    assert step.outcome is None
    assert step.state.fates == {0: "lost", 1: "abandoned", 2: "abandoned"}
    assert [one.invariant for one in violated_invariants(step.state)] == ["fates", "fates"]
    assert code(apply(step.state, "a", Command("journal.flush", {}, T))) == "journal_closed"


def test_losses_in_the_drain_are_spent() -> None:
    """R-6: a close does not fail over losses, and none is left to be told of afterwards (JN-231, JN-233)."""
    state, ticket = begun(after(queued(opened(batchSize=1), 1, 2), "writer.take"), "close.begin")
    state = drained(after(after(state, "writer.write", fault="sink"), "writer.settle"))
    state = after(state, "close.poll", ticket=ticket)

    assert state.fates == {0: "lost", 1: "row"}
    assert code(call(state, "journal.flush")) == "journal_closed"


def test_an_unreported_loss_outlives_the_close_of_original() -> None:
    """Of two losses the final flush is told of the first; original hands out the other after close (JN-221, JN-233)."""
    state = queued(opened(ORIGINAL), "a", "b")
    state = emitted(emitted(state, 0, sourceSeq=0), 0, sourceSeq=1)
    state, ticket = begun(state, "close.begin")
    state = after(drained(state), "close.poll", ticket=ticket)

    first = call(state, "journal.flush")

    assert code(first) == "idempotency_conflict"
    assert code(call(first.state, "journal.flush")) == "journal_closed"


@pytest.mark.parametrize(
    ("operation", "arguments", "expected"),
    [
        ("journal.emitDurable", {"input": event(), "owner": ALICE}, "journal_closed"),
        ("journal.emitDurable", {"input": event(), "owner": None}, "invalid_event"),
        ("journal.emitDurableUnfenced", {"input": event()}, "journal_closed"),
        ("journal.emitDurableUnfenced", {"input": None}, "journal_closed"),
        ("journal.emitLossy", {"input": event()}, "journal_closed"),
        ("journal.checkpoint", {"runId": "r", "seq": 0, "state": 0, "owner": ALICE}, "journal_closed"),
        ("journal.checkpoint", {"runId": "r", "seq": 0, "state": 0}, "invalid_event"),
        ("journal.compact", {"runId": "r", "owner": ALICE}, "journal_closed"),
        ("journal.flush", {}, "journal_closed"),
    ],
)
def test_after_close(operation: str, arguments: dict[str, object], expected: str) -> None:
    """Writes and flush are refused, a malformed owner before that (JN-233)."""
    state = after(emitted(opened(), 1), "journal.close")

    assert code(call(state, operation, **arguments)) == expected


def test_reads_after_close() -> None:
    """Reads go on; streams and subscriptions have ended, also those opened afterwards (JN-233)."""
    state = compacted(emitted(opened(), 1, 2), 1)
    state = after(after(state, "stream.open", runId="s"), "changes.open")
    state = after(state, "journal.close")
    opened_later = after(after(state, "stream.open", runId="r", afterSequence=0), "changes.open")

    assert call(state, "journal.entries", runId="r", after=0, limit=9).outcome is not None
    assert call(state, "journal.latestCheckpoint", runId="r").outcome is not None
    assert call(state, "journal.generation", runId="r").outcome is not None
    for number in range(1, 9):
        assert call(opened_later, "stream.page", stream=number).outcome == Ended()
        assert call(opened_later, "changes.take", changes=number).outcome == Ended()


def test_closing_refuses_new_work() -> None:
    """From the first moment of a close nothing new is taken, while the writer goes on (JN-230)."""
    state, ticket = begun(queued(opened(), 1), "close.begin")

    assert code(call(state, "journal.emitLossy", input=event())) == "journal_closed"
    assert code(call(state, "journal.checkpoint", runId="r", seq=0, state=0, owner=ALICE)) == "journal_closed"
    assert call(state, "close.poll", ticket=ticket).outcome == Waiting(ticket)
    assert call(state, "close.begin").outcome == Waiting(ticket)
    assert call(drained(state), "close.poll", ticket=ticket).outcome == Done()


def test_close_behind_another_transaction() -> None:
    """A close waits for the transaction that its writer needs (JN-230)."""
    state = after(queued(also_opened(opened(), B), 1), "session.begin", B)

    state, ticket = begun(state, "journal.close")
    freed = after(drained(after(state, "session.commit", B)), "close.poll", ticket=ticket)

    assert memory(freed).status == "closed"
    assert freed.fates == {0: "row"}


@PROFILES
@pytest.mark.parametrize("is_queued", [False, True])
def test_close_inside_a_transaction(profile: Profile, is_queued: bool) -> None:
    """R-9: a usage error; original closes if nothing is outstanding, and hangs else (JN-227)."""
    state = opened(profile)
    state = after(queued(state, 1) if is_queued else state, "session.begin")

    step = call(state, "journal.close")

    if profile is REFERENCE:
        assert isinstance(step.outcome, JournalUsageError)
        assert step.fired == {"R-9"}
    else:
        assert step.outcome == (WouldHang() if is_queued else None)


def test_close_twice() -> None:
    """A closed journal is closed."""
    state = after(opened(), "journal.close")

    assert call(state, "journal.close").state is state
    assert call(state, "journal.close").outcome is None
    assert isinstance(call(state, "close.poll", ticket=1).outcome, JournalUsageError)


def test_close_waits_for_maintenance_of_its_drain() -> None:
    """What the drained entries set going is awaited, too (JN-230, JN-304)."""
    state = queued(opened(compaction={"entryThreshold": 1, "capture": "tail"}), 1)
    state, ticket = begun(state, "close.begin")
    state = drained(state)
    early = call(state, "close.poll", ticket=ticket).outcome
    state = after(after(state, "maintenance.finish"), "close.poll", ticket=ticket)

    assert early == Waiting(ticket)
    assert memory(state).maintenance == {}
    assert memory(state).status == "closed"


def test_forget() -> None:
    """A rewinder makes an instance forget floors and identities of its runs, and of no other (JN-342)."""
    state = emitted(emitted(opened(), 1), 2, run_id="s")
    state = after(state, "journal.forget", runIds=["r"])

    assert memory(state).floors.run == {"s": 1}
    assert memory(state).floors.producer == {("s", "p"): 1}
    assert memory(state).floors.warm == {("s", "p")}
    assert cached(state) == {}


@pytest.mark.parametrize("run_ids", [None, "r", [""], [1]])
def test_forget_refuses(run_ids: object) -> None:
    """Runs are named by identifiers."""
    assert code(call(opened(), "journal.forget", runIds=run_ids)) == "invalid_event"


@pytest.mark.parametrize("stage", ["queued", "taken", "written"])
def test_crash(stage: str) -> None:
    """A crash loses what was queued or taken, and not what was committed (JN-013, HZ-13)."""
    state = queued(opened(), 1)
    if stage == "taken":
        state = after(state, "writer.take")
    if stage == "written":
        state = written(state)

    state = after(state, "session.crash")

    assert state.fates == {0: "row" if stage == "written" else "crashed"}
    assert "a" not in state.instances


def test_a_crash_hides_a_loss() -> None:
    """A loss that the writer met and had not reported goes down with it (JN-223)."""
    state = written(emitted(queued(opened(), "a", "b"), "other", sourceSeq=0))

    assert after(state, "session.crash").fates == {0: "crashed", 1: "row"}


def test_a_crash_keeps_no_memory() -> None:
    """After a crash a new instance allocates above what is on disk, and no number comes back (JN-240)."""
    state = after(emitted(queued(opened(), 1), 2), "session.crash")
    state = emitted(also_opened(state, "a"), 3)

    assert history(state) == [(1, 1, "2"), (2, 2, "3")]


@pytest.mark.parametrize("operation", ["journal.close", "close.begin", "close.poll", "journal.forget"])
def test_without_a_journal(operation: str) -> None:
    """A session without a journal has nothing to close or to forget (JN-420)."""
    assert code(call(world(), operation)) == "journal_closed"


@pytest.mark.parametrize(("fault", "expected"), [("read", "read_failed"), ("newest", "sink_failed")])
def test_opening_where_something_cannot_be_read(fault: str, expected: str) -> None:
    """There is no instance then: the table of generations comes first, the newest identities second (JN-151)."""
    step = call(world(), "journal.open", options={"capacity": 1, "overflow": "reject"}, fault=fault)

    assert code(step) == expected
    assert step.state.instances == {}
