"""``flush`` and loss reports: who is told that lossy entries were lost (JN-220..JN-228).

Under ``reference`` a flush is a ticket: it ends when every entry admitted before it has left and the maintenance before
it has ended, and then fails with the latest loss if any is unreported or was among those entries (R-8). Under
``original`` it fails at once with an unreported loss, or at the first one reported while it waits, and ends well only
when nothing at all is outstanding.
"""

import attrs

from tenure_model.semantics.journal.answers import Done, Waiting, WouldHang
from tenure_model.semantics.journal.cache import forget
from tenure_model.semantics.journal.instance import (
    Failed,
    Flush,
    FlushAnswer,
    Instance,
    Losses,
    Queued,
    Succeeded,
    is_pending,
    pending,
    pending_count,
)
from tenure_model.semantics.journal.state import NO_REPAIRS, JournalState, JournalStep, is_inside, with_instance
from tenure_model.semantics.profiles import Profile
from tenure_model.vocabulary.journal_errors import CLOSED, JournalError, JournalUsageError, unavailable


def begin_flush(state: JournalState, session: str) -> JournalStep:
    """Begin to flush: ``Done``, ``Failed``, or ``Waiting`` with a ticket for ``poll_flush``.

    Inside the session's own transaction a usage error (R-9); ``original`` decides as ever, and hangs where it would
    wait, because the writer needs the transaction that the caller holds (JN-227, HZ-33). A closed journal first hands
    out a loss that nobody was told of (JN-221, JN-233).
    """
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("flush"))
    if is_inside(state, session):
        return _begin_inside(state, session, instance)
    unreported = instance.losses.unreported
    if instance.status == "closed" and unreported is None:
        return JournalStep(with_instance(state, session, retire(instance)), JournalError("journal_closed", CLOSED))
    instance, number, fired = admit_flush(instance, state.profile, closing=False)
    answer = instance.flushes[number].answer
    if answer is None:
        return JournalStep(with_instance(state, session, instance), Waiting(number), fired)
    return _answered(state, session, instance, number, answer, fired)


def _begin_inside(state: JournalState, session: str, instance: Instance) -> JournalStep:
    if "R-9" in state.profile.repairs:
        error = JournalUsageError("flush cannot wait for the queued writer inside a transaction")
        return JournalStep(state, error, frozenset({"R-9"}))
    unreported = instance.losses.unreported
    if unreported is not None:
        instance = attrs.evolve(instance, losses=_all_reported(instance.losses))
        return JournalStep(with_instance(state, session, retire(instance)), Failed(unreported))
    if instance.status == "closed":
        return JournalStep(with_instance(state, session, retire(instance)), JournalError("journal_closed", CLOSED))
    if pending_count(instance) == 0 and not instance.maintenance:
        return JournalStep(with_instance(state, session, retire(instance)), Done())
    return JournalStep(state, WouldHang())


def poll_flush(state: JournalState, session: str, ticket: object) -> JournalStep:
    """How the flush stands: ``Done``, ``Failed`` or still ``Waiting``. An answer is given once."""
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("flush"))
    flush = instance.flushes.get(ticket) if type(ticket) is int else None
    if flush is None or flush.closing or type(ticket) is not int:
        return JournalStep(state, JournalUsageError("no flush has this ticket"))
    if flush.answer is None:
        return JournalStep(state, Waiting(ticket))
    return _answered(state, session, instance, ticket, flush.answer, NO_REPAIRS)


def _answered(
    state: JournalState, session: str, instance: Instance, ticket: int, answer: FlushAnswer, fired: frozenset[str]
) -> JournalStep:
    flushes = {number: flush for number, flush in instance.flushes.items() if number != ticket}
    state = with_instance(state, session, attrs.evolve(instance, flushes=flushes))
    return JournalStep(state, Done() if isinstance(answer, Succeeded) else answer, fired)


