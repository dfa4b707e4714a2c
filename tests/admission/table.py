"""Reads `specs/rules/admission.md` and answers, for a column and a value, what admission makes of the value."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs

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
from tests.admission.values import CLOCK_MS, OWNER, half_built

TABLE: Final = Path(__file__).parents[2] / "specs" / "rules" / "admission.md"

OTHER_TEXTS: Final = "every other text"
"""The row of a section that speaks for every exact `str` without a row of its own; not every section has one."""

OTHERS: Final = "every other value"
"""The row of a section that speaks for all the rest."""

Admit = Callable[[Any], object]


@attrs.frozen
class Document:
    """The rule page: what the values are, what the refusals say, and every cell by column and value."""

    descriptions: Mapping[str, str]
    refusals: Mapping[str, tuple[str, str]]
    cells: Mapping[str, Mapping[str, str]]


def read_document(text: str) -> Document:
    """The tables of the page, told apart by their first header cell."""
    descriptions: dict[str, str] = {}
    refusals: dict[str, tuple[str, str]] = {}
    cells: dict[str, dict[str, str]] = {}
    for header, rows in _tables(text):
        if header == ["name", "value"]:
            for name, description in rows:
                assert name not in descriptions, name
                descriptions[name] = description
        elif header == ["refusal", "field", "detail"]:
            for name, field, detail in rows:
                assert name not in refusals, name
                refusals[name] = (field, detail)
        else:
            assert header[0] == "value", header
            for column in header[1:]:
                assert column not in cells, column
                cells[column] = {}
            for row in rows:
                for column, cell in zip(header[1:], row[1:], strict=True):
                    assert row[0] not in cells[column], row[0]
                    cells[column][row[0]] = cell
    return Document(descriptions, refusals, cells)


def _tables(text: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    for block in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        lines = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in block.splitlines()]
        yield lines[0], lines[2:]


def cell(document: Document, column: str, name: str, value: object) -> str:
    """The cell that speaks for a value: its own, or that of the texts or values without one."""
    cells = document.cells[column]
    if name in cells:
        return cells[name]
    return cells[OTHER_TEXTS] if type(value) is str and OTHER_TEXTS in cells else cells[OTHERS]


def answer(document: Document, column: str, value: object) -> str:
    """The cell that admission itself would write: `accept`, `nothing`, the name of a refusal, or facts of a text."""
    answers = {_name(document, outcome) for outcome in COLUMNS[column](value)}
    assert len(answers) == 1, answers
    return answers.pop()


def _name(document: Document, outcome: object) -> str:
    if isinstance(outcome, str):
        return outcome
    if isinstance(outcome, JsonComplaint):
        wanted = ("", outcome.text)
    else:
        assert isinstance(outcome, Refusal)
        wanted = (str(outcome.cause["field"]), str(outcome.cause["detail"]))
    names = [name for name, refusal in document.refusals.items() if refusal == wanted]
    assert len(names) == 1, wanted
    return names[0]


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
    record = {**good, wire: value}
    for whole in (record, half_built(carrier, **{_snake(name): member for name, member in record.items()})):
        outcome = admit(whole)
        if isinstance(outcome, Refusal):
            yield outcome
        else:
            member = getattr(outcome, _snake(wire))
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


def _snake(wire: str) -> str:
    return re.sub("([A-Z])", lambda match: f"_{match[1].lower()}", wire)


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


def _both(*members: Callable[[object], Iterator[object]]) -> Callable[[object], Iterator[object]]:
    def outcomes(value: object) -> Iterator[object]:
        for member in members:
            yield from member(value)

    return outcomes


_admit_owner: Final = partial(admit_owner, field="owner")
_OWNER: Final[Mapping[str, object]] = {"hostId": "host-1", "pid": 41, "nonce": "nonce-1"}
_FREE: Final[Mapping[str, object]] = {"status": "pending", "owner": None, "heartbeatAtMs": None}
_RUNNING: Final[Mapping[str, object]] = {"status": "running", "owner": OWNER, "heartbeatAtMs": 5}
_EVIDENCE: Final[Mapping[str, object]] = {"expectedOwner": OWNER, "checkedAtMs": 7, "kind": "lease-expired"}
_LINEAGE: Final[Mapping[str, object]] = {"lineageId": "lineage-1", "roundOrdinal": 0}

COLUMNS: Final[Mapping[str, Callable[[object], Iterator[object]]]] = {
    "run id": partial(_durable, admit_run_id),
    "new run id": partial(_durable, admit_new_run_id),
    "target status": partial(_whole, admit_target_status),
    "time": partial(_whole, partial(admit_timestamp, field="nowMs")),
    "lease reading": partial(_whole, partial(admit_lease_reading, clock_ms=CLOCK_MS, run_id="run-1")),
    "host id, nonce": _both(
        partial(_member, _admit_owner, OwnerId, _OWNER, "hostId"),
        partial(_member, _admit_owner, OwnerId, _OWNER, "nonce"),
    ),
    "pid": partial(_member, _admit_owner, OwnerId, _OWNER, "pid"),
    "parent id": _both(
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
