"""Run operations beside a journal: each granted transition leaves its fact on the companion stream (RS-700..RS-704)."""

import attrs

from tenure_model.admission.event_identity import companion_run_id
from tenure_model.semantics import commands
from tenure_model.semantics.commands import Command, method_of
from tenure_model.semantics.journal.after_commit import conclude
from tenure_model.semantics.journal.durable import append, prepare_event
from tenure_model.semantics.journal.instance import Instance
from tenure_model.semantics.journal.state import (
    JournalState,
    JournalStep,
    Settle,
    Store,
    is_busy,
    visible,
    with_instance,
)
from tenure_model.semantics.steps import database_failure
from tenure_model.semantics.world import World
from tenure_model.vocabulary.constants import COMPANION_STREAM
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.journal import JournalInput
from tenure_model.vocabulary.journal_errors import JournalError

FACT_SOURCE = "flows.run-store"
"""The producer of ownership facts (RS-701)."""


def apply_run_operation(state: JournalState, session: str, command: Command) -> JournalStep:
    """One run operation, or raw write, as the session's store does it (RS-390).

    Its facts are appended in the same transaction by the session's instance, durably and unfenced, which spends numbers
    of that instance (JN-130, JN-174). Without an instance nothing is recorded; where the append fails, as it does after
    the journal was closed, the operation fails ``persistence_failed`` and nothing of it remains (RS-702).
    """
    store = visible(state, session)
    step = commands.apply(store.world, command)
    if step.transacted and is_busy(state, session):
        return JournalStep(state, database_failure("busy", method_of(command)))
    if step.world is store.world:
        return JournalStep(state, step.outcome, step.fired)
    instance = state.instances.get(session)
    facts = _new_facts(store.world, step.world)
    if instance is None or not facts:
        world = attrs.evolve(step.world, facts=store.world.facts) if facts else step.world
        after = Store(world, store.journal, store.receipts)
        state, fired = conclude(state, session, after, (), command.clock_ms)
        return JournalStep(state, step.outcome, step.fired | fired)

    after = Store(step.world, store.journal, store.receipts)
    updates: list[Settle] = []
    for fact in facts:
        prepared = prepare_event(instance, command.clock_ms, fact_event(fact))
        if isinstance(prepared, JournalError):
            return _unrecorded(state, session, instance, command)
        appended = append(instance, after, prepared, None)
        instance, after = appended.instance, appended.store
        if isinstance(appended.receipt, JournalError):
            return _unrecorded(state, session, instance, command)
        updates += appended.updates
    state, fired = conclude(with_instance(state, session, instance), session, after, updates, command.clock_ms)
    return JournalStep(state, step.outcome, step.fired | fired)


def _unrecorded(state: JournalState, session: str, instance: Instance, command: Command) -> JournalStep:
    """A fact that could not be appended takes the whole operation back, but for the numbers that were spent."""
    failure = database_failure("unknown", method_of(command))
    return JournalStep(with_instance(state, session, instance), failure)


def fact_event(fact: OwnershipFact) -> JournalInput:
    """The event that records a fact (RS-700, RS-701)."""
    owner = {"hostId": fact.owner.host_id, "pid": fact.owner.pid, "nonce": fact.owner.nonce}
    return JournalInput(
        run_id=companion_run_id(COMPANION_STREAM, fact.run_id),
        source_id=FACT_SOURCE,
        event_type=fact.event_type,
        payload={"runId": fact.run_id, "owner": owner, "grantedAtMs": fact.granted_at_ms},
        meta={"runId": fact.run_id},
    )


def _new_facts(before: World, after: World) -> list[OwnershipFact]:
    """The facts that an operation recorded, in order."""
    if after.facts is before.facts:
        return []
    return [
        fact
        for run_id, facts in after.facts.items()
        if facts is not before.facts.get(run_id)
        for fact in facts[len(before.facts.get(run_id, ())) :]
    ]
