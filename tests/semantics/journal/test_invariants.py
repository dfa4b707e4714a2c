"""Every invariant, refuted by a step that is broken in just the way it forbids.

A broken step is the good one with its result spoiled: what an implementation with that mistake would have done.
"""

from collections.abc import Callable, Mapping
from typing import Final

import attrs
import pytest

from tenure_model.semantics.commands import Command
from tenure_model.semantics.journal.answers import Done
from tenure_model.semantics.journal.commands import apply
from tenure_model.semantics.journal.instance import Instance, Stream, Succeeded
from tenure_model.semantics.journal.invariants import OF_STEPS, violated_between, violated_invariants
from tenure_model.semantics.journal.state import Fate, JournalState, JournalStep, with_instance
from tenure_model.semantics.journal.state_invariants import OF_STATES
from tenure_model.semantics.journal.tables import JournalTables
from tenure_model.semantics.world import Claim, Lease
from tenure_model.vocabulary.journal import CompactionResult, Duplicate, EntriesPage
from tenure_model.vocabulary.outcomes import Claimed, Updated
from tests.semantics.journal.journals import (
    after,
    begun,
    compacted,
    drained,
    emitted,
    event,
    lost,
    memory,
    opened,
    queued,
    written,
)
from tests.semantics.worlds import ALICE, BOB, T


def with_tables(state: JournalState, tables: JournalTables) -> JournalState:
    """The state with other committed tables."""
    return attrs.evolve(state, committed=attrs.evolve(state.committed, journal=tables))


def with_memory(state: JournalState, instance: Instance) -> JournalState:
    """The state with another memory of session ``a``."""
    return attrs.evolve(state, instances={**state.instances, "a": instance})


def with_fate(state: JournalState, entry_id: int, fate: Fate) -> JournalState:
    """The state with another fate of an entry."""
    return attrs.evolve(state, fates={**state.fates, entry_id: fate})


def repeat_a_number(state: JournalState) -> JournalState:
    """A second event at the number of the first."""
    tables = state.committed.journal
    first = tables.events["r"][0]
    other = attrs.evolve(first, source_seq=9, event_id="x")
    return with_tables(state, attrs.evolve(tables, events={"r": (first, other)}))


def repeat_an_identity(state: JournalState) -> JournalState:
    """A second event of the identity of the first."""
    tables = state.committed.journal
    first = tables.events["r"][0]
    return with_tables(state, attrs.evolve(tables, events={"r": (first, attrs.evolve(first, seq=9, event_id="x"))}))


def repeat_an_event_id(state: JournalState) -> JournalState:
    """An event of another run with the id of the first."""
    tables = state.committed.journal
    first = tables.events["r"][0]
    return with_tables(state, attrs.evolve(tables, events={**tables.events, "s": (attrs.evolve(first, run_id="s"),)}))


def delete_the_floor(state: JournalState) -> JournalState:
    """Compaction takes the entry at its checkpoint along."""
    tables = compacted(state, 1).committed.journal
    rows = tuple(row for row in tables.events["r"] if row.seq != 1)
    return with_tables(state, attrs.evolve(tables, events={"r": rows}))


def leave_entries_below(state: JournalState) -> JournalState:
    """Compaction sets the floor and deletes nothing."""
    tables = compacted(state, 1).committed.journal
    return with_tables(state, attrs.evolve(tables, events=state.committed.journal.events, tombstones={}))


def lose_a_receipt(state: JournalState) -> JournalState:
    """An acknowledged event is not on disk."""
    return with_tables(state, attrs.evolve(state.committed.journal, events={}))


def move_a_receipt(state: JournalState) -> JournalState:
    """An acknowledged event stands elsewhere than it was said to."""
    tables = state.committed.journal
    rows = tuple(attrs.evolve(row, seq=row.seq + 1) for row in tables.events["r"])
    return with_tables(state, attrs.evolve(tables, events={"r": rows}))


def drop_the_queue(state: JournalState) -> JournalState:
    """Queued entries vanish without a word."""
    state = queued(state, "q")
    return with_memory(state, attrs.evolve(memory(state), queue=()))


def queue_twice(state: JournalState) -> JournalState:
    """An entry is queued twice."""
    state = queued(state, "q")
    return with_memory(state, attrs.evolve(memory(state), queue=memory(state).queue * 2))


def abandon(state: JournalState) -> JournalState:
    """A close abandons an entry."""
    state = queued(state, "q")
    return with_fate(with_memory(state, attrs.evolve(memory(state), queue=())), 0, "abandoned")


def keep_no_fate(state: JournalState) -> JournalState:
    """An entry is queued that nobody accounts for."""
    return attrs.evolve(queued(state, "q"), fates={})


