"""Every invariant, refuted by a wrong model: what a journal with that mistake would do."""

from collections.abc import Callable, Mapping
from typing import Final

import attrs
import pytest

from tenure_model.explore.journal.properties import PROPERTIES
from tenure_model.explore.journal.scopes import named
from tenure_model.explore.journal.system import Apply, JournalSystem
from tenure_model.explore.journal.traces import shortest
from tenure_model.semantics.commands import Command
from tenure_model.semantics.journal.answers import Done
from tenure_model.semantics.journal.commands import apply
from tenure_model.semantics.journal.instance import Failed, Instance
from tenure_model.semantics.journal.invariants import OF_STEPS
from tenure_model.semantics.journal.state import JournalState, JournalStep, with_instance
from tenure_model.semantics.journal.state_invariants import OF_STATES
from tenure_model.semantics.journal.tables import Event
from tenure_model.semantics.profiles import REFERENCE
from tenure_model.vocabulary.journal import CompactionResult, Duplicate

Spoil = Callable[[JournalState, str, JournalStep], JournalStep]


def with_rows(step: JournalStep, rows: tuple[Event, ...]) -> JournalStep:
    """The step after which these are the rows of ``r``."""
    store = step.state.committed
    tables = attrs.evolve(store.journal, events={**store.journal.events, "r": rows})
    return attrs.evolve(step, state=attrs.evolve(step.state, committed=attrs.evolve(store, journal=tables)))


def rows_of(state: JournalState) -> tuple[Event, ...]:
    """The committed rows of ``r``."""
    return state.committed.journal.events.get("r", ())


def with_memory(step: JournalStep, session: str, instance: Instance) -> JournalStep:
    """The step after which the session remembers this."""
    return attrs.evolve(step, state=with_instance(step.state, session, instance))


def spoiled(operation: str, spoil: Spoil) -> Apply:
    """The model with the steps of one operation spoiled."""

    def wrong(state: JournalState, session: str, command: Command) -> JournalStep:
        step = apply(state, session, command)
        return spoil(state, session, step) if command.operation == operation else step

    return wrong


def instead(operation: str, other: str, without: str | None = None) -> Apply:
    """The model that takes one operation for another."""

    def wrong(state: JournalState, session: str, command: Command) -> JournalStep:
        if command.operation != operation:
            return apply(state, session, command)
        arguments = {name: value for name, value in command.arguments.items() if name != without}
        return apply(state, session, Command(other, arguments, command.clock_ms))

    return wrong


def one_event_id(before: JournalState, session: str, step: JournalStep) -> JournalStep:
    """Event ids are made of the run alone."""
    return with_rows(step, tuple(attrs.evolve(row, event_id="r") for row in rows_of(step.state)))


def reservation_kept(before: JournalState, session: str, step: JournalStep) -> JournalStep:
    """The writer inserts at the reservation, whatever was committed meanwhile."""
    batch = step.state.instances[session].batch
    old, new = rows_of(before), rows_of(step.state)[len(rows_of(before)) :]
    if batch is None or not new:
        return step
    moved = [attrs.evolve(row, seq=queued.draft.seq) for row, queued in zip(new, batch.entries, strict=False)]
    return with_rows(step, tuple(sorted((*old, *moved), key=lambda row: row.seq)))


def checkpoint_taken_along(before: JournalState, session: str, step: JournalStep) -> JournalStep:
    """Compaction deletes the entry at its checkpoint too."""
    if not isinstance(step.outcome, CompactionResult):
        return step
    floor = step.outcome.checkpoint_seq
    return with_rows(step, tuple(row for row in rows_of(step.state) if row.seq > floor))


def commit_not_on_disk(before: JournalState, session: str, step: JournalStep) -> JournalStep:
    """A crash takes the last commit along."""
    return with_rows(step, rows_of(step.state)[:-1])


def batch_dropped(before: JournalState, session: str, step: JournalStep) -> JournalStep:
    """A flush takes what is queued away."""
    return with_memory(step, session, attrs.evolve(step.state.instances[session], queue=()))


def published_inside(before: JournalState, session: str, step: JournalStep) -> JournalStep:
    """What is written in a transaction is published at once."""
    held = step.state.transaction
    instance = step.state.instances[session]
    if held is None:
        return step
    rows = tuple((row.run_id, row.seq) for row in held.working.journal.events.get("r", ()))
    new = tuple(row for row in rows if row not in instance.published)
    return with_memory(step, session, attrs.evolve(instance, published=(*instance.published, *new)))


