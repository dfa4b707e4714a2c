"""Where a journal is wrong the harness finds it: in the answer, in a table, in memory, or in an invariant."""

import json

import attrs
import pytest

from tenure.port import JournalStoreSystem
from tenure_model.conform.journal_model import JournalModelSystem
from tenure_model.conform.replay import replay
from tenure_model.conform.traces import parse_trace
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE
from tests.differential.choice import RandomChooser
from tests.differential.journal_pair import JournalPair
from tests.differential.journal_scenario import JournalScenario
from tests.differential.pair import Divergence, close_pair
from tests.differential.report import describe, trace_document, write_failure
from tests.differential.shrink import shrink

ONE = ("s0",)


def found_by(make_pair, episodes=60, steps=200):
    """The first divergence that seeded episodes end in."""
    for seed in range(episodes):
        pair = make_pair()
        try:
            scenario = JournalScenario(RandomChooser(seed), pair)
            for _ in range(steps):
                scenario.step()
        except Divergence as divergence:
            return divergence
        finally:
            close_pair(pair)
    return None


class AlteredStore(JournalStoreSystem):
    """A store whose schema somebody has changed by hand."""

    statement = ""

    def __init__(self, sessions, folder):
        super().__init__(sessions, folder)
        self.alter(self.statement)


class LosesTombstones(AlteredStore):
    """Tombstones disappear as soon as they are written."""

    statement = (
        "CREATE TRIGGER lose_tombstones AFTER INSERT ON flows_journal_dedup"
        " BEGIN DELETE FROM flows_journal_dedup WHERE event_id = NEW.event_id; END"
    )


class CompactsOneMore(AlteredStore):
    """The entry at the checkpoint does not survive its compaction."""

    statement = (
        "CREATE TRIGGER compact_one_more AFTER UPDATE OF compacted_at_ms ON flows_journal_checkpoints"
        " BEGIN DELETE FROM flows_journal_events WHERE run_id = NEW.run_id AND seq = NEW.seq; END"
    )


class PublishesTwice(JournalModelSystem):
    """A model that tells subscribers of a durable event before it is committed, too."""

    def journal(self, session):
        view = super().journal(session)
        if view.memory is None or self.model.transaction is None:
            return view
        pending = tuple(
            (event.run_id, event.seq)
            for events in self.model.transaction.working.journal.events.values()
            for event in events[len(self.model.committed.journal.events.get(event_run(events), ())) :]
        )
        return attrs.evolve(view, memory=attrs.evolve(view.memory, published=view.memory.published + pending))


def event_run(events):
    """The run that these events belong to."""
    return events[0].run_id if events else ""


class IgnoresFence(JournalModelSystem):
    """A model that answers a fenced emit as if there were no fence."""

    def call(self, session, operation, arguments, clock_ms):
        if operation == "journal.emitDurable":
            operation, arguments = "journal.emitDurableUnfenced", {"input": arguments["input"]}
        return super().call(session, operation, arguments, clock_ms)


class FlushForgetsLosses(JournalModelSystem):
    """A model whose flush never fails."""

    def call(self, session, operation, arguments, clock_ms):
        result = super().call(session, operation, arguments, clock_ms)
        return None if operation == "journal.flush" else result


class CompactsAtOnce(JournalModelSystem):
    """A model whose compaction never holds the transaction between two steps."""

    def call(self, session, operation, arguments, clock_ms):
        result = super().call(session, operation, arguments, clock_ms)
        held = self.model.transaction
        if operation == "compact.poll" and held is not None and held.compaction == arguments["ticket"]:
            return super().call(session, operation, arguments, clock_ms)
        return result


class ClosesEarly(JournalModelSystem):
    """A model that is closed as soon as it is asked whether it is."""

    def call(self, session, operation, arguments, clock_ms):
        if operation == "close.poll":
            super().call(session, "writer.drain", {}, clock_ms)
        return super().call(session, operation, arguments, clock_ms)


class CountsNothing(JournalModelSystem):
    """A model whose maintenance is over at its first stage."""

    def call(self, session, operation, arguments, clock_ms):
        if operation == "maintenance.step":
            return super().call(session, "maintenance.finish", {}, clock_ms)
        return super().call(session, operation, arguments, clock_ms)


