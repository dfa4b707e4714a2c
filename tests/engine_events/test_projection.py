"""Attempts folded from events: `tenure_model.admission.engine_events.projection`, `snapshots` and `rows`."""

import json
from itertools import pairwise
from typing import Any

import attrs
import pytest

from tenure_model.admission.engine_events.projection import fold_attempts
from tenure_model.admission.engine_events.rows import describe_row, tells_row
from tenure_model.admission.engine_events.snapshots import decode_snapshot, encode_snapshot
from tenure_model.admission.redaction.redactor import make_noop_redactor
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempts import Attempt
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.engine_events.attempts import ATTEMPT_LIFECYCLE, AttemptPayload
from tenure_model.vocabulary.engine_events.errors import EventError
from tenure_model.vocabulary.engine_events.markers import ATTEMPT_STARTED
from tenure_model.vocabulary.engine_events.nodes import NODE_SETTLED
from tenure_model.vocabulary.engine_events.projections import EMPTY_PROJECTION, AttemptProjection, ProjectedAttempt
from tenure_model.vocabulary.engine_events.results import Failure, Success
from tenure_model.vocabulary.journal import Entry, Redact
from tests.engine_events.histories import COUNTS, IN_PROGRESS, history, interleaved, started, told
from tests.engine_events.support import (
    ATTEMPT,
    BAD_IDENTIFIERS,
    BAD_QUANTITIES,
    CONSUMER,
    FAILED,
    FAILURE,
    ROOT,
    ROOT_LINEAGE,
    RUNNING,
    SUCCEEDED,
    SUCCESS,
    Wire,
    entry,
    lacking,
    spoilt,
)

ROW: Wire = {
    "runId": "run-1",
    "stepKeyDigest": "d",
    "attempt": 0,
    "seq": 4,
    "state": "succeeded",
    "startedAtMs": 5,
    "finishedAtMs": 6,
    "heartbeatAtMs": 5,
    "checkpoint": None,
    "result": SUCCESS,
}
SNAPSHOT: Wire = {"version": 2, "lineage": ROOT, "coveringSeq": 4, "rows": [ROW]}


def folded(entries: list[Entry], projection: AttemptProjection = EMPTY_PROJECTION) -> AttemptProjection:
    """The projection after the entries, which must be right."""
    answer = fold_attempts(projection, entries, CONSUMER)
    assert isinstance(answer, AttemptProjection), answer
    return answer


def refused(entries: list[object], projection: AttemptProjection = EMPTY_PROJECTION) -> tuple[str, object]:
    """Code and place of the refusal."""
    return why(fold_attempts(projection, entries, CONSUMER))


def why(answer: object) -> tuple[str, object]:
    """Code and place of a refusal."""
    assert isinstance(answer, EventError), answer
    return answer.code, answer.cause.cause["field"] if isinstance(answer.cause, Refusal) else None


def lives(*lifecycles: Wire) -> list[object]:
    """One attempt in these states, one after the other."""
    return [
        entry(ATTEMPT_LIFECYCLE, {**ATTEMPT, "lifecycle": lifecycle}, seq=seq)
        for seq, lifecycle in enumerate(lifecycles)
    ]


@pytest.mark.parametrize("count", COUNTS)
def test_the_full_history_tells_the_rows(count: int) -> None:
    """Every row, and no other attempt; what is no attempt is covered."""
    rows, entries = history(count)

    projection = folded(entries)

    assert projection.attempts.keys() == rows.keys()
    assert [key for key, row in rows.items() if not tells_row(projection.attempts[key], row)] == []
    assert (projection.lineage, projection.covering_seq) == (ROOT_LINEAGE, entries[-1].seq)


