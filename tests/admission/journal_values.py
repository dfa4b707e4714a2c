"""The values that `specs/rules/admission.md` names for the sake of the journal, built afresh for every use."""

from collections.abc import Callable, Mapping
from typing import Final

from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal import JournalInput
from tests.admission import hostile
from tests.admission.values import half_built

INPUT: Final[Mapping[str, object]] = {
    "runId": "run-1",
    "sourceId": "source-1",
    "eventType": "type-1",
    "payload": {},
    "sourceSeq": ABSENT,
    "dedupe": "content",
    "meta": ABSENT,
}
OPTIONS: Final[Mapping[str, object]] = {"capacity": 64, "overflow": "reject"}

_LEAST: Final[Mapping[str, object]] = {name: INPUT[name] for name in ("runId", "sourceId", "eventType", "payload")}

JOURNAL_VALUES: Final[Mapping[str, Callable[[], object]]] = {
    "2^53-2": lambda: 2**53 - 2,
    "10000": lambda: 10_000,
    "10001": lambda: 10_001,
    "text content": lambda: "content",
    "text identity": lambda: "identity",
    "text drop-oldest": lambda: "drop-oldest",
    "64 texts": lambda: [str(number) for number in range(64)],
    "65 texts": lambda: [str(number) for number in range(65)],
    "journal input": lambda: JournalInput("run-1", "source-1", "type-1", {}),
    "journal input without payload": lambda: JournalInput("run-1", "source-1", "type-1"),
    "journal input half built": lambda: half_built(
        JournalInput, run_id="run-1", source_id="source-1", event_type="type-1", payload={}
    ),
    "journal input that runs code": lambda: hostile.hostile_instance(hostile.HostileJournalInput),
    "journal input dict": lambda: {**_LEAST},
    "journal input dict with extra key": lambda: {**_LEAST, "extra": 1},
    "journal input dict with null payload": lambda: {**_LEAST, "payload": None},
    "journal input dict without payload": lambda: {name: _LEAST[name] for name in ("runId", "sourceId", "eventType")},
    "journal input dict with null number": lambda: {**_LEAST, "sourceSeq": None},
    "journal options dict": lambda: {**OPTIONS},
}
