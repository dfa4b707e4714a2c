"""``emitLossy``: admission to the queue, in three phases that other work may come between (JN-190..JN-200)."""

import attrs

from tenure_model.semantics.journal.allocation import allocate_lossy, read_floors
from tenure_model.semantics.journal.answers import Begun, Blocked, is_failing
from tenure_model.semantics.journal.cache import forget, recall, remember
from tenure_model.semantics.journal.durable import prepare_event
from tenure_model.semantics.journal.flush import resolve
from tenure_model.semantics.journal.instance import Admission, Instance, Queued, Remembered, is_gated
from tenure_model.semantics.journal.state import (
    NO_REPAIRS,
    Fate,
    JournalState,
    JournalStep,
    visible,
    with_fates,
    with_instance,
)
from tenure_model.semantics.journal.tables import Draft, content_of
from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.journal import Accepted, Dropped, Duplicate, Evicted
from tenure_model.vocabulary.journal_errors import (
    CLOSED,
    FLOOR_READ_FAILED,
    QUEUE_FULL,
    JournalError,
    JournalUsageError,
    unavailable,
)


def emit_lossy(state: JournalState, session: str, clock_ms: float, event: object) -> JournalStep:
    """All three phases in a row: ``Accepted``, ``Duplicate``, ``Dropped``, or a refusal (JN-190).

    It begins no transaction; inside one, the entry stays queued whether that commits or not (JN-200).
    """
    begun = begin_lossy(state, session, clock_ms, event)
    if not isinstance(begun.outcome, Begun):
        return begun
    token = begun.outcome.token
    return finish_lossy(read_lossy(begun.state, session, token).state, session, token)


def begin_lossy(state: JournalState, session: str, clock_ms: float, event: object) -> JournalStep:
    """Phase 1: prepare, and look a given identity up in memory; ``Begun`` with a token where that decides nothing.

    What memory knows is answered without a number spent (JN-191). ``Blocked`` while a compaction has closed the run's
    gate (JN-287).
    """
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("emitLossy"))
    prepared = prepare_event(instance, clock_ms, event)
    if isinstance(prepared, JournalError):
        return JournalStep(state, prepared)
    if is_gated(instance, prepared.run_id):
        return JournalStep(state, Blocked())
    admission = Admission(prepared)
    known = _recall(instance, admission)
    if known is not None:
        return JournalStep(state, known)
    token = instance.next_number
    admissions = {**instance.admissions, token: admission}
    instance = attrs.evolve(instance, admissions=admissions, next_number=token + 1)
    return JournalStep(with_instance(state, session, instance), Begun(token))


def read_lossy(state: JournalState, session: str, token: object, fault: object = ABSENT) -> JournalStep:
    """Phase 2: read the durable floors that memory lacks, as the session sees the tables (JN-192, JN-193).

    Nothing is remembered by the read itself, and it happens once. A read that fails ends the admission.
    """
    found = _admission(state, session, token)
    if isinstance(found, JournalError | JournalUsageError):
        return JournalStep(state, found)
    instance, number, admission = found
    if admission.has_read:
        return JournalStep(state, None)
    read = read_floors(instance.floors, visible(state, session).journal, admission.prepared, state.profile)
    if is_failing(fault) and (read.run_floor is not None or read.producer_floor is not None):
        admissions = {other: waiting for other, waiting in instance.admissions.items() if other != number}
        state = with_instance(state, session, attrs.evolve(instance, admissions=admissions))
        return JournalStep(state, JournalError("sink_failed", FLOOR_READ_FAILED))
    instance = attrs.evolve(instance, admissions={**instance.admissions, number: read})
    return JournalStep(with_instance(state, session, instance), None)


def finish_lossy(state: JournalState, session: str, token: object) -> JournalStep:
    """Phase 3: look again, take the numbers, and queue (JN-194, JN-195).

    ``journal_closed`` if the instance has closed meanwhile (JN-232). ``Blocked`` while the gate is closed, and before
    phase 2. A full queue refuses, drops the event, or drops the oldest of any run, as its policy says; the numbers are
    spent in each case (JN-196). R-5 fires where the producer number is one that ``original`` would not have found free.
    """
    found = _admission(state, session, token)
    if isinstance(found, JournalError | JournalUsageError):
        return JournalStep(state, found)
    instance, number, admission = found
    if not admission.has_read or is_gated(instance, admission.prepared.run_id):
        return JournalStep(state, Blocked())
    admissions = {other: waiting for other, waiting in instance.admissions.items() if other != number}
    instance = attrs.evolve(instance, admissions=admissions)
    if instance.status != "open":
        return JournalStep(with_instance(state, session, instance), JournalError("journal_closed", CLOSED))
    known = _recall(instance, admission)
    if known is not None:
        return JournalStep(with_instance(state, session, instance), known)
    allocated = allocate_lossy(instance.floors, admission)
    if isinstance(allocated, JournalError):
        return JournalStep(with_instance(state, session, instance), allocated)
    floors, draft, differs = allocated
    step = _offer(state, session, attrs.evolve(instance, floors=floors), draft)
    return attrs.evolve(step, fired=step.fired | {"R-5"}) if differs else step


def _offer(state: JournalState, session: str, instance: Instance, draft: Draft) -> JournalStep:
    """Queue the draft, or what the overflow policy says of a full queue (JN-195).

    An evicted entry is no loss: nobody but the caller hears of it (JN-226). Its identity is forgotten.
    """
    settings = instance.settings
    evicted: Evicted | AbsentType = ABSENT
    fates: dict[int, Fate] = {}
    if len(instance.queue) >= settings.capacity:
        if settings.overflow == "reject":
            state = with_instance(state, session, instance)
            return JournalStep(state, JournalError("queue_overflow", QUEUE_FULL))
        if settings.overflow == "drop-newest":
            state = with_instance(state, session, instance)
            return JournalStep(state, Dropped(draft.seq, draft.source_seq, "drop-newest"))
        oldest = instance.queue[0]
        fates[oldest.entry_id] = "evicted"
        evicted = Evicted("drop-oldest", 1)
        cache = forget(instance.cache, frozenset({oldest.draft.identity}))
        instance = attrs.evolve(instance, queue=instance.queue[1:], cache=cache)
    entry_id = len(state.fates)
    fates[entry_id] = "outstanding"
    remembered = Remembered(draft.seq, draft.content, "pending")
    instance = attrs.evolve(
        instance,
        queue=(*instance.queue, Queued(entry_id, draft)),
        cache=remember(instance.cache, settings.source_event_cache, draft.identity, remembered),
    )
    instance, fired = (instance, NO_REPAIRS) if evicted is ABSENT else resolve(instance, state.profile)
    state = with_fates(with_instance(state, session, instance), fates)
    return JournalStep(state, Accepted(draft.seq, draft.source_seq, evicted), fired)


def _recall(instance: Instance, admission: Admission) -> Duplicate | JournalError | None:
    prepared = admission.prepared
    if prepared.source_seq is ABSENT:
        return None
    identity = (prepared.run_id, prepared.source_id, prepared.source_seq)
    return recall(instance.cache, identity, content_of(prepared), prepared.dedupe)


def _admission(
    state: JournalState, session: str, token: object
) -> tuple[Instance, int, Admission] | JournalError | JournalUsageError:
    instance = state.instances.get(session)
    if instance is None:
        return unavailable("emitLossy")
    admission = instance.admissions.get(token) if type(token) is int else None
    if admission is None or type(token) is not int:
        return JournalUsageError("no admission has this token")
    return instance, token, admission
