"""Tests of what the journal counts and which spans its operations open."""

from collections.abc import Callable, Mapping
from contextlib import suppress

import pytest

import tenure
from tenure.database.engine import DatabaseError
from tenure.journal.driving import ManualDriver
from tests.metrics.support import Observed, key, new_observed, swallow
from tests.runs.support import NOW, A, B

EVENT = {"runId": "r", "sourceId": "p", "eventType": "e"}


def event(payload: object = None, **fields: object) -> tenure.JournalInput:
    """An event of run ``r``."""
    return tenure.JournalInput("r", "p", "e", payload, **fields)  # type: ignore[arg-type]  # fields by name


def own(observed: Observed) -> None:
    """Make ``A`` own the run, and forget what that counted."""
    observed.runs.create("r", "{}")
    observed.runs.claim_and_own("r", tenure.PENDING, A, NOW)


def writes(channel: str, receipt: str) -> object:
    """The counter of a receipt."""
    return key("flows_journal_writes", channel=channel, receipt=receipt)


def test_each_durable_receipt_is_counted(journaling: Observed) -> None:
    """Fenced or not, accepted or duplicate (JN-410)."""
    own(journaling)
    journal = journaling.store.journal
    with journaling.rises() as risen:
        journal.emit_durable(event(source_seq=7), A)
        journal.emit_durable(event(source_seq=7), A)
        journal.emit_durable_unfenced(event())

    assert risen == {writes("durable", "accepted"): 2, writes("durable", "duplicate"): 1}


def test_each_lossy_receipt_is_counted(journaling: Observed) -> None:
    """Accepted, duplicate of what is queued, dropped (JN-410)."""
    journal = journaling.store.journal
    with journaling.rises() as risen:
        journal.emit_lossy(event(source_seq=0))
        journal.emit_lossy(event(source_seq=0))
        journal.emit_lossy(event())
        journal.emit_lossy(event())

    assert risen == {
        writes("lossy", "accepted"): 2,
        writes("lossy", "duplicate"): 1,
        writes("lossy", "dropped"): 1,
    }


def test_an_evicted_entry_is_no_loss() -> None:
    """Who evicts is accepted, and what gave way is not counted (JN-226, JN-410, JN-411)."""
    options = tenure.JournalOptions(capacity=1, overflow="drop-oldest")
    observed = new_observed(journal=tenure.JournalSetup(options, "manual"))
    with observed.rises() as risen:
        observed.store.journal.emit_lossy(event())
        observed.store.journal.emit_lossy(event())
        observed.store.journal.flush()

    assert risen == {writes("lossy", "accepted"): 2}
    observed.store.close()


@pytest.mark.parametrize(
    "call",
    [
        lambda journal: journal.emit_durable(event(), B),
        lambda journal: journal.emit_durable(event(), None),
        lambda journal: journal.emit_durable_unfenced(None),
        lambda journal: journal.emit_lossy({}),
    ],
)
def test_a_failure_is_not_counted(journaling: Observed, call: Callable[[tenure.Journal], object]) -> None:
    """Without a receipt there is nothing to count (JN-410)."""
    own(journaling)
    with journaling.rises() as risen, pytest.raises(tenure.JournalError):
        call(journaling.store.journal)

    assert risen == {}


def test_a_rollback_does_not_take_a_receipt_back(journaling: Observed) -> None:
    """A durable receipt counts when it is given (JN-410)."""

    def leave() -> None:
        with journaling.store.journal.transact():
            journaling.store.journal.emit_durable_unfenced(event())
            raise RuntimeError

    with journaling.rises() as risen:
        swallow(leave)

    assert risen == {writes("durable", "accepted"): 1}


def test_facts_of_ownership_are_durable_writes(journaling: Observed) -> None:
    """They are appended as any unfenced event is (JN-130, JN-410)."""
    journaling.runs.create("r", "{}")
    with journaling.rises() as risen:
        journaling.runs.claim_and_own("r", tenure.PENDING, A, NOW)

    assert risen == {
        key("flows_run_claims", op="claim_and_own", outcome="activated"): 1,
        writes("durable", "accepted"): 2,
    }