class ReadsWhateverHappens(JournalModelSystem):
    """A model whose reads never fail."""

    def call(self, session, operation, arguments, clock_ms):
        return super().call(session, operation, {n: v for n, v in arguments.items() if n != "fault"}, clock_ms)


class RunsAtOnce(JournalModelSystem):
    """A model that does not wait for the commit with the program's own work."""

    def call(self, session, operation, arguments, clock_ms):
        if operation == "journal.whenCommitted":
            self.model = attrs.evolve(self.model, ran=(*self.model.ran, arguments["label"]))
            return True
        return super().call(session, operation, arguments, clock_ms)


def with_store(kind):
    """The reference model against an altered store."""
    return lambda: JournalPair(JournalModelSystem(REFERENCE), kind.in_memory(ONE), ONE)


def with_model(kind, profile=REFERENCE):
    """A wrong model against the store."""
    return lambda: JournalPair(kind(profile), JournalStoreSystem.in_memory(ONE), ONE)


MUTANTS = {
    "wedges of the original": with_model(JournalModelSystem, ORIGINAL),
    "tombstones lost": with_store(LosesTombstones),
    "compacts one entry more": with_store(CompactsOneMore),
    "publishes before the commit": with_model(PublishesTwice),
    "no fence": with_model(IgnoresFence),
    "flush hides losses": with_model(FlushForgetsLosses),
    "compacts without a gate": with_model(CompactsAtOnce),
    "closes early": with_model(ClosesEarly),
    "maintenance in one go": with_model(CountsNothing),
    "reads never fail": with_model(ReadsWhateverHappens),
    "work does not wait for the commit": with_model(RunsAtOnce),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_every_mutant_is_found_and_shrunk(name):
    """A wrong journal is found, and its history shrinks to a dozen steps or two."""
    make_pair = MUTANTS[name]
    found = found_by(make_pair)

    assert found is not None
    assert len(shrink(found, make_pair, seconds=20).actions) <= 16


@pytest.mark.parametrize(
    ("name", "kind"), [("flush hides losses", FlushForgetsLosses), ("compacts without a gate", CompactsAtOnce)]
)
def test_a_divergence_is_told_and_replays(name, kind, tmp_path):
    """The file that a failure leaves agrees with the model that wrote it, and differs from the store."""
    make_pair = MUTANTS[name]
    shortest = shrink(found_by(make_pair), make_pair, seconds=20)
    document = trace_document(shortest, make_pair, {"seed": 1})
    trace = parse_trace(json.loads(write_failure(document, tmp_path, "seed-1").read_text()), "failure")
    store = JournalStoreSystem.on_file(trace.sessions)

    report = replay(trace, store, REFERENCE)
    again = replay(trace, kind(REFERENCE), ORIGINAL)
    store.close()

    assert "Differs in" in describe(shortest, document)
    assert report.verdict == "differs"
    assert again.verdict == "agrees"


def moved_up(before, after):
    """How many waiting entries a step committed above what was reserved for them."""
    if before.memory is None:
        return 0
    reserved = {identity: seq for identity, seq, _ in before.memory.identities}
    rows = {(run_id, event[2], event[3]): event[0] for run_id, events in after.events.items() for event in events}
    waiting = before.memory.batch or before.memory.queue
    return sum(rows.get(identity, -1) > reserved.get(identity, 2**53) for identity in waiting)


def test_large_batches_are_overtaken():
    """The harness reaches what a store does with many entries at once, where they have to move up (JN-211, JN-242)."""
    most = 0
    for seed in range(60):
        pair = JournalPair(JournalModelSystem(REFERENCE), JournalStoreSystem.in_memory(ONE), ONE)
        scenario = JournalScenario(RandomChooser(seed), pair)
        after = pair.model.journal("s0")
        for _ in range(200):
            before = after
            scenario.step()
            after = pair.model.journal("s0")
            most = max(most, moved_up(before, after))
        close_pair(pair)
        if most >= 8:
            break

    assert most >= 8
