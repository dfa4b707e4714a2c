"""The numbers an instance gives out: seq by run, sourceSeq by producer (JN-161, JN-173, JN-194, R-5)."""

from collections.abc import Collection
from typing import TypeAlias

from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.journal_errors import SEQUENCE_EXHAUSTED, JournalError

Producer: TypeAlias = tuple[str, str]
"""Run id and source id."""


class Floors:
    """What the instance has given out so far. Used under the instance's lock; nothing but ``forget`` lowers it.

    A producer is warm once a number was allocated for it implicitly: an explicit number raises its floor and says
    nothing about what is on disk (R-5).
    """

    __slots__ = ("seq", "source", "warm")

    def __init__(self) -> None:
        self.seq: dict[str, int] = {}
        self.source: dict[Producer, int] = {}
        self.warm: set[Producer] = set()

    def allocate(
        self, run_id: str, source_id: str, given: int | AbsentType, run_floor: int, producer_floor: int
    ) -> tuple[int, int]:
        """The next seq and sourceSeq above both floors, the durable ones and these; they are used up from now on.

        Raises ``invalid_event``, and uses up nothing, where either is beyond what can be stored.
        """
        producer = (run_id, source_id)
        source_floor = max(producer_floor, self.source.get(producer, 0))
        source_seq = source_floor if given is ABSENT else given
        seq = max(run_floor, self.seq.get(run_id, 0))
        if seq >= MAX_SAFE_INTEGER or source_seq >= MAX_SAFE_INTEGER:
            raise exhausted()
        self.seq[run_id] = seq + 1
        self.source[producer] = max(source_floor, source_seq + 1)
        if given is ABSENT:
            self.warm.add(producer)
        return seq, source_seq

    def warm_up(self, run_id: str, source_id: str) -> None:
        """Note that the producer's durable floor was read for an implicit number, whatever became of it (R-5)."""
        self.warm.add((run_id, source_id))

    def rise(self, run_id: str, seq: int, source_id: str, source_seq: int) -> None:
        """Never again give out what a settled event has (JN-179)."""
        if self.seq.get(run_id, 0) <= seq:
            self.seq[run_id] = seq + 1
        producer = (run_id, source_id)
        if self.source.get(producer, 0) <= source_seq:
            self.source[producer] = source_seq + 1

    def forget(self, run_ids: Collection[str]) -> None:
        """Drop all floors of these runs (JN-342)."""
        for run_id in run_ids:
            self.seq.pop(run_id, None)
        for producer in [producer for producer in self.source if producer[0] in run_ids]:
            del self.source[producer]
        self.warm = {producer for producer in self.warm if producer[0] not in run_ids}


def exhausted() -> JournalError:
    """No number is left that could be stored (JN-173, JN-244)."""
    return JournalError("invalid_event", SEQUENCE_EXHAUSTED)