def test_losses_are_counted_as_they_happen(journaling: Observed) -> None:
    """By entry, under the loss's code, though no flush waits (JN-411)."""
    journal = journaling.store.journal
    driver = journal.instance.driver
    assert isinstance(driver, ManualDriver)
    journal.emit_lossy(event())
    journal.emit_lossy(event())
    journaling.fail_with(DatabaseError("io"), on="INSERT")
    driver.writer.take()
    driver.writer.write()
    with journaling.rises() as risen:
        driver.writer.settle()
    journaling.mend()

    assert risen == {key("flows_journal_lost", channel="lossy", code="sink_failed"): 2}


def test_losses_of_single_entries_go_under_their_own_code(journaling: Observed) -> None:
    """An identity that has other content is a conflict (JN-411)."""
    journal = journaling.store.journal
    journal.instance.cache.forget_runs({"r"})
    journal.emit_lossy(event(1, source_seq=0))
    with suppress(tenure.JournalError), journaling.rises() as risen:
        journaling.store.database.write(
            journaling.store.database.rows,
            "INSERT INTO flows_journal_events (run_id, seq, event_id, source_id, source_seq, emitted_at_ms, event_type,"
            " payload_json, meta_json) VALUES ('r', 5, '[\"r\",\"p\",0]', 'p', 0, 1, 'e', '2', '{}')",
        )
        swallow(journal.flush)

    assert risen == {key("flows_journal_lost", channel="lossy", code="idempotency_conflict"): 1}


@pytest.mark.parametrize(
    ("call", "name", "attributes"),
    [
        (lambda journal: journal.emit_durable(event(), A), "emitDurable", EVENT),
        (
            lambda journal: journal.emit_durable_unfenced(
                {"runId": "r", "sourceId": "q", "eventType": "f", "payload": 1}
            ),
            "emitDurableUnfenced",
            {"runId": "r", "sourceId": "q", "eventType": "f"},
        ),
        (lambda journal: journal.emit_lossy(event()), "emitLossy", EVENT),
        (lambda journal: journal.flush(), "flush", {"pending": 1}),
        (lambda journal: journal.entries("r", limit=3), "entries", {"runId": "r", "limit": 3}),
        (
            lambda journal: journal.entries("r", limit=3, after=0, event_types=["e", "f"]),
            "entries",
            {"runId": "r", "limit": 3, "after": 0, "eventTypes": ("e", "f")},
        ),
        (lambda journal: journal.stream("r").close(), "stream", {"runId": "r"}),
        (lambda journal: journal.stream("r", after_sequence=4), "stream", {"runId": "r", "afterSequence": 4}),
        (lambda journal: journal.changes().close(), "changes", {}),
        (lambda journal: journal.checkpoint("r", 0, {}, A), "checkpoint", {"runId": "r", "seq": 0}),
        (lambda journal: journal.latest_checkpoint("r"), "latestCheckpoint", {"runId": "r"}),
        (lambda journal: journal.generation("r"), "generation", {"runId": "r"}),
        (lambda journal: journal.transact(lambda: None), "transact", {}),
        (lambda journal: journal.when_committed(lambda: None), "whenCommitted", {}),
        (lambda journal: journal.forget(["r"]), "forget", {}),
        (lambda journal: journal.close(), "close", {}),
    ],
)
def test_each_operation_has_a_span(
    journaling: Observed, call: Callable[[tenure.Journal], object], name: str, attributes: Mapping[str, object]
) -> None:
    """With what tells it apart; there is no ``outcome`` (JN-413)."""
    own(journaling)
    journal = journaling.store.journal
    journal.emit_durable_unfenced(event())
    journal.emit_lossy(event())
    journaling.collected.spans()
    call(journal)

    assert journaling.collected.of_operations() == [(f"Journal.{name}", attributes, False)]


