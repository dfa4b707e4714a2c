"""Opening and closing an instance, and forgetting runs (JN-150..JN-154, JN-230..JN-233, JN-342)."""

import attrs

from tenure_model.admission.journal_options import JournalSettings, admit_journal_options
from tenure_model.admission.text import is_durable_text
from tenure_model.admission.wire_records import wire_members
from tenure_model.semantics.journal.allocation import forget_runs
from tenure_model.semantics.journal.answers import Done, Waiting, WouldHang, is_failing
from tenure_model.semantics.journal.cache import forget, seeded
from tenure_model.semantics.journal.flush import admit_flush, resolve
from tenure_model.semantics.journal.instance import Instance, fresh_instance, pending, pending_count
from tenure_model.semantics.journal.policy import CAPTURES, finish_maintenance
from tenure_model.semantics.journal.reads import decode
from tenure_model.semantics.journal.state import (
    NO_REPAIRS,
    Fate,
    JournalState,
    JournalStep,
    is_inside,
    with_fates,
    with_instance,
)
from tenure_model.semantics.journal.tables import JournalTables
from tenure_model.semantics.journal.writer import drain, fates_of
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal_errors import (
    GENERATIONS_FAILED,
    INVALID_RUN_ID,
    SOURCE_EVENTS_FAILED,
    JournalError,
    JournalUsageError,
    unavailable,
)


def open_instance(
    state: JournalState, session: str, clock_ms: float, options: object, fault: object = ABSENT
) -> JournalStep:
    """Open the session's instance, in place of a closed one: floors empty, the newest identities remembered (JN-152).

    ``invalid_event`` names the first bad option (JN-150); ``decode_failed`` if a row among those identities is corrupt
    (HZ-30). The policy's capture may be given by its name in ``policy.CAPTURES``. A usage error while an instance is
    open, or inside the session's transaction, whose rows may yet be rolled back.
    """
    instance = state.instances.get(session)
    if instance is not None and instance.status != "closed":
        return JournalStep(state, JournalUsageError("the session has an open journal"))
    if is_inside(state, session):
        return JournalStep(state, JournalUsageError("a journal cannot be opened inside a transaction"))
    settings = admit_journal_options(_with_capture(options))
    if isinstance(settings, JournalError):
        return JournalStep(state, settings)
    if is_failing(fault):
        return JournalStep(state, JournalError("read_failed", GENERATIONS_FAILED))
    if is_failing(fault, "newest"):
        return JournalStep(state, JournalError("sink_failed", SOURCE_EVENTS_FAILED))
    tables = state.committed.journal
    corrupt = _corrupt_start(tables, settings)
    if corrupt is not None:
        return JournalStep(state, corrupt)
    cache = seeded(tables, settings.source_event_cache)
    return JournalStep(with_instance(state, session, fresh_instance(settings, cache)), None)


def _corrupt_start(tables: JournalTables, settings: JournalSettings) -> JournalError | None:
    remembered = seeded(tables, settings.source_event_cache)
    for rows in tables.events.values():
        for event in rows:
            if event.identity in remembered and isinstance(undecodable := decode(event), JournalError):
                return undecodable
    return None


def _with_capture(options: object) -> object:
    """The options with a capture in place of its name."""
    members = wire_members(options)
    policy = None if members is None else wire_members(members.get("compaction"))
    if members is None or policy is None:
        return options
    name = policy.get("capture")
    if type(name) is str and name in CAPTURES:
        return {**members, "compaction": {**policy, "capture": CAPTURES[name]}}
    return options


def close_instance(state: JournalState, session: str, clock_ms: float) -> JournalStep:
    """Close the instance, all steps in a row, the writer draining its queue: ``None``.

    ``Waiting`` where somebody holds the transaction that the writer needs: the instance then stays closing, and
    ``poll_close`` ends it.
    """
    step = begin_close(state, session)
    fired = step.fired
    if not isinstance(step.outcome, Waiting):
        return JournalStep(step.state, None if isinstance(step.outcome, Done) else step.outcome, fired)
    ticket = step.outcome.ticket
    state = step.state
    if _is_waiting(state, state.instances[session], ticket):
        drained = drain(state, session)
        maintained = finish_maintenance(drained.state, session, clock_ms)
        state, fired = maintained.state, fired | drained.fired | maintained.fired
    step = poll_close(state, session, ticket)
    return JournalStep(step.state, None if isinstance(step.outcome, Done) else step.outcome, fired | step.fired)