def admit_flush(instance: Instance, profile: Profile, *, closing: bool) -> tuple[Instance, int, frozenset[str]]:
    """Enter a flush, which may have its answer at once, and the repairs by which that differs; answers its number.

    ``closing`` marks the final flush of a close, whose waiting is R-6 rather than R-8.
    """
    number = instance.next_number
    flush = Flush(
        covered=frozenset(queued.entry_id for queued in pending(instance)),
        tasks=frozenset(instance.maintenance),
        closing=closing,
    )
    outstanding = bool(flush.covered) or bool(flush.tasks)
    unreported = instance.losses.unreported
    if "R-8" not in profile.repairs and unreported is not None:
        losses = _all_reported(instance.losses)
        flush = attrs.evolve(flush, answer=Failed(unreported))
        instance = attrs.evolve(
            instance, losses=losses, flushes={**instance.flushes, number: flush}, next_number=number + 1
        )
        return retire(instance), number, NO_REPAIRS
    waits_for_more = outstanding and unreported is not None and "R-8" in profile.repairs
    fired = _repair(flush) if waits_for_more else NO_REPAIRS
    instance = attrs.evolve(instance, flushes={**instance.flushes, number: flush}, next_number=number + 1)
    # With nothing outstanding, original hands out an unreported loss just so, as if it had been reported this instant.
    instance, resolved = resolve(instance, profile, reports=0 if outstanding else 1)
    return instance, number, fired | resolved


def report(instance: Instance, profile: Profile, lost: tuple[Queued, ...], error: JournalError) -> Instance:
    """Report one loss of one or more entries: their identities are forgotten, so that they may be emitted afresh
    (JN-223, JN-225).

    Under ``original`` every waiting flush fails with it, and it is then spent; without one it stays for the next flush.
    Under ``reference`` a flush that covers the entries keeps it in mind, and the report stays for whichever ends first.
    """
    epoch = instance.losses.epoch + 1
    waiting = [number for number, flush in instance.flushes.items() if flush.answer is None]
    entry_ids = frozenset(queued.entry_id for queued in lost)
    flushes = dict(instance.flushes)
    for number in waiting:
        flush = flushes[number]
        if "R-8" not in profile.repairs:
            flushes[number] = attrs.evolve(flush, answer=Failed(error))
        elif not flush.covered.isdisjoint(entry_ids):
            flushes[number] = attrs.evolve(flush, lost=error)
    is_spent = bool(waiting) and "R-8" not in profile.repairs
    instance = attrs.evolve(
        instance,
        cache=forget(instance.cache, frozenset(queued.draft.identity for queued in lost)),
        losses=Losses(epoch, epoch if is_spent else instance.losses.reported_epoch, error),
        flushes=flushes,
    )
    return retire(instance) if is_spent else instance


def resolve(instance: Instance, profile: Profile, reports: int = 0) -> tuple[Instance, frozenset[str]]:
    """Answer every waiting flush whose time has come, the oldest first (JN-214, JN-222).

    Called whenever an entry has left or maintenance has ended; ``reports`` counts the losses reported just now.
    Also answers the repairs by which flushes stand differently: ``original`` ends each with the first report, and none
    while anything at all is outstanding.
    """
    fired: frozenset[str] = NO_REPAIRS
    outstanding = {queued.entry_id for queued in pending(instance)}
    is_idle = not outstanding and not instance.maintenance
    for number, flush in instance.flushes.items():
        if flush.answer is not None:
            continue
        answer: FlushAnswer
        if "R-8" not in profile.repairs:
            if not is_idle:
                continue
            answer = Succeeded()
        else:
            if not flush.covered.isdisjoint(outstanding) or not flush.tasks.isdisjoint(instance.maintenance):
                fired |= _repair(flush) if reports else NO_REPAIRS
                continue
            error = instance.losses.unreported or flush.lost
            answer = Succeeded() if error is None else Failed(error)
            is_same = is_idle if error is None else reports == 1
            fired |= NO_REPAIRS if is_same else _repair(flush)
            instance = attrs.evolve(instance, losses=_all_reported(instance.losses))
        flushes = {**instance.flushes, number: attrs.evolve(flush, answer=answer)}
        instance = retire(attrs.evolve(instance, flushes=flushes))
    return instance, fired


def _repair(flush: Flush) -> frozenset[str]:
    return frozenset({"R-6" if flush.closing else "R-8"})


def _all_reported(losses: Losses) -> Losses:
    return Losses(losses.epoch, losses.epoch, losses.last)


def retire(instance: Instance) -> Instance:
    """Forget the policy's counters of idle runs, as every flush does whatever its outcome (JN-228, HZ-25).

    A run is idle when nothing of it is pending, in admission, read by a stream, or being compacted. Floors stay.
    """
    busy = {stream.run_id for stream in instance.streams.values()}
    busy.update(admission.prepared.run_id for admission in instance.admissions.values())
    busy.update(compaction.run_id for compaction in instance.compactions.values())
    busy.update(task.run_id for task in instance.maintenance.values())
    kept = {
        run_id: counter
        for run_id, counter in instance.counters.items()
        if run_id in busy or is_pending(instance, run_id)
    }
    return instance if len(kept) == len(instance.counters) else attrs.evolve(instance, counters=kept)