@pytest.mark.parametrize("count", COUNTS)
def test_a_snapshot_and_the_suffix_tell_the_same(count: int) -> None:
    """Wherever the history is cut, and through JSON text."""
    _, entries = history(count)
    whole = folded(entries)

    for cut in sorted({1, 2, len(entries) // 3, len(entries) - 1, len(entries)}):
        text = json.dumps(encode_snapshot(folded(entries[:cut])))
        restored = decode_snapshot(json.loads(text), CONSUMER)

        assert restored == folded(entries[:cut])
        assert isinstance(restored, AttemptProjection)
        assert folded(entries[cut:], restored) == whole


@pytest.mark.parametrize("seed", range(20))
def test_every_cut_of_a_short_history_tells_the_same(seed: int) -> None:
    """Entry by entry."""
    _, entries = history(4, seed)
    whole = folded(entries)

    for cut in range(1, len(entries)):
        restored = decode_snapshot(encode_snapshot(folded(entries[:cut])), CONSUMER)
        assert isinstance(restored, AttemptProjection)

        assert folded(entries[cut:], restored) == whole


def test_a_row_that_differs_is_not_told() -> None:
    """In any field but the meta, absent and null apart."""
    row = attrs.evolve(started(0), state="succeeded", finished_at_ms=9, outcome={"a": 1})
    projected = folded([entry(ATTEMPT_LIFECYCLE, told(row).payload)]).attempts[("digest-0", 0)]
    changes: list[dict[str, Any]] = [
        {"step_key_digest": "digest-1"},
        {"attempt": 1},
        {"state": "failed"},
        {"started_at_ms": 6},
        {"finished_at_ms": 8},
        {"heartbeat_at_ms": 5},
        {"checkpoint": None},
        {"outcome": {"a": True}},
        {"outcome": ABSENT},
        {"error": None},
    ]

    assert tells_row(projected, row)
    assert tells_row(projected, attrs.evolve(row, meta="other", outcome={"a": 1.0}))
    assert [tells_row(projected, attrs.evolve(row, **change)) for change in changes] == [False] * len(changes)


def test_an_event_in_progress_replaces_and_an_end_adds() -> None:
    """What an end does not say stays as it was, as in the row."""
    suspended = {"state": "suspended", "startedAtMs": 7, "heartbeatAtMs": 8, "checkpoint": {"a": 1}}
    restarted = {"state": "running", "startedAtMs": 5, "heartbeatAtMs": 3}
    key = ("digest-1", 0)

    states = [
        fold_attempts(EMPTY_PROJECTION, lives(*lifecycles), CONSUMER)
        for lifecycles in (
            (RUNNING, suspended),
            (suspended, restarted),
            (suspended, restarted, SUCCEEDED),
            (FAILED,),
        )
    ]

    assert [state.attempts[key] for state in states if isinstance(state, AttemptProjection)] == [
        ProjectedAttempt(*key, 1, "suspended", 7, ABSENT, 8, {"a": 1}, ABSENT),
        ProjectedAttempt(*key, 1, "running", 5, ABSENT, 3, ABSENT, ABSENT),
        ProjectedAttempt(*key, 2, "succeeded", 5, 4, 3, ABSENT, Success({"code": 0})),
        ProjectedAttempt(*key, 0, "failed", 5, 6, ABSENT, ABSENT, Failure("error", None)),
    ]


@pytest.mark.parametrize(
    ("later", "place"),
    [
        (RUNNING, "payload.lifecycle.state"),
        ({**RUNNING, "state": "suspended"}, "payload.lifecycle.state"),
        ({**SUCCEEDED, "startedAtMs": 6}, "payload.lifecycle"),
        ({**SUCCEEDED, "finishedAtMs": 5}, "payload.lifecycle"),
        ({**FAILED, "finishedAtMs": 4}, "payload.lifecycle"),
    ],
)
def test_an_end_stands(later: Wire, place: str) -> None:
    """Neither state nor times move, as the store moves neither (JN-360, RS-861)."""
    assert refused(lives(RUNNING, SUCCEEDED, later)) == ("transition", place)


@pytest.mark.parametrize("later", [{**FAILURE, "reason": "defect"}, {**FAILURE, "detail": [1]}], ids=repr)
def test_the_result_of_an_end_may_be_told_anew(later: Wire) -> None:
    """A patch replaces it in any state; heartbeat and checkpoint stay (RS-861)."""
    attempts = fold_attempts(EMPTY_PROJECTION, lives(RUNNING, FAILED, {**FAILED, "result": later}), CONSUMER)

    assert isinstance(attempts, AttemptProjection)
    assert attempts.attempts["digest-1", 0].result == Failure(later["reason"], later["detail"])


@pytest.mark.parametrize("end", [SUCCEEDED, FAILED], ids=["succeeded", "failed"])
def test_the_same_end_may_be_told_again(end: Wire) -> None:
    """JSON by value; only the sequence moves."""
    once = fold_attempts(EMPTY_PROJECTION, lives({**RUNNING, "checkpoint": 1}, end), CONSUMER)
    twice = fold_attempts(EMPTY_PROJECTION, lives({**RUNNING, "checkpoint": 1}, end, end), CONSUMER)

    assert isinstance(once, AttemptProjection)
    assert isinstance(twice, AttemptProjection)
    assert twice.attempts == {key: attrs.evolve(attempt, seq=2) for key, attempt in once.attempts.items()}


def test_an_end_may_tell_another_start() -> None:
    """A put over an attempt in progress overwrites every column (RS-822)."""
    projection = fold_attempts(EMPTY_PROJECTION, lives(RUNNING, {**SUCCEEDED, "startedAtMs": 4}), CONSUMER)

    assert isinstance(projection, AttemptProjection)
    assert projection.attempts["digest-1", 0].started_at_ms == 4


@pytest.mark.parametrize("seq", [0, 6, 7])
def test_entries_stand_above_what_is_covered(seq: int) -> None:
    """In ascending order, those that are passed over too (JN-360)."""
    first = folded([entry(seq=7)])

    for event_type in (ATTEMPT_LIFECYCLE, "step.done"):
        assert refused([entry(event_type, seq=seq)], first) == ("transition", "entry.seq")
        assert refused([entry(seq=7), entry(event_type, seq=seq)]) == ("transition", "entry.seq")


def test_other_kinds_of_events_are_passed_over() -> None:
    """Whatever they hold, from whatever source; but those that might speak of attempts are not (JN-359)."""
    passed = [ATTEMPT_STARTED, NODE_SETTLED, "step.done"]
    entries = [entry(kind, object(), object(), seq=seq, source_id="other") for seq, kind in enumerate(passed)]

    assert folded(entries) == AttemptProjection(None, 2, {})
    for kind in ("flows.engine.v3.attempt-lifecycle", "flows.engine.v2.attempt", "flows.engine.attempt-moved"):
        assert refused([entry(kind)]) == ("unsupported", None)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (entry(run_id="run-2"), "foreign"),
        (entry("step.done", run_id="run-2"), "foreign"),
        (entry(source_id="other"), "foreign"),
        (entry(payload=spoilt(ATTEMPT, "lineage.lineageId", "lineage-2")), "foreign"),
        (entry(payload=None), "malformed"),
        (entry(seq=-1), "malformed"),
        (Entry.__new__(Entry), "malformed"),
        (None, "malformed"),
    ],
    ids=["run", "other run", "source", "lineage", "payload", "seq", "half-built", "none"],
)
def test_what_the_decoder_refuses_is_refused(given: object, code: str) -> None:
    """A projection is no place to be lenient (JN-359)."""
    assert refused([entry(seq=0), given])[0] == code


