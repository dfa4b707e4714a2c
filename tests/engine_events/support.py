"""Payloads, entries and consumers that are right, to be spoiled one member at a time."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tenure_model.admission.engine_events.entries import decode_entry
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.engine_events.attempts import ATTEMPT_LIFECYCLE
from tenure_model.vocabulary.engine_events.consumers import Attempt, Consumer, State
from tenure_model.vocabulary.engine_events.errors import EventError
from tenure_model.vocabulary.engine_events.lineage import Lineage
from tenure_model.vocabulary.engine_events.states import STATE_EVENT
from tenure_model.vocabulary.journal import Entry
from tests.admission import hostile

Wire = dict[str, Any]

ROOT: Final[Wire] = {
    "kind": "root",
    "runId": "run-1",
    "lineageId": "lineage-1",
    "rootRunId": "run-1",
    "round": 0,
    "parentRunId": None,
}
DERIVED: Final[Wire] = {
    "kind": "child",
    "runId": "run-2",
    "lineageId": "lineage-1",
    "rootRunId": "run-0",
    "round": 3,
    "parentRunId": "run-1",
}
ROOT_LINEAGE: Final = Lineage("root", "run-1", "lineage-1", "run-1", 0, None)
CONSUMER: Final = Consumer("run-1", "lineage-1", "run-1", 0, None, frozenset(("engine", "scheduler")), "ignore")
SURFACING: Final = Consumer("run-1", "lineage-1", "run-1", 0, None, frozenset(("engine",)), "surface")

SUCCESS: Final[Wire] = {"_tag": "Success", "value": {"code": 0}}
FAILURE: Final[Wire] = {"_tag": "Failure", "reason": "error", "detail": None}
RUNNING: Final[Wire] = {"state": "running", "startedAtMs": 5}
SUCCEEDED: Final[Wire] = {"state": "succeeded", "startedAtMs": 5, "finishedAtMs": 4, "result": SUCCESS}
FAILED: Final[Wire] = {"state": "failed", "startedAtMs": 5, "finishedAtMs": 6, "result": FAILURE}
ATTEMPT: Final[Wire] = {
    "version": 2,
    "lineage": ROOT,
    "executionId": "run-1",
    "stepKeyDigest": "digest-1",
    "attempt": 0,
    "lifecycle": RUNNING,
}
DEFERRED: Final[Wire] = {"_tag": "Deferred", "waitId": "wait-1"}
CLOCK: Final[Wire] = {"_tag": "Clock", "waitId": "wait-2", "dueAtMs": 90}
SUSPENDED_EXECUTION: Final[Wire] = {"state": "suspended", "waits": [DEFERRED, CLOCK]}
EXECUTION: Final[Wire] = {"_tag": "Execution", "lifecycle": SUSPENDED_EXECUTION}
STATE: Final[Wire] = {"version": 2, "lineage": ROOT, "executionId": "run-1", "event": EXECUTION}

BAD_IDENTIFIERS: Final[Sequence[object]] = ("", "a\0", "\ud800", "a" * 1025, 1, None, ABSENT, b"a")
BAD_QUANTITIES: Final[Sequence[object]] = (-1, 2**53, 1.0, True, "1", None, ABSENT, float("nan"))
BAD_WORDS: Final[Sequence[object]] = ("", "Running", "cancelled", 1, None, ABSENT, ["running"])


def not_json() -> list[object]:
    """Values that are no JSON, or JSON only by a stretch."""
    cycle: list[object] = []
    cycle.append(cycle)
    return [
        float("nan"),
        float("inf"),
        2**53,
        -(2**53),
        "\ud800",
        {"\ud800": 1},
        {1: 1},
        (1, 2),
        b"bytes",
        ABSENT,
        [ABSENT],
        {"a": ABSENT},
        object(),
        print,
        cycle,
        {"deep": [[float("-inf")]]},
        hostile.hostile_instance(hostile.HostileDict),
        hostile.hostile_instance(hostile.HostileStr),
        hostile.HostileByMetaclass(),
    ]


def spoilt(payload: Mapping[str, object], path: str, value: object) -> Wire:
    """A copy with another value at the path, whose names are parted by dots.

    The last name may be new: then a member too many, or one that may be missing, is added.
    """
    copy = dict(payload)
    name, _, rest = path.partition(".")
    if rest:
        inner = copy[name]
        assert isinstance(inner, dict)
        copy[name] = spoilt(inner, rest, value)
    else:
        copy[name] = value
    return copy


def lacking(payload: Mapping[str, object], path: str) -> Wire:
    """A copy without the member at the path."""
    copy = dict(payload)
    name, _, rest = path.partition(".")
    inner = copy.pop(name)
    if rest:
        assert isinstance(inner, dict)
        copy[name] = lacking(inner, rest)
    return copy


def entry(
    event_type: str = ATTEMPT_LIFECYCLE, payload: object = ATTEMPT, meta: object = None, **envelope: Any
) -> Entry:
    """A committed event of the consumer's run and source."""
    return Entry(
        envelope.get("run_id", "run-1"),
        envelope.get("seq", 7),
        envelope.get("event_id", "event-7"),
        envelope.get("source_id", "engine"),
        envelope.get("source_seq", 3),
        envelope.get("emitted_at_ms", 1_000),
        event_type,
        payload,
        meta,
    )


def wire_entry(given: Entry) -> Wire:
    """The same under the wire's names."""
    return {
        "runId": given.run_id,
        "seq": given.seq,
        "eventId": given.event_id,
        "sourceId": given.source_id,
        "sourceSeq": given.source_seq,
        "emittedAtMs": given.emitted_at_ms,
        "eventType": given.event_type,
        "payload": given.payload,
        "meta": given.meta,
    }


def consumer_of(lineage: Mapping[str, Any]) -> Consumer:
    """Who reads the run of this lineage."""
    return Consumer(
        lineage["runId"],
        lineage["lineageId"],
        lineage["rootRunId"],
        lineage["round"],
        lineage["parentRunId"],
        frozenset(("engine",)),
        "ignore",
    )


def decoded_attempt(payload: object, consumer: Consumer = CONSUMER) -> Attempt:
    """The payload as the consumer gets it; it must be right."""
    answer = decode_entry(entry(ATTEMPT_LIFECYCLE, payload, run_id=consumer.run_id), consumer)
    assert isinstance(answer, Attempt)
    return answer


def decoded_state(payload: object, consumer: Consumer = CONSUMER) -> State:
    """The payload as the consumer gets it; it must be right."""
    answer = decode_entry(entry(STATE_EVENT, payload, run_id=consumer.run_id), consumer)
    assert isinstance(answer, State)
    return answer


def complaint(event_type: str, payload: object, consumer: Consumer = CONSUMER) -> object:
    """The place that makes the payload malformed."""
    return place_of(decode_entry(entry(event_type, payload, run_id=consumer.run_id), consumer))


def place_of(answer: object) -> object:
    """The place that a ``malformed`` answer names; of any other answer, the answer."""
    if isinstance(answer, EventError) and answer.code == "malformed" and isinstance(answer.cause, Refusal):
        return answer.cause.cause["field"]
    return answer