def overwritten(before: JournalState, session: str, step: JournalStep) -> JournalStep:
    """A duplicate replaces the row that stands."""
    if not isinstance(step.outcome, Duplicate):
        return step
    seq = step.outcome.seq
    changed = [attrs.evolve(row, content=attrs.evolve(row.content, payload_json="9")) for row in rows_of(before)]
    return with_rows(
        step, tuple(new if new.seq == seq else old for new, old in zip(changed, rows_of(before), strict=True))
    )


def first_skipped(before: JournalState, session: str, step: JournalStep) -> JournalStep:
    """A page begins after its first entry."""
    return attrs.evolve(step, outcome=step.outcome[1:]) if isinstance(step.outcome, tuple) else step


def done_at_once(before: JournalState, session: str, step: JournalStep) -> JournalStep:
    """A flush that waits says that it is done."""
    return attrs.evolve(step, outcome=Done())


def loss_hidden(before: JournalState, session: str, step: JournalStep) -> JournalStep:
    """A flush that fails says that it has ended well."""
    return attrs.evolve(step, outcome=Done()) if isinstance(step.outcome, Failed) else step


def gated_at_once(before: JournalState, session: str, step: JournalStep) -> JournalStep:
    """A compaction closes the gate, and then waits for the run and the database."""
    instance = step.state.instances[session]
    gated = {number: attrs.evolve(one, gated=True) for number, one in instance.compactions.items()}
    return with_memory(step, session, attrs.evolve(instance, compactions=gated))


def fact_not_appended(before: JournalState, session: str, step: JournalStep) -> JournalStep:
    """A granted transition leaves nothing on the companion stream."""
    store = attrs.evolve(step.state.committed, journal=before.committed.journal)
    return attrs.evolve(step, state=attrs.evolve(step.state, committed=store))


WRONG: Final[Mapping[str, tuple[str, Apply]]] = {
    "unique": ("beside", spoiled("writer.write", one_event_id)),
    "watermark": ("beside", spoiled("writer.write", reservation_kept)),
    "floor": ("compaction", spoiled("compact.poll", checkpoint_taken_along)),
    "receipts": ("crash", spoiled("session.crash", commit_not_on_disk)),
    "fates": ("closing", spoiled("flush.begin", batch_dropped)),
    "publication": ("nested", spoiled("journal.emitDurableUnfenced", published_inside)),
    "fence": ("fence", instead("journal.emitDurable", "journal.emitDurableUnfenced", without="owner")),
    "standing-rows": ("retries", spoiled("journal.emitDurableUnfenced", overwritten)),
    "pages": ("beside", spoiled("stream.page", first_skipped)),
    "flush": ("closing", spoiled("flush.begin", done_at_once)),
    "reconfirm-or-steal": ("fence", instead("run.reconfirm", "run.heartbeat")),
    "lock-order": ("compaction", spoiled("compact.begin", gated_at_once)),
    "facts": ("fence", spoiled("run.steal", fact_not_appended)),
}
"""For each property, a scope and a model that breaks it there."""


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_model_breaks_it(name: str) -> None:
    """The property fails of the wrong model, in the named scope."""
    scope, wrong = WRONG[name]
    judged = [one for one in PROPERTIES if one.name == name]
    trace = shortest(JournalSystem(named(scope, REFERENCE), wrong, judged))

    assert trace is not None
    assert trace.steps[-1].broken == (name,)


@pytest.mark.parametrize("operation", ["flush.begin", "flush.poll"])
@pytest.mark.parametrize("scope", ["closing", "overflow-reject"])
def test_no_flush_hides_a_loss(scope: str, operation: str) -> None:
    """Whether it fails at once or is asked how it ended, a flush that says that all is well is found out."""
    judged = [one for one in PROPERTIES if one.name == "flush"]
    trace = shortest(JournalSystem(named(scope, REFERENCE), spoiled(operation, loss_hidden), judged))

    assert trace is not None
    assert trace.steps[-1].call.command.operation == operation


def test_every_property_can_fail() -> None:
    """There is a wrong model for each."""
    assert list(WRONG) == [one.name for one in PROPERTIES]


def test_every_invariant_is_judged() -> None:
    """Each check of the semantics stands behind one property."""
    of_states = [check for one in PROPERTIES for check in one.of_states]
    of_steps = [check for one in PROPERTIES for check in one.of_steps]

    assert sorted(of_states, key=repr) == sorted(OF_STATES.values(), key=repr)
    assert sorted(of_steps, key=repr) == sorted(OF_STEPS.values(), key=repr)
