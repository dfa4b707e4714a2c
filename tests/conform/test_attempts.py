"""Attempts as traces and drivers meet them: the model as a system, the wire form, the playing of steps."""

import json

import attrs
import pytest

from tenure_model.conform.model_system import ModelSystem
from tenure_model.conform.players import check_operations, model_for
from tenure_model.conform.replay import replay
from tenure_model.conform.systems import ATTEMPT_COLUMNS
from tenure_model.conform.traces import TraceError, parse_trace
from tenure_model.conform.wire import result_to_wire
from tenure_model.semantics.attempts.table import AttemptRow
from tenure_model.semantics.profiles import REFERENCE
from tenure_model.vocabulary.attempt_errors import AttemptStoreError
from tenure_model.vocabulary.attempt_outcomes import Conflict, Inserted, StateChanged
from tenure_model.vocabulary.attempts import Attempt

OWNER = {"hostId": "h1", "pid": 1, "nonce": "a"}
ID = {"runId": "r", "stepKeyDigest": "s", "attempt": 0}
ATTEMPT = {**ID, "state": "running", "startedAtMs": 5, "meta": {"a": 1}, "checkpoint": None}
PENDING = {"status": "pending", "owner": None, "heartbeatAtMs": None}
PUT = {"attempt": ATTEMPT, "owner": OWNER}
COLUMNS = ("r", "s", 0, "running", 5, None, None, "null", None, None, '{"a":1}')


def owned_run(system):
    """``system`` with a run ``r`` that the owner has."""
    system.call("a", "run.create", {"runId": "r", "stateJson": "{}"}, 0)
    system.call("a", "run.claimAndOwn", {"runId": "r", "expected": PENDING, "owner": OWNER, "nowMs": 0}, 0)
    return system


def seen(system, session):
    """The attempts a session sees, as tables."""
    return system.state(session).attempts


def test_columns_are_those_of_the_row():
    """A row is told in the order of its columns."""
    assert tuple(field.name for field in attrs.fields(AttemptRow)) == ATTEMPT_COLUMNS


def test_attempts_are_visible_state():
    """A write moves the state, a read does not."""
    system = owned_run(ModelSystem(REFERENCE, ("a", "b")))

    assert seen(system, "a") == {}
    assert system.call("a", "attempt.put", PUT, 0) == Inserted()
    assert seen(system, "a") == seen(system, "b") == {("r", "s", 0): COLUMNS}
    assert system.state("a") is system.state("a")


@pytest.mark.parametrize("undo", ["session.rollback", "session.crash", "system.crash"])
def test_attempts_are_undone_with_the_runs(undo):
    """What a session wrote in a transaction is its own until the commit, and gone without it."""
    system = owned_run(ModelSystem(REFERENCE, ("a", "b")))
    system.control("b", "session.begin")
    system.call("b", "attempt.put", PUT, 0)

    assert (len(seen(system, "a")), len(seen(system, "b"))) == (0, 1)
    assert not system.control("a", "session.begin")
    assert not system.control("a", "session.rollback")
    system.control("a", "session.crash")
    assert len(seen(system, "b")) == 1
    system.control("b", undo)
    assert (len(seen(system, "a")), len(seen(system, "b"))) == (0, 0)


def test_attempts_are_committed_with_the_runs():
    """The outermost commit shows them to all."""
    system = owned_run(ModelSystem(REFERENCE, ("a", "b")))
    for action in ("session.begin", "session.begin"):
        system.control("b", action)
    system.call("b", "attempt.put", PUT, 0)
    system.control("b", "session.commit")

    assert len(seen(system, "a")) == 0
    system.control("b", "session.commit")
    assert len(seen(system, "a")) == 1


def test_a_run_with_attempts_stays():
    """Deleting it is refused, and nothing moves (RS-106)."""
    system = owned_run(ModelSystem(REFERENCE, ("a",)))
    system.call("a", "attempt.put", PUT, 0)
    before = system.state("a")

    assert result_to_wire(system.call("a", "row.delete", {"runId": "r"}, 0))["error"]["code"] == "constraint"
    assert system.state("a") == before