def publish_early(state: JournalState) -> JournalState:
    """What is not committed yet is published."""
    return with_memory(state, attrs.evolve(memory(state), published=(*memory(state).published, ("r", 7))))


def publish_twice(state: JournalState) -> JournalState:
    """A row is published twice."""
    return with_memory(state, attrs.evolve(memory(state), published=memory(state).published * 2))


def tell_a_subscriber_early(state: JournalState) -> JournalState:
    """A subscriber gets a row that was never published."""
    state, number = begun(state, "changes.open")
    row = attrs.evolve(state.committed.journal.events["r"][0], seq=7)
    return with_memory(state, attrs.evolve(memory(state), changes={number: (row,)}))


def answer_a_flush_early(state: JournalState) -> JournalState:
    """A flush ends before its entries have."""
    state, ticket = begun(queued(state, "q"), "flush.begin")
    flush = attrs.evolve(memory(state).flushes[ticket], answer=Succeeded())
    return with_memory(state, attrs.evolve(memory(state), flushes={ticket: flush}))


def hide_a_loss(state: JournalState) -> JournalState:
    """A flush ends well although one of its entries was lost."""
    state, ticket = begun(queued(state, "q"), "flush.begin")
    state = lost(state)
    flush = attrs.evolve(memory(state).flushes[ticket], answer=Succeeded(), lost=memory(state).losses.last)
    return with_memory(state, attrs.evolve(memory(state), flushes={ticket: flush}))


def gate_before_the_transaction(state: JournalState) -> JournalState:
    """A compaction closes its gate, and then waits for the transaction."""
    state, ticket = begun(state, "compact.begin", runId="r", owner=ALICE)
    compaction = attrs.evolve(memory(state).compactions[ticket], gated=True)
    return with_memory(state, attrs.evolve(memory(state), compactions={ticket: compaction}))


def swallow_a_fact(state: JournalState) -> JournalState:
    """A granted transition leaves no event."""
    told = after(state, "run.transitionOwned", runId="r", owner=ALICE, toStatus="completed")
    return with_tables(told, state.committed.journal)


def tell_facts_out_of_order(state: JournalState) -> JournalState:
    """Two facts change places."""
    state = after(state, "run.claimAndOwn", runId="s", expected=_PENDING, owner=BOB, nowMs=T)
    tables = state.committed.journal
    (stream,) = (run_id for run_id in tables.events if run_id.startswith("flows.companion/"))
    return with_tables(state, attrs.evolve(tables, events={**tables.events, stream: tables.events[stream][::-1]}))


_PENDING: Final = {"status": "pending", "owner": None, "heartbeatAtMs": None}

BROKEN_STATES: Final[Mapping[str, tuple[Callable[[JournalState], JournalState], ...]]] = {
    "unique": (repeat_a_number, repeat_an_identity, repeat_an_event_id),
    "floors": (delete_the_floor, leave_entries_below),
    "receipts": (lose_a_receipt, move_a_receipt),
    "fates": (drop_the_queue, queue_twice, abandon, keep_no_fate),
    "publication": (publish_early, publish_twice, tell_a_subscriber_early),
    "answered flushes": (answer_a_flush_early, hide_a_loss),
    "lock order": (gate_before_the_transaction,),
    "facts": (swallow_a_fact, tell_facts_out_of_order),
}


@pytest.mark.parametrize(
    ("invariant", "broken"), [(name, broken) for name, all_broken in BROKEN_STATES.items() for broken in all_broken]
)
def test_broken_states(invariant: str, broken: Callable[[JournalState], JournalState]) -> None:
    """The invariant is named, in a state that was in order before."""
    state = emitted(opened(), 1, 2)

    assert violated_invariants(state) == ()
    assert invariant in {one.invariant for one in violated_invariants(broken(state))}


@attrs.frozen
class Broken:
    """A command whose step is spoiled."""

    before: JournalState
    command: Command
    spoil: Callable[[JournalStep], JournalStep]


def broken(
    before: JournalState, operation: str, spoil: Callable[[JournalStep], JournalStep], **arguments: object
) -> Broken:
    """A step that ``spoil`` spoils."""
    return Broken(before, Command(operation, arguments, T), spoil)


def answering(outcome: object) -> Callable[[JournalStep], JournalStep]:
    """A step that does the right thing and says something else."""
    return lambda step: attrs.evolve(step, outcome=outcome)


def leading_to(state: JournalState) -> Callable[[JournalStep], JournalStep]:
    """A step that says the right thing and does something else."""
    return lambda step: attrs.evolve(step, state=state)


BASE: Final = emitted(opened(), 1, 2)
QUEUED: Final = queued(BASE, "q")
OWNED: Final = after(opened(), "run.claimAndOwn", runId="s", expected=_PENDING, owner=BOB, nowMs=T)