def test_folding_changes_nothing_but_its_answer() -> None:
    """A projection can be folded on twice."""
    first = folded([entry(seq=1)])
    copy = attrs.evolve(first, attempts=dict(first.attempts))

    folded([entry(seq=2, payload={**ATTEMPT, "attempt": 1})], first)
    refused([entry(seq=2, payload={**ATTEMPT, "attempt": 1}), None], first)

    assert first == copy
    assert EMPTY_PROJECTION.attempts == {}


def test_a_snapshot_is_bound_to_lineage_and_sequence() -> None:
    """Its rows are in order, whoever reads it (version 2)."""
    projection = AttemptProjection(
        ROOT_LINEAGE,
        9,
        {
            ("d", 10): ProjectedAttempt("d", 10, 9, "running", 5),
            ("d", 2): ProjectedAttempt("d", 2, 4, "failed", 5, 6, 5, None, Failure("defect", [])),
        },
    )

    assert encode_snapshot(projection) == {
        "version": 2,
        "lineage": ROOT,
        "coveringSeq": 9,
        "rows": [
            {
                **lacking(ROW, "checkpoint"),
                "attempt": 2,
                "state": "failed",
                "checkpoint": None,
                "result": {"_tag": "Failure", "reason": "defect", "detail": []},
            },
            {"runId": "run-1", "stepKeyDigest": "d", "attempt": 10, "seq": 9, "state": "running", "startedAtMs": 5},
        ],
    }