def test_a_compaction_names_its_checkpoint(journaling: Observed) -> None:
    """``upTo`` where the call has it (JN-413)."""
    own(journaling)
    journal = journaling.store.journal
    journal.emit_durable_unfenced(event())
    journal.emit_durable_unfenced(event())
    journal.checkpoint("r", 1, {}, A)
    journaling.collected.spans()
    journal.compact("r", A, up_to=1)
    journal.compact("r", A)

    assert journaling.collected.of_operations() == [
        ("Journal.compact", {"runId": "r", "upTo": 1}, False),
        ("Journal.compact", {"runId": "r"}, False),
    ]


def test_a_projection_goes_by_its_name(journaling: Observed) -> None:
    """Its stream is a span inside it (JN-413)."""
    projection = tenure.Projection("count", 0, lambda state, entry: state + 1)
    with journaling.store.journal.project(projection, "r") as states:
        first = next(states)

    assert first == 0
    assert journaling.collected.of_operations() == [
        ("Journal.stream", {"runId": "r"}, False),
        ("Journal.project", {"projection": "count", "runId": "r"}, False),
    ]


@pytest.mark.parametrize(
    ("call", "name", "attributes"),
    [
        (lambda journal: journal.emit_durable(event(), None), "emitDurable", {}),
        (lambda journal: journal.emit_lossy(None), "emitLossy", {}),
        (lambda journal: journal.entries("r", limit=0), "entries", {}),
        (lambda journal: journal.emit_durable(event(), B), "emitDurable", EVENT),
        (lambda journal: journal.compact("r", A), "compact", {"runId": "r"}),
    ],
)
def test_only_what_is_admitted_is_told(
    journaling: Observed, call: Callable[[tenure.Journal], object], name: str, attributes: Mapping[str, object]
) -> None:
    """A refused input names nothing; a refused write does (JN-413)."""
    own(journaling)
    journaling.collected.spans()
    with pytest.raises(tenure.JournalError):
        call(journaling.store.journal)

    assert journaling.collected.of_operations() == [(f"Journal.{name}", attributes, True)]


def test_a_transaction_is_a_span_around_its_block(journaling: Observed) -> None:
    """What is called in it is inside it, and an error in it is its own (JN-413)."""
    journal = journaling.store.journal

    def leave() -> None:
        with journal.transact():
            journal.emit_durable_unfenced(event())
            raise RuntimeError

    swallow(leave)
    inner, outer = journaling.collected.spans()

    assert (inner.name, outer.name) == ("Journal.emitDurableUnfenced", "Journal.transact")
    assert inner.parent is not None
    assert inner.parent.span_id == outer.context.span_id
    assert (inner.status.is_ok, outer.status.is_ok) == (True, False)


@pytest.mark.parametrize("on", ["BEGIN", "COMMIT"])
def test_a_transaction_that_fails_ends_its_span(journaling: Observed, on: str) -> None:
    """Whether it cannot begin or cannot commit."""
    journal = journaling.store.journal

    def transact() -> None:
        with journal.transact():
            pass

    journaling.fail_with(DatabaseError("io"), on=on)
    with pytest.raises(tenure.JournalError):
        transact()
    journaling.mend()

    assert journaling.collected.of_operations() == [("Journal.transact", {}, True)]


def test_decisions_of_the_strategy_are_spans_inside_the_operation(journaling: Observed) -> None:
    """Each by its method's name, with the run's id (JN-413)."""
    own(journaling)
    journaling.collected.spans()
    journaling.store.journal.emit_durable(event(), A)
    guard, emit = journaling.collected.spans()

    assert (guard.name, dict(guard.attributes or {})) == ("Consensus.guard", {"runId": "r"})
    assert guard.parent is not None
    assert guard.parent.span_id == emit.context.span_id