def _below_a_reader() -> Broken:
    """A row commits below what a reader was given, the numbers before it having been gaps."""
    state = emitted(lost(queued(opened(), 1, 2)), 3)
    state, stream = begun(state, "stream.open", runId="r")
    state = after(state, "stream.page", stream=stream)
    tables = state.committed.journal
    late = attrs.evolve(tables.events["r"][0], seq=0, source_seq=9, event_id="x")
    spoiled = with_tables(state, attrs.evolve(tables, events={"r": (late, *tables.events["r"])}))
    return broken(state, "writer.drain", leading_to(spoiled))


def _below_an_uncommitted_tail() -> Broken:
    """A reader was given what then vanished, and its number comes back."""
    stream = Stream("r", 5, 0, last_read=5)
    state = with_memory(BASE, attrs.evolve(memory(BASE), streams={1: stream}))
    return broken(state, "journal.emitDurableUnfenced", lambda step: step, input=event(3))


def _reuse() -> Broken:
    """After a compaction that took the tail along, numbers come back."""
    state = compacted(BASE, 1)
    tables = state.committed.journal
    reused = attrs.evolve(tables.events["r"][0], seq=0, source_seq=9, event_id="x")
    return broken(state, "writer.drain", leading_to(with_tables(state, attrs.evolve(tables, events={"r": (reused,)}))))


def _floor_falls() -> Broken:
    """A compaction to an older checkpoint moves the floor down."""
    state = compacted(BASE, 1)
    return broken(state, "writer.drain", leading_to(with_tables(state, BASE.committed.journal)))


def _memory_falls() -> Broken:
    """A flush resets what has been handed out."""
    reset = attrs.evolve(memory(BASE), floors=memory(opened()).floors)
    return broken(BASE, "journal.flush", leading_to(with_memory(BASE, reset)))


def _fate_changes() -> Broken:
    """An entry that is a row becomes a loss."""
    state = drained(QUEUED)
    return broken(state, "journal.flush", leading_to(with_fate(state, 0, "lost")))


def _false_end(fate: Fate) -> Broken:
    """A queued entry ends without what its end says having happened."""
    return broken(QUEUED, "writer.settle", leading_to(with_fate(QUEUED, 0, fate)))


def _newest_evicted() -> Broken:
    """Not the oldest entry is evicted but the newest."""
    state = queued(QUEUED, "w")
    spoiled = with_memory(state, attrs.evolve(memory(state), queue=memory(state).queue[:1]))
    return broken(state, "journal.emitLossy", leading_to(with_fate(spoiled, 1, "evicted")))


def _row_changes() -> Broken:
    """A conflicting retry overwrites the row."""
    tables = BASE.committed.journal
    first, *rest = tables.events["r"]
    changed = attrs.evolve(first, content=attrs.evolve(first.content, payload_json="9"))
    spoiled = with_tables(BASE, attrs.evolve(tables, events={"r": (changed, *rest)}))
    return broken(BASE, "journal.emitDurableUnfenced", leading_to(spoiled), input=event(9, sourceSeq=0))


def _tombstone_lost() -> Broken:
    """A tombstone expires."""
    state = compacted(BASE, 1)
    spoiled = with_tables(state, attrs.evolve(state.committed.journal, tombstones={}))
    return broken(state, "writer.drain", leading_to(spoiled))


def _buried_without_a_tombstone() -> Broken:
    """A compaction keeps no identity."""
    state = after(BASE, "journal.checkpoint", runId="r", seq=1, state=0, owner=ALICE)
    spoiled = with_tables(state, attrs.evolve(compacted(BASE, 1).committed.journal, tombstones={}))
    return broken(state, "journal.compact", leading_to(spoiled), runId="r", owner=ALICE)


def _page(spoil: Callable[[JournalStep], JournalStep]) -> Broken:
    state, stream = begun(emitted(BASE, 3), "stream.open", runId="r")
    return broken(state, "stream.page", spoil, stream=stream)


def _skipping(step: JournalStep) -> JournalStep:
    """A page without its second entry."""
    assert isinstance(step.outcome, tuple)
    return attrs.evolve(step, outcome=(step.outcome[0], *step.outcome[2:]))


def _shortened(step: JournalStep) -> JournalStep:
    """A page without its last entry that says it is all."""
    assert isinstance(step.outcome, EntriesPage)
    return attrs.evolve(step, outcome=EntriesPage(step.outcome.entries[:-1], has_more=False))


def _served_below_the_floor() -> Broken:
    """A page from below the floor is served, shortened to what is left."""
    state = compacted(emitted(BASE, 3), 2)
    rest = apply(state, "a", Command("journal.entries", {"runId": "r", "limit": 9, "after": 1}, T)).outcome
    return broken(state, "journal.entries", answering(rest), runId="r", limit=9)


