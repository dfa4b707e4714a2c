"""How an instance hands out numbers: ``seq`` in a run, ``source_seq`` of a producer in it (JN-161, JN-172..JN-174)."""

from tenure_model.admission.preparation import Prepared
from tenure_model.semantics.journal.instance import Admission, Floors
from tenure_model.semantics.journal.tables import Draft, JournalTables, drafted, producer_floor, run_floor
from tenure_model.semantics.profiles import Profile
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.journal_errors import SEQUENCE_EXHAUSTED, JournalError


def exhausted() -> JournalError:
    """No number is left whose successor can be represented (JN-022, JN-173)."""
    return JournalError("invalid_event", SEQUENCE_EXHAUSTED)


def allocate_durable(floors: Floors, tables: JournalTables, prepared: Prepared) -> tuple[Floors, Draft] | JournalError:
    """Numbers for a durable event, above what is on disk and what this instance has handed out (JN-173).

    The numbers are spent whatever follows (JN-174). A producer number that was left out is read from the tables, and
    so warms the producer (R-5).
    """
    run_id, source_id = prepared.run_id, prepared.source_id
    source_seq = prepared.source_seq
    if source_seq is ABSENT:
        read = producer_floor(tables, run_id, source_id)
        source_seq = max(read, floors.producer.get((run_id, source_id), 0))
    seq = max(run_floor(tables, run_id), floors.run.get(run_id, 0))
    if MAX_SAFE_INTEGER in (source_seq, seq):
        return exhausted()
    raised = raise_floors(floors, run_id, seq, source_id, source_seq)
    if prepared.source_seq is ABSENT:
        raised = warm(raised, run_id, source_id)
    return raised, drafted(prepared, seq, source_seq)


def read_floors(floors: Floors, tables: JournalTables, prepared: Prepared, profile: Profile) -> Admission:
    """Phase 2 of a lossy admission: the durable floors that memory does not cover (JN-192).

    The run's is read where the instance has none. The producer's is read where the number was left out and, under
    ``original``, the instance has none, even one that only an explicit number raised (HZ-01); R-5 reads it unless the
    producer is warm.
    """
    run_id, source_id = prepared.run_id, prepared.source_id
    needs_run = run_id not in floors.run
    known = (run_id, source_id) in floors.producer
    covered = (run_id, source_id) in floors.warm if "R-5" in profile.repairs else known
    needs_producer = prepared.source_seq is ABSENT and not covered
    return Admission(
        prepared,
        has_read=True,
        run_floor=run_floor(tables, run_id) if needs_run else None,
        producer_floor=producer_floor(tables, run_id, source_id) if needs_producer else None,
        needless=needs_producer and known,
    )


def allocate_lossy(floors: Floors, admission: Admission) -> tuple[Floors, Draft, bool] | JournalError:
    """Numbers for a lossy event, above the floors read in phase 2 and the instance's own (JN-194).

    Also answers whether the producer number differs from the one that ``original`` would have taken (R-5). A number
    that was left out warms the producer, a given one only raises its floor.
    """
    prepared = admission.prepared
    run_id, source_id = prepared.run_id, prepared.source_id
    known = floors.producer.get((run_id, source_id), 0)
    implicit = prepared.source_seq is ABSENT
    source_seq = max(admission.producer_floor or 0, known) if prepared.source_seq is ABSENT else prepared.source_seq
    seq = max(admission.run_floor or 0, floors.run.get(run_id, 0))
    if MAX_SAFE_INTEGER in (source_seq, seq):
        return exhausted()
    raised = raise_floors(floors, run_id, seq, source_id, source_seq)
    if implicit:
        raised = warm(raised, run_id, source_id)
    return raised, drafted(prepared, seq, source_seq), implicit and admission.needless and source_seq != known


def raise_floors(floors: Floors, run_id: str, seq: int, source_id: str, source_seq: int) -> Floors:
    """The floors above these numbers (JN-173, JN-179). They never fall (JN-161)."""
    producer = (run_id, source_id)
    return Floors(
        {**floors.run, run_id: max(floors.run.get(run_id, 0), seq + 1)},
        {**floors.producer, producer: max(floors.producer.get(producer, 0), source_seq + 1)},
        floors.warm,
    )


def warm(floors: Floors, run_id: str, source_id: str) -> Floors:
    """The floors in which the producer's covers what is on disk (R-5)."""
    producer = (run_id, source_id)
    return floors if producer in floors.warm else Floors(floors.run, floors.producer, floors.warm | {producer})


def forget_runs(floors: Floors, run_ids: frozenset[str]) -> Floors:
    """The floors without these runs: what a rewinder asks for, and nobody else (JN-342)."""
    return Floors(
        {run_id: floor for run_id, floor in floors.run.items() if run_id not in run_ids},
        {producer: floor for producer, floor in floors.producer.items() if producer[0] not in run_ids},
        frozenset(producer for producer in floors.warm if producer[0] not in run_ids),
    )