def test_a_snapshot_needs_a_lineage() -> None:
    """Before any event has named one there is nothing to bind to."""
    assert why(encode_snapshot(EMPTY_PROJECTION)) == ("malformed", "snapshot.lineage")


def test_two_rows_of_one_identity_are_refused() -> None:
    """Even where they agree."""
    other = {**ROW, "attempt": 1}

    assert why(decode_snapshot({**SNAPSHOT, "rows": [ROW, other, ROW]}, CONSUMER)) == ("malformed", "snapshot.rows[2]")
    assert isinstance(decode_snapshot({**SNAPSHOT, "rows": [ROW, other]}, CONSUMER), AttemptProjection)


def test_a_row_of_another_run_is_refused() -> None:
    """It belongs to another history."""
    assert why(decode_snapshot({**SNAPSHOT, "rows": [ROW, {**ROW, "runId": "run-2"}]}, CONSUMER)) == (
        "foreign",
        "snapshot.rows",
    )


def test_a_row_past_the_covering_sequence_is_refused() -> None:
    """The suffix would tell it again."""
    assert why(decode_snapshot({**SNAPSHOT, "coveringSeq": 3}, CONSUMER)) == ("malformed", "snapshot.rows[0].seq")
    assert isinstance(decode_snapshot(SNAPSHOT, CONSUMER), AttemptProjection)


@pytest.mark.parametrize(
    "changes",
    [
        {"run_id": "run-2"},
        {"lineage_id": "lineage-2"},
        {"root_run_id": "run-9"},
        {"round": 1},
        {"parent_run_id": "run-9"},
    ],
    ids=repr,
)
def test_a_snapshot_of_another_lineage_is_foreign(changes: Wire) -> None:
    """Whatever its rows are."""
    answer = decode_snapshot({**SNAPSHOT, "rows": [None]}, attrs.evolve(CONSUMER, **changes))

    assert isinstance(answer, EventError)
    assert (answer.code, answer.cause) == ("foreign", ROOT_LINEAGE)


@pytest.mark.parametrize("version", [1, 3, 0], ids=repr)
def test_another_version_is_unsupported(version: int) -> None:
    """Before anything else is looked at."""
    assert why(decode_snapshot({"version": version, "more": 1}, CONSUMER)) == ("unsupported", "snapshot.version")


@pytest.mark.parametrize("version", ["2", 2.0, True, None, ABSENT], ids=repr)
def test_a_version_is_an_integer(version: object) -> None:
    """What is none is malformed (JN-607)."""
    assert why(decode_snapshot({**SNAPSHOT, "version": version}, CONSUMER)) == ("malformed", "snapshot.version")


@pytest.mark.parametrize("snapshot", [None, [], "snapshot", {1: 2}], ids=repr)
def test_a_snapshot_is_a_record(snapshot: object) -> None:
    """An exact dict, with no member too many and none missing."""
    assert why(decode_snapshot(snapshot, CONSUMER)) == ("malformed", "snapshot")
    assert why(decode_snapshot({**SNAPSHOT, "owner": 1}, CONSUMER)) == ("malformed", "snapshot")
    for member in SNAPSHOT:
        assert why(decode_snapshot(lacking(SNAPSHOT, member), CONSUMER)) == ("malformed", f"snapshot.{member}")


@pytest.mark.parametrize(
    ("member", "values"),
    [
        ("runId", BAD_IDENTIFIERS),
        ("stepKeyDigest", BAD_IDENTIFIERS),
        ("attempt", BAD_QUANTITIES),
        ("seq", [*BAD_QUANTITIES, MAX_SAFE_INTEGER]),
        ("state", ["", "done", None, ABSENT, 1]),
        ("startedAtMs", BAD_QUANTITIES),
        ("finishedAtMs", BAD_QUANTITIES),
        ("heartbeatAtMs", [value for value in BAD_QUANTITIES if value is not ABSENT]),
        ("checkpoint", [float("nan"), b"a"]),
        ("result", [None, ABSENT, {"_tag": "Failure", "reason": "error", "detail": 1}]),
    ],
)
def test_each_member_of_a_row_is_checked(member: str, values: list[object]) -> None:
    """As strictly as in an event."""
    places = [why(decode_snapshot({**SNAPSHOT, "rows": [{**ROW, member: value}]}, CONSUMER)) for value in values]

    assert places == [("malformed", f"snapshot.rows[0].{member}")] * len(values)