def begin_close(state: JournalState, session: str) -> JournalStep:
    """Refuse new emits from now on, and begin the final flush (JN-230): ``Waiting``, or ``Done`` if closed already.

    R-6 and R-8 make that flush wait until nothing is pending, whatever was lost. Under ``original`` it fails at once
    with an unreported loss, and what is queued is then dropped without a word (HZ-03). Inside the session's transaction
    a usage error (R-9); ``original`` hangs there if anything is outstanding.
    """
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("close"))
    if instance.status == "closed":
        return JournalStep(state, Done())
    if is_inside(state, session):
        if "R-9" in state.profile.repairs:
            error = JournalUsageError("close cannot wait for the queued writer inside a transaction")
            return JournalStep(state, error, frozenset({"R-9"}))
        outstanding = pending_count(instance) > 0 or bool(instance.maintenance)
        if outstanding and instance.losses.unreported is None:
            return JournalStep(state, WouldHang())
    ongoing = next((number for number, flush in instance.flushes.items() if flush.closing), None)
    if ongoing is not None:
        return JournalStep(state, Waiting(ongoing))
    instance, ticket, fired = admit_flush(attrs.evolve(instance, status="closing"), state.profile, closing=True)
    return JournalStep(with_instance(state, session, instance), Waiting(ticket), fired)


def poll_close(state: JournalState, session: str, ticket: object) -> JournalStep:
    """End the close if its final flush has an answer, whichever (JN-230): ``Done``, else ``Waiting``.

    It also waits for the maintenance that the entries before it set going while they drained (JN-304); ``original``
    stops what is not done. Live streams and subscriptions end. Entries still pending are abandoned,
    which happens under ``original`` alone (HZ-03); what the writer has committed stays.
    """
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("close"))
    flush = instance.flushes.get(ticket) if type(ticket) is int else None
    if flush is None or not flush.closing or type(ticket) is not int:
        return JournalStep(state, JournalUsageError("no close has this ticket"))
    if _is_waiting(state, instance, ticket):
        return JournalStep(state, Waiting(ticket))
    fates = unsettled_fates(instance, "abandoned")
    closed = attrs.evolve(
        instance,
        status="closed",
        queue=(),
        batch=None,
        streams={},
        changes={},
        maintenance={},
        flushes={number: other for number, other in instance.flushes.items() if number != ticket},
    )
    fired: frozenset[str] = NO_REPAIRS
    if not fates:
        closed, fired = resolve(closed, state.profile)
    return JournalStep(with_fates(with_instance(state, session, closed), fates), Done(), fired)


def _is_waiting(state: JournalState, instance: Instance, ticket: int) -> bool:
    """Whether there is something left that the close of this ticket waits for."""
    waits_for_tasks = "R-6" in state.profile.repairs and bool(instance.maintenance)
    return instance.flushes[ticket].answer is None or waits_for_tasks


def unsettled_fates(instance: Instance, fate: Fate) -> dict[int, Fate]:
    """What becomes of the pending entries of an instance that is no more: ``fate``, unless the writer had committed
    them. A loss that it had not reported is none (JN-223).
    """
    fates: dict[int, Fate] = {queued.entry_id: fate for queued in pending(instance)}
    if instance.batch is not None and instance.batch.results is not None:
        fates |= {entry_id: end for entry_id, end in fates_of(instance.batch).items() if end != "lost"}
    return fates


def forget_instance_runs(state: JournalState, session: str, clock_ms: float, run_ids: object) -> JournalStep:
    """Drop floors and identities of runs from the session's memory, after a rewind (JN-342).

    Entries that are queued stay queued, with the numbers they have (HZ-19).
    """
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("forget"))
    if type(run_ids) is not list and type(run_ids) is not tuple:
        return JournalStep(state, JournalError("invalid_event", INVALID_RUN_ID))
    if not all(is_durable_text(run_id) for run_id in run_ids):
        return JournalStep(state, JournalError("invalid_event", INVALID_RUN_ID))
    forgotten = frozenset(run_ids)
    identities = frozenset(identity for identity in instance.cache if identity[0] in forgotten)
    instance = attrs.evolve(
        instance, floors=forget_runs(instance.floors, forgotten), cache=forget(instance.cache, identities)
    )
    return JournalStep(with_instance(state, session, instance), None)