def _polled_early() -> Broken:
    state, ticket = begun(QUEUED, "flush.begin")
    return broken(state, "flush.poll", answering(Done()), ticket=ticket)


def _lost(state: JournalState) -> JournalState:
    """The queue is lost, by a storage that fails."""
    for operation, arguments in (("writer.take", {}), ("writer.write", {"fault": "sink"}), ("writer.settle", {})):
        state = apply(state, "a", Command(operation, arguments, T)).state
    return state


LOST = _lost(QUEUED)


def _told_nobody(state: JournalState) -> JournalState:
    """The loss counts as reported, and no flush has failed."""
    instance = state.instances["a"]
    losses = attrs.evolve(instance.losses, reported_epoch=instance.losses.epoch)
    return with_instance(state, "a", attrs.evolve(instance, losses=losses))


def _polled_away() -> Broken:
    """A flush that waited for an entry that was lost, and says that all is well."""
    state, ticket = begun(QUEUED, "flush.begin")
    return broken(_lost(state), "flush.poll", answering(Done()), ticket=ticket)


def _reconfirmed_beside_a_claim() -> Broken:
    """A reconfirm that ignores a claim, as a heartbeat may."""
    world = OWNED.committed.world
    ownership = world.leases["s"].ownership
    claimed = attrs.evolve(world, leases={**world.leases, "s": Lease(ownership, Claim(ALICE, T))})
    state = attrs.evolve(OWNED, committed=attrs.evolve(OWNED.committed, world=claimed))
    return broken(state, "run.reconfirm", answering(Updated()), runId="s", owner=BOB, nowMs=T)


BROKEN_STEPS: Final[Mapping[str, tuple[Broken, ...]]] = {
    "watermark": (_below_a_reader(), _below_an_uncommitted_tail(), _reuse()),
    "floors rise": (_floor_falls(), _memory_falls()),
    "ends": (
        _fate_changes(),
        _newest_evicted(),
        _false_end("row"),
        _false_end("collapsed"),
        _false_end("lost"),
        _false_end("crashed"),
        broken(written(QUEUED), "writer.settle", leading_to(with_fate(written(QUEUED), 0, "evicted"))),
    ),
    "fence": (
        broken(BASE, "journal.emitDurable", answering(Duplicate(0, 0, "committed")), input=event(1), owner=BOB),
        broken(BASE, "journal.emitDurable", answering(Duplicate(0, 0, "committed")), input=event(1), owner=None),
        broken(BASE, "journal.compact", answering(CompactionResult("r", 1, 1)), runId="r", owner=BOB),
    ),
    "standing rows": (_row_changes(), _tombstone_lost(), _buried_without_a_tombstone()),
    "pages": (
        _page(_skipping),
        _page(answering(())),
        broken(BASE, "journal.entries", _shortened, runId="r", limit=9),
        _served_below_the_floor(),
    ),
    "ended flushes": (
        broken(QUEUED, "flush.begin", answering(Done())),
        broken(QUEUED, "journal.flush", leading_to(QUEUED)),
        _polled_early(),
        broken(LOST, "flush.begin", lambda step: attrs.evolve(step, state=LOST, outcome=Done())),
        _polled_away(),
    ),
    "told losses": (
        broken(LOST, "flush.begin", answering(Done())),
        broken(LOST, "writer.take", leading_to(_told_nobody(LOST))),
        _polled_away(),
    ),
    "reconfirm or steal": (
        _reconfirmed_beside_a_claim(),
        broken(OWNED, "run.steal", answering(Claimed(T)), runId="s", nowMs=T + 30_000),
    ),
    "retried compaction": (
        broken(compacted(BASE, 1), "journal.compact", answering(CompactionResult("r", 1, 1)), runId="r", owner=ALICE),
    ),
    "known duplicates": (
        broken(QUEUED, "journal.emitDurableUnfenced", answering(Duplicate(2, 2, "committed")), input=event("q")),
    ),
}


@pytest.mark.parametrize(
    ("invariant", "step"), [(name, step) for name, all_broken in BROKEN_STEPS.items() for step in all_broken]
)
def test_broken_steps(invariant: str, step: Broken) -> None:
    """The invariant is named of the spoiled step, and was not of the good one, unless that started out spoiled."""
    good = apply(step.before, "a", step.command)
    spoiled = step.spoil(good)

    assert invariant in {one.invariant for one in violated_between(step.before, "a", step.command, spoiled)}
    if spoiled != good:
        assert violated_between(step.before, "a", step.command, good) == ()


def test_every_invariant_is_refuted() -> None:
    """No invariant is without a broken step that it forbids."""
    assert BROKEN_STATES.keys() == OF_STATES.keys()
    assert BROKEN_STEPS.keys() == OF_STEPS.keys()