@pytest.mark.parametrize("state", ["running", "suspended"])
def test_a_row_in_progress_has_no_end(state: str) -> None:
    """Neither its time nor its result; nor has any row another member."""
    for member in ("finishedAtMs", "result"):
        row = lacking({**ROW, "state": state}, member)

        assert why(decode_snapshot({**SNAPSHOT, "rows": [row]}, CONSUMER)) == ("malformed", "snapshot.rows[0]")
    assert why(decode_snapshot({**SNAPSHOT, "rows": [{**ROW, "owner": 1}]}, CONSUMER)) == (
        "malformed",
        "snapshot.rows[0]",
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "succeeded"},
        {"state": "succeeded", "finished_at_ms": 9},
        {"state": "succeeded", "finished_at_ms": 9, "error": {"reason": "error", "detail": 1}},
        {"state": "succeeded", "finished_at_ms": 9, "outcome": 1, "error": {"reason": "error", "detail": 1}},
        {"state": "failed", "finished_at_ms": 9, "outcome": 1},
        {"state": "failed", "finished_at_ms": 9, "error": "boom"},
        {"state": "failed", "finished_at_ms": 9, "error": {"reason": "error"}},
        {"state": "failed", "finished_at_ms": 9, "error": {"_tag": "Failure", "reason": "error", "detail": 1}},
        {"finished_at_ms": 9},
        {"outcome": 1},
        {"state": "waiting"},
        {"run_id": "run-2"},
        {"attempt": -1},
    ],
    ids=repr,
)
def test_a_row_that_events_cannot_tell_is_malformed(changes: dict[str, Any]) -> None:
    """An engine must not write it where its history shall tell it (JN-353, JN-354)."""
    answer = describe_row(attrs.evolve(started(0), **changes), ROOT_LINEAGE, None)

    assert why(answer)[0] == "malformed"


BUSY = attrs.evolve(started(0), heartbeat_at_ms=11, checkpoint=[1])
DONE: dict[str, Any] = {"state": "succeeded", "finished_at_ms": 12, "outcome": 1}
OPEN: dict[str, Any] = {"state": "running", "finished_at_ms": ABSENT, "outcome": ABSENT}
ROW_OF_END = attrs.evolve(BUSY, **DONE)


@pytest.mark.parametrize(
    ("before", "row"),
    [
        (None, BUSY),
        (None, attrs.evolve(started(0), **DONE)),
        (BUSY, attrs.evolve(BUSY, started_at_ms=90, heartbeat_at_ms=3, checkpoint=ABSENT)),
        (BUSY, ROW_OF_END),
        (BUSY, attrs.evolve(ROW_OF_END, started_at_ms=20, meta="other")),
        (ROW_OF_END, attrs.evolve(ROW_OF_END, meta="other")),
        (ROW_OF_END, attrs.evolve(ROW_OF_END, outcome=2)),
    ],
    ids=[
        "begun",
        "put when over",
        "overwritten",
        "finished",
        "overwritten by its end",
        "meta patched",
        "outcome patched",
    ],
)
def test_what_is_told_equals_the_row(before: Attempt | None, row: Attempt) -> None:
    """Whatever puts, heartbeats, finishes and patches make of a row (RS-821, RS-822, RS-851, RS-861)."""
    key = (row.step_key_digest, row.attempt)
    earlier = [] if before is None else [attrs.evolve(before, **OPEN), before]
    payloads = [told(now, then).payload for then, now in pairwise([None, *earlier, row])]

    projection = folded([entry(ATTEMPT_LIFECYCLE, payload, seq=seq) for seq, payload in enumerate(payloads)])

    assert tells_row(projection.attempts[key], row)


