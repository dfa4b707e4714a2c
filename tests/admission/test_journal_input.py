"""Journal inputs and fence owners: `tenure_model.admission.journal_input`."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure_model.admission.journal_input import admit_fence_owner, admit_journal_input, is_sequence
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.journal import JournalInput
from tenure_model.vocabulary.owners import OwnerId
from tests.admission import hostile
from tests.admission.oracle import ANY_VALUES
from tests.admission.values import OWNER, VALUES, colliding_keys, half_built

WIRE: dict[str, object] = {
    "runId": "run-1",
    "sourceId": "source-1",
    "eventType": "step.done",
    "payload": {"v": 1},
    "sourceSeq": 3,
    "dedupe": "identity",
    "meta": None,
}
INPUT = JournalInput("run-1", "source-1", "step.done", {"v": 1}, 3, "identity", None)
WIRE_NAMES = {name: name for name in WIRE}
BAD_TEXTS: tuple[object, ...] = ("", "a" * 1025, "a\0", "\ud800", 1, None, ABSENT, b"a", "\U0001f600" * 513)


def refused_field(value: object) -> object:
    """The member a refusal is about, ``None`` for what is admitted."""
    admitted = admit_journal_input(value)
    return admitted.cause["field"] if type(admitted) is Refusal else None


def as_record(members: dict[str, object]) -> JournalInput:
    """The same members as a frozen input."""
    return half_built(
        JournalInput,
        run_id=members["runId"],
        source_id=members["sourceId"],
        event_type=members["eventType"],
        payload=members["payload"],
        source_seq=members["sourceSeq"],
        dedupe=members["dedupe"],
        meta=members["meta"],
    )  # type: ignore[return-value]  # it is one, with members of any type


def test_a_wire_record_is_admitted() -> None:
    """Its members go into a frozen input (JN-024)."""
    assert admit_journal_input(WIRE) == INPUT


def test_a_frozen_input_is_its_own_copy() -> None:
    """There is nothing to copy in it but what is copied later."""
    assert admit_journal_input(INPUT) is INPUT


def test_what_may_be_missing_takes_its_default() -> None:
    """Number, mode and meta (JN-024)."""
    admitted = admit_journal_input({"runId": "r", "sourceId": "s", "eventType": "e", "payload": None})
    absent = admit_journal_input({**WIRE, "sourceSeq": ABSENT, "dedupe": ABSENT, "meta": ABSENT})

    assert admitted == JournalInput("r", "s", "e", None, ABSENT, "content", ABSENT)
    assert absent == JournalInput("run-1", "source-1", "step.done", {"v": 1}, ABSENT, "content", ABSENT)


def test_other_members_are_ignored() -> None:
    """Whatever they hold (JN-024)."""
    assert admit_journal_input({**WIRE, "extra": object(), "run_id": 1}) == INPUT


@pytest.mark.parametrize("field", ["runId", "sourceId", "eventType"])
@pytest.mark.parametrize("text", BAD_TEXTS, ids=lambda text: repr(text)[:12])
def test_identifiers_are_durable_text(field: str, text: object) -> None:
    """1 to 1,024 UTF-16 units without NUL and surrogates (JN-020, JN-021, JN-601)."""
    assert refused_field({**WIRE, field: text}) == field
    assert refused_field(as_record({**WIRE, field: text})) == field


@pytest.mark.parametrize("text", ["a", "a" * 1024, "\U0001f600" * 512, " ", "\ufffd"], ids=lambda text: text[:1])
def test_identifiers_keep_their_characters(text: str) -> None:
    """Nothing is trimmed or normalised (JN-020)."""
    admitted: Any = admit_journal_input({**WIRE, "runId": text, "eventType": text})

    assert (admitted.run_id, admitted.event_type) == (text, text)


@pytest.mark.parametrize("source_seq", [-1, MAX_SAFE_INTEGER, 1.0, True, "1", None], ids=repr)
def test_a_number_needs_a_successor(source_seq: object) -> None:
    """0 to 2**53-2, an exact integer, or absent (JN-022, JN-024, JN-605)."""
    assert refused_field({**WIRE, "sourceSeq": source_seq}) == "sourceSeq"
    assert refused_field(as_record({**WIRE, "sourceSeq": source_seq})) == "sourceSeq"
    assert not is_sequence(source_seq)


@pytest.mark.parametrize("source_seq", [0, MAX_SAFE_INTEGER - 1])
def test_numbers_at_both_ends_are_admitted(source_seq: int) -> None:
    """The greatest is one less than the greatest safe integer (JN-022)."""
    assert refused_field({**WIRE, "sourceSeq": source_seq}) is None
    assert is_sequence(source_seq)


@pytest.mark.parametrize("dedupe", ["none", "", None, True, 1, b"content"], ids=repr)
def test_there_are_two_modes(dedupe: object) -> None:
    """Content and identity (JN-024)."""
    assert refused_field({**WIRE, "dedupe": dedupe}) == "dedupe"
    assert refused_field(as_record({**WIRE, "dedupe": dedupe})) == "dedupe"


def test_a_missing_payload_is_refused() -> None:
    """Null is a payload, nothing is none (JN-024)."""
    without = {name: value for name, value in WIRE.items() if name != "payload"}

    assert refused_field(without) == "payload"
    assert refused_field({**WIRE, "payload": ABSENT}) == "payload"
    assert refused_field(JournalInput("run-1", "source-1", "step.done")) == "payload"


def test_payload_and_meta_may_be_anything_yet() -> None:
    """They are looked at later (JN-024, JN-040)."""
    payload = object()
    admitted: Any = admit_journal_input({**WIRE, "payload": payload, "meta": payload})

    assert admitted.payload is payload
    assert admitted.meta is payload


def test_a_half_built_input_is_refused() -> None:
    """A member that was never set is no member."""
    assert refused_field(half_built(JournalInput, run_id="r", payload=1)) == "input"


@pytest.mark.parametrize("name", sorted(VALUES.keys() - {"million arrays"}))
def test_no_code_of_a_value_runs(name: str) -> None:
    """Whatever it is, it is refused, and whatever stands in its members is looked at without running it."""
    assert type(admit_journal_input(VALUES[name]())) is Refusal
    for field in WIRE_NAMES:
        admit_journal_input({**WIRE, field: VALUES[name]()})
        admit_journal_input(as_record({**WIRE, field: VALUES[name]()}))
    admit_fence_owner({"hostId": VALUES[name](), "pid": VALUES[name](), "nonce": VALUES[name]()})


def test_names_that_run_code_are_refused() -> None:
    """Keys are not compared."""
    assert refused_field(colliding_keys()) == "input"
    assert refused_field({**WIRE, hostile.StrKey("extra"): 1}) == "input"


@given(value=ANY_VALUES, members=st.dictionaries(st.sampled_from(list(WIRE)), ANY_VALUES))
def test_admission_is_total(value: object, members: dict[str, object]) -> None:
    """Every value is admitted or refused."""
    assert type(admit_journal_input(value)) in (JournalInput, Refusal)
    assert type(admit_journal_input({**WIRE, **members})) in (JournalInput, Refusal)
    assert type(admit_fence_owner(value)) in (OwnerId, Refusal)


@pytest.mark.parametrize(
    "owner",
    [
        OWNER,
        OwnerId("", 0, ""),
        OwnerId("a" * 2_000, MAX_SAFE_INTEGER, "a\0b"),
    ],
    ids=["ordinary", "empty", "long"],
)
def test_owners_of_any_text_may_fence(owner: OwnerId) -> None:
    """Empty and long texts are compared like any other, and match nobody (JN-080)."""
    wire = {"hostId": owner.host_id, "pid": owner.pid, "nonce": owner.nonce, "extra": 1}

    assert admit_fence_owner(owner) is owner
    assert admit_fence_owner(wire) == owner


@pytest.mark.parametrize(
    "members",
    [
        {"pid": -1},
        {"pid": 1.0},
        {"pid": 1.5},
        {"pid": True},
        {"pid": "1"},
        {"pid": MAX_SAFE_INTEGER + 1},
        {"hostId": None},
        {"nonce": 1},
        {"nonce": "\ud800"},
        {"nonce": ABSENT},
    ],
    ids=repr,
)
def test_malformed_owners_are_refused(members: dict[str, object]) -> None:
    """Whole process ids and well-formed texts only (JN-080, JN-082, JN-605)."""
    wire = {"hostId": "h", "pid": 1, "nonce": "n", **members}
    record = half_built(OwnerId, host_id=wire["hostId"], pid=wire["pid"], nonce=wire["nonce"])

    assert type(admit_fence_owner(wire)) is Refusal
    assert type(admit_fence_owner(record)) is Refusal


@pytest.mark.parametrize("value", [None, ABSENT, {}, "h:1:n", half_built(OwnerId, host_id="h")], ids=range(5))
def test_missing_owners_are_refused(value: object) -> None:
    """So are records without the three members (JN-082)."""
    assert type(admit_fence_owner(value)) is Refusal