@pytest.mark.parametrize(
    ("result", "operation", "wire"),
    [
        (None, "attempt.get", {"ok": {"_tag": "None"}}),
        (
            Attempt("r", "s", 0, "running", 5, {"a": [1]}, checkpoint=None),
            "attempt.get",
            {
                "ok": {
                    "_tag": "Some",
                    "value": {
                        **ID,
                        "state": "running",
                        "startedAtMs": 5,
                        "meta": {"a": [1]},
                        "checkpoint": None,
                    },
                }
            },
        ),
        (Inserted(), "attempt.put", {"ok": {"_tag": "Inserted"}}),
        (StateChanged(), "attempt.finish", {"ok": {"_tag": "StateChanged"}}),
        (
            AttemptStoreError("constraint", "put", "attempt persistence failed", {"category": "constraint"}),
            "attempt.put",
            {
                "error": {
                    "code": "constraint",
                    "method": "put",
                    "message": "constraint: AttemptStore.put: attempt persistence failed",
                }
            },
        ),
    ],
)
def test_wire_form(result, operation, wire):
    """Outcomes carry their tag, absent optionals are missing, null ones are not, causes stay at home."""
    assert json.loads(json.dumps(result_to_wire(result, operation))) == wire


def trace_of(put_mode=None, *results):
    """A trace in which an attempt is put twice."""
    steps = [
        ("run.create", {"runId": "r", "stateJson": "{}"}, None),
        ("run.claimAndOwn", {"runId": "r", "expected": PENDING, "owner": OWNER, "nowMs": 0}, {"_tag": "Activated"}),
        ("attempt.put", PUT, {"_tag": "Inserted"}),
        ("attempt.put", {**PUT, "attempt": {**ATTEMPT, "meta": 1}}, results[0] if results else None),
    ]
    about = {} if put_mode is None else {"putMode": put_mode}
    recorded = [{"clock": 0, "op": op, "args": args, "ok": ok} for op, args, ok in steps]
    return parse_trace({"kind": "runs", "steps": recorded, **about}, "t")


@pytest.mark.parametrize(
    ("put_mode", "answer", "verdict"),
    [
        (None, "Conflict", "agrees"),
        ("insert", "Conflict", "agrees"),
        ("upsert", "Upserted", "agrees"),
        ("insert", "Upserted", "differs"),
        ("upsert", "Conflict", "differs"),
    ],
)
def test_put_mode_configures_the_model(put_mode, answer, verdict):
    """Every step is compared, under the mode that the trace was recorded with."""
    trace = trace_of(put_mode, {"_tag": answer})

    report = replay(trace, model_for(trace, REFERENCE), REFERENCE)

    assert (report.verdict, report.compared, report.not_compared) == (verdict, 4, 0)


def test_an_unknown_put_mode_is_no_trace():
    """A mode that does not exist is told before the first step."""
    with pytest.raises(TraceError, match="putMode must be insert or upsert"):
        check_operations(trace_of("replace"))


def test_an_unknown_operation_on_attempts_is_no_trace():
    """Not everything that begins like an attempt operation is one."""
    step = {"clock": 0, "op": "attempt.delete", "args": {}, "ok": None}

    with pytest.raises(TraceError, match="step 0: op is not a known operation"):
        check_operations(parse_trace({"kind": "runs", "steps": [step]}, "t"))


def test_the_modes_of_a_system_are_its_own():
    """Two systems side by side keep to their own policy."""
    inserting, upserting = (owned_run(ModelSystem(REFERENCE, ("a",), mode)) for mode in ("insert", "upsert"))
    for system in (inserting, upserting):
        system.call("a", "attempt.put", PUT, 0)
    other = {**PUT, "attempt": {**ATTEMPT, "meta": 1}}

    assert inserting.call("a", "attempt.put", other, 0) == Conflict()
    assert upserting.call("a", "attempt.put", other, 0) != Conflict()