@pytest.mark.parametrize(
    ("before", "row"),
    [
        (BUSY, attrs.evolve(ROW_OF_END, heartbeat_at_ms=ABSENT, checkpoint=ABSENT)),
        (BUSY, attrs.evolve(ROW_OF_END, heartbeat_at_ms=12)),
        (BUSY, attrs.evolve(ROW_OF_END, checkpoint=[True])),
        (None, attrs.evolve(ROW_OF_END, checkpoint=ABSENT)),
        (None, attrs.evolve(ROW_OF_END, heartbeat_at_ms=ABSENT)),
        (ROW_OF_END, attrs.evolve(ROW_OF_END, checkpoint=[9])),
        (ROW_OF_END, BUSY),
        (ROW_OF_END, attrs.evolve(ROW_OF_END, finished_at_ms=13)),
    ],
    ids=[
        *("end forgets", "untold heartbeat", "untold checkpoint", "over with heartbeat", "over with checkpoint"),
        *("checkpoint patched", "reopened", "ended again"),
    ],
)
def test_a_row_that_cannot_follow_is_not_told(before: Attempt | None, row: Attempt) -> None:
    """The event of an end has neither heartbeat nor checkpoint, and nothing follows one (JN-354, JN-360)."""
    assert why(describe_row(row, ROOT_LINEAGE, before))[0] == "transition"


def test_what_was_told_is_of_the_same_attempt() -> None:
    """And was told: a row that no event can tell was not (JN-353, JN-354)."""
    others = {"attempt": 1, "step_key_digest": "other", "run_id": "run-2", "state": "waiting"}
    answers = [describe_row(BUSY, ROOT_LINEAGE, attrs.evolve(BUSY, **{name: other})) for name, other in others.items()]

    assert [why(answer) for answer in answers] == [
        ("malformed", "told"),
        ("malformed", "told"),
        ("malformed", "told.executionId"),
        ("malformed", "told.lifecycle.state"),
    ]


def test_the_histories_hold_every_kind_of_write() -> None:
    """Both told and refused, where a write can be (the histories of this folder)."""
    drawn = {(write.operation, write.row.state in IN_PROGRESS, write.refused) for write in interleaved(300)}

    assert drawn == {
        ("heartbeat", True, None),
        ("put", True, None),
        *(("put", False, refused) for refused in (None, "transition")),
        ("finish", False, None),
        *(("patch", True, refused) for refused in (None, "malformed")),
        *(("patch", False, refused) for refused in (None, "transition", "malformed")),
    }


@pytest.mark.parametrize("digest", ["sk-step00001", "Bearer abcdef", "token=abc", "AKIA" + "A1" * 8])
def test_an_identity_that_looks_like_a_secret_is_malformed(digest: str) -> None:
    """Redaction would make one attempt of several; a journal that redacts nothing stores it (JN-056, JN-064)."""
    row = attrs.evolve(started(0), step_key_digest=digest)
    lineage = attrs.evolve(ROOT_LINEAGE, lineage_id=digest)

    assert why(describe_row(row, ROOT_LINEAGE, None)) == ("malformed", "payload.stepKeyDigest")
    assert why(describe_row(started(0), lineage, None)) == ("malformed", "payload.lineage")
    assert isinstance(describe_row(row, lineage, None, make_noop_redactor()), AttemptPayload)


def fail(value: object) -> object:
    """A redactor that does not work."""
    raise RuntimeError(value)


@pytest.mark.parametrize(
    ("redact", "place"),
    [
        (fail, "payload"),
        (lambda _: None, "payload.version"),
        (lambda value: {**value, "attempt": 1}, "payload.attempt"),
        (lambda value: lacking(value, "lineage.parentRunId"), "payload.lineage"),
    ],
    ids=["fails", "nothing left", "attempt", "lineage"],
)
def test_a_redactor_that_spoils_the_identity_is_told_of(redact: Redact, place: str) -> None:
    """It is the caller's own (JN-050)."""
    assert why(describe_row(started(0), ROOT_LINEAGE, None, redact)) == ("malformed", place)


def test_what_a_row_holds_may_be_secret() -> None:
    """Checkpoint and result are for the journal to redact, and are no identity."""
    row = attrs.evolve(started(0), checkpoint={"password": "p", "note": "sk-step00001"})

    assert isinstance(describe_row(row, ROOT_LINEAGE, None), AttemptPayload)
