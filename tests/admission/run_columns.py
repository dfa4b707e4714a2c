"""What admission makes of a value in each column of `specs/rules/admission.md` that is about runs, or about JSON."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from tenure_model.admission.integers import admit_lease_reading, admit_timestamp
from tenure_model.admission.json_text import json_text_complaint, read_json_text
from tenure_model.admission.json_values import JsonComplaint, admit_json_value
from tenure_model.admission.records import (
    admit_create_options,
    admit_evidence,
    admit_guard,
    admit_new_run_id,
    admit_owner,
    admit_run_id,
    admit_snapshot,
    admit_target_status,
)
from tenure_model.admission.refusal import Refusal
from tenure_model.admission.run_state import admit_run_state, is_run_state
from tenure_model.admission.text import is_durable_text
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import CreateOptions, RunSnapshot, TransitionGuard
from tests.admission.page import Column, in_turn
from tests.admission.values import CLOCK_MS, OWNER, both_forms, snake_case

Admit = Callable[[Any], object]


def _whole(admit: Admit, value: object) -> Iterator[object]:
    """A value handed in by itself."""
    outcome = admit(value)
    if isinstance(outcome, Refusal):
        yield outcome
    elif outcome is None or (value is ABSENT or value is None):
        assert outcome in (None, CreateOptions())
        yield "nothing"
    else:
        yield "accept" if _carries(outcome, value) else "accepted as something else"


def _member(admit: Admit, carrier: type[Any], good: Mapping[str, object], wire: str, value: object) -> Iterator[object]:
    """A value as a member of a record that is good otherwise, in a `dict` and in the frozen class."""
    for whole in both_forms(carrier, {**good, wire: value}):
        outcome = admit(whole)
        if isinstance(outcome, Refusal):
            yield outcome
        else:
            member = getattr(outcome, snake_case(wire))
            if value is ABSENT or value is None:
                yield "nothing" if member is ABSENT or member is None else "accepted as something else"
            else:
                yield "accept" if _carries(member, value) else "accepted as something else"


def _carries(admitted: object, value: object) -> bool:
    """Whether an admitted scalar or record says what the value said, and is of the vocabulary's own type."""
    if type(admitted) in (OwnerId, RunSnapshot, LivenessEvidence, TransitionGuard, CreateOptions):
        return all(_carries(getattr(admitted, name), _read(value, name)) for name in type(admitted).__slots__[:-1])
    if admitted is None or admitted is ABSENT:
        return value is None or value is ABSENT
    return type(admitted) is type(value) and repr(admitted) == repr(value)


def _read(value: object, name: str) -> object:
    if type(value) is dict:
        return value.get(re.sub("_(.)", lambda match: match[1].upper(), name), ABSENT)
    return getattr(value, name, ABSENT)


def _run_state(value: object) -> Iterator[str]:
    outcome = admit_run_state(value, {"runId": "run-1"})
    assert is_run_state(value) == (not isinstance(outcome, Refusal))
    if isinstance(outcome, Refusal):
        assert list(outcome.cause) == ["runId", "stateJsonLength", "stateJsonValid"]
        assert outcome.cause["runId"] == "run-1"
        assert type(outcome.cause["stateJsonValid"]) is bool
        length = outcome.cause["stateJsonLength"]
        validity = "valid" if outcome.cause["stateJsonValid"] else "not valid"
        yield f"length {'null' if length is None else length}, {validity}"
    else:
        yield "accept" if outcome is value else "accepted as something else"


def _json_text(value: object) -> Iterator[object]:
    complaint = json_text_complaint(value)
    read = read_json_text(value)
    yield "accept" if complaint is None else complaint
    yield read if isinstance(read, JsonComplaint) else "accept"


def _json_value(value: object) -> Iterator[object]:
    outcome = admit_json_value(value)
    if isinstance(outcome, JsonComplaint):
        yield outcome
    elif isinstance(outcome, list | dict) and outcome is value:
        yield "accepted without a copy"
    else:
        yield "accept" if repr(outcome) == repr(value) else "accepted as something else"


def _durable(admit: Admit, value: object) -> Iterator[object]:
    """An identifier, checked against the rule for durable text besides (RS-301)."""
    outcomes = list(_whole(admit, value))
    assert is_durable_text(value) or outcomes != ["accept"]
    yield from outcomes


_admit_owner: Final = partial(admit_owner, field="owner")
_OWNER: Final[Mapping[str, object]] = {"hostId": "host-1", "pid": 41, "nonce": "nonce-1"}
_FREE: Final[Mapping[str, object]] = {"status": "pending", "owner": None, "heartbeatAtMs": None}
_RUNNING: Final[Mapping[str, object]] = {"status": "running", "owner": OWNER, "heartbeatAtMs": 5}
_EVIDENCE: Final[Mapping[str, object]] = {"expectedOwner": OWNER, "checkedAtMs": 7, "kind": "lease-expired"}
_LINEAGE: Final[Mapping[str, object]] = {"lineageId": "lineage-1", "roundOrdinal": 0}

RUN_COLUMNS: Final[Mapping[str, Column]] = {
    "run id": partial(_durable, admit_run_id),
    "new run id": partial(_durable, admit_new_run_id),
    "target status": partial(_whole, admit_target_status),
    "time": partial(_whole, partial(admit_timestamp, field="nowMs")),
    "lease reading": partial(_whole, partial(admit_lease_reading, clock_ms=CLOCK_MS, run_id="run-1")),
    "host id, nonce": in_turn(
        partial(_member, _admit_owner, OwnerId, _OWNER, "hostId"),
        partial(_member, _admit_owner, OwnerId, _OWNER, "nonce"),
    ),
    "pid": partial(_member, _admit_owner, OwnerId, _OWNER, "pid"),
    "parent id": in_turn(
        partial(_member, admit_create_options, CreateOptions, {}, "parentRunId"),
        partial(_member, admit_create_options, CreateOptions, _LINEAGE, "parentRunId"),
    ),
    "lineage id": partial(_member, admit_create_options, CreateOptions, _LINEAGE, "lineageId"),
    "ordinal": partial(_member, admit_create_options, CreateOptions, _LINEAGE, "roundOrdinal"),
    "snapshot status": partial(_member, admit_snapshot, RunSnapshot, _FREE, "status"),
    "snapshot owner": partial(_member, admit_snapshot, RunSnapshot, _RUNNING, "owner"),
    "snapshot heartbeat": partial(_member, admit_snapshot, RunSnapshot, _RUNNING, "heartbeatAtMs"),
    "evidence owner": partial(_member, admit_evidence, LivenessEvidence, _EVIDENCE, "expectedOwner"),
    "evidence time": partial(_member, admit_evidence, LivenessEvidence, _EVIDENCE, "checkedAtMs"),
    "evidence kind": partial(_member, admit_evidence, LivenessEvidence, _EVIDENCE, "kind"),
    "guard condition": partial(_member, admit_guard, TransitionGuard, {}, "cancelRequested"),
    "owner": partial(_whole, _admit_owner),
    "expected": partial(_whole, admit_snapshot),
    "evidence": partial(_whole, admit_evidence),
    "guard": partial(_whole, admit_guard),
    "options": partial(_whole, admit_create_options),
    "run state": _run_state,
    "JSON text": _json_text,
    "JSON value": _json_value,
}
