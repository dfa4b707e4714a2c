"""Envelopes and consumers: `tenure_model.admission.engine_events.envelopes`."""

import attrs
import pytest

from tenure_model.admission.engine_events.entries import decode_entry
from tenure_model.admission.engine_events.envelopes import admit_consumer
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.engine_events.consumers import Attempt, Consumer
from tests.admission import hostile
from tests.admission.values import half_built
from tests.engine_events.support import (
    BAD_IDENTIFIERS,
    BAD_QUANTITIES,
    CONSUMER,
    entry,
    lacking,
    place_of,
    wire_entry,
)

WIRE_CONSUMER: dict[str, object] = {
    "runId": "run-1",
    "lineageId": "lineage-1",
    "rootRunId": "run-1",
    "round": 0,
    "parentRunId": None,
    "sources": ["engine", "scheduler"],
    "unknown": "ignore",
}


def refused(member: str, name: str, value: object) -> list[object]:
    """The places that a spoilt entry is malformed for, as a dict and as an ``Entry``."""
    return [
        place_of(decode_entry({**wire_entry(entry()), member: value}, CONSUMER)),
        place_of(decode_entry(attrs.evolve(entry(), **{name: value}), CONSUMER)),
    ]


def refused_consumer(value: object) -> object:
    """The place that a refused consumer is refused for."""
    answer = admit_consumer(value)
    return answer.cause["field"] if isinstance(answer, Refusal) else answer


@pytest.mark.parametrize("value", BAD_IDENTIFIERS, ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize(
    ("member", "name"), [("runId", "run_id"), ("sourceId", "source_id"), ("eventType", "event_type")]
)
def test_ids_and_type_are_identifiers(member: str, name: str, value: object) -> None:
    """JN-020, JN-021, JN-025."""
    assert refused(member, name, value) == [f"entry.{member}", "entry"]


@pytest.mark.parametrize("value", [*BAD_QUANTITIES, MAX_SAFE_INTEGER], ids=repr)
@pytest.mark.parametrize(("member", "name"), [("seq", "seq"), ("sourceSeq", "source_seq")])
def test_numbers_have_a_successor(member: str, name: str, value: object) -> None:
    """JN-022, JN-025."""
    assert refused(member, name, value) == [f"entry.{member}", "entry"]


@pytest.mark.parametrize("value", BAD_QUANTITIES, ids=repr)
def test_the_time_is_a_quantity(value: object) -> None:
    """Its bound is inclusive (JN-025, JN-359 step 1)."""
    assert refused("emittedAtMs", "emitted_at_ms", value) == ["entry.emittedAtMs", "entry"]
    assert isinstance(decode_entry(entry(emitted_at_ms=MAX_SAFE_INTEGER), CONSUMER), Attempt)


@pytest.mark.parametrize("value", [1, None, ABSENT, b"a", "\ud800"], ids=repr)
def test_the_event_id_is_text(value: object) -> None:
    """Any, the empty one and one longer than an identifier too (JN-025)."""
    assert refused("eventId", "event_id", value) == ["entry.eventId", "entry"]
    for event_id in ("", "a" * 5_000, "\0"):
        assert isinstance(decode_entry(entry(event_id=event_id), CONSUMER), Attempt)
        assert isinstance(decode_entry(wire_entry(entry(event_id=event_id)), CONSUMER), Attempt)


@pytest.mark.parametrize(
    "member",
    ["runId", "seq", "eventId", "sourceId", "sourceSeq", "emittedAtMs", "eventType", "payload", "meta"],
)
def test_no_member_of_an_entry_may_be_missing(member: str) -> None:
    """A meta that was never given is stored as null (JN-025)."""
    assert place_of(decode_entry(lacking(wire_entry(entry()), member), CONSUMER)) == f"entry.{member}"


@pytest.mark.parametrize("value", [None, [], "entry", 1, {1: 2}, ABSENT], ids=repr)
def test_an_entry_is_a_record(value: object) -> None:
    """JN-359 step 1."""
    assert place_of(decode_entry(value, CONSUMER)) == "entry"


def test_a_consumer_of_the_wire_is_admitted() -> None:
    """Its other members are dropped (JN-358)."""
    assert admit_consumer({**WIRE_CONSUMER, "more": object()}) == CONSUMER


def test_a_consumer_may_be_its_own_copy() -> None:
    """If its sources are frozen (JN-358)."""
    loose = attrs.evolve(CONSUMER, sources=["engine", "scheduler", "engine"])

    assert admit_consumer(CONSUMER) is CONSUMER
    assert admit_consumer(loose) == CONSUMER


@pytest.mark.parametrize("sources", [[], (), set(), frozenset()], ids=repr)
def test_a_consumer_may_allow_no_source(sources: object) -> None:
    """Then every event is foreign to it (JN-358)."""
    assert admit_consumer({**WIRE_CONSUMER, "sources": sources}) == attrs.evolve(CONSUMER, sources=frozenset())


@pytest.mark.parametrize(
    ("member", "values"),
    [
        ("runId", BAD_IDENTIFIERS),
        ("lineageId", BAD_IDENTIFIERS),
        ("rootRunId", BAD_IDENTIFIERS),
        ("round", BAD_QUANTITIES),
        ("parentRunId", [value for value in BAD_IDENTIFIERS if value is not None]),
        ("sources", ["engine", None, ABSENT, 1, {"engine": 1}, [""], ["engine", 1], ("a\0",), iter(())]),
        ("unknown", ["", "Ignore", "reject", None, ABSENT, 1]),
    ],
)
def test_each_member_of_a_consumer_is_checked(member: str, values: list[object]) -> None:
    """A text is no collection of sources (JN-358)."""
    places = [refused_consumer({**WIRE_CONSUMER, member: value}) for value in values]

    assert places == [f"consumer.{member}"] * len(values)
    assert refused_consumer(lacking(WIRE_CONSUMER, member)) == f"consumer.{member}"


def test_a_consumer_is_a_record_that_runs_no_code() -> None:
    """An exact dict or the exact class, complete (JN-358)."""
    hostile_sources = [hostile.hostile_instance(hostile.HostileStr)]
    subclass = hostile.hostile_instance(hostile._hostile(Consumer))

    assert refused_consumer(None) == "consumer"
    assert refused_consumer({1: 2}) == "consumer"
    assert refused_consumer(half_built(Consumer, run_id="run-1")) == "consumer"
    assert refused_consumer(subclass) == "consumer"
    assert refused_consumer({**WIRE_CONSUMER, "sources": hostile_sources}) == "consumer.sources"
