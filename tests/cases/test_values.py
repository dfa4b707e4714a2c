"""Every value of the admission table in every argument of every operation, in model and store alike (BR-54).

What admission makes of each value is the table's own test; this one is about the whole operation: the same answer, the
same state, nothing written by a refusal, and a next call that knows nothing of it.
"""

import attrs
import pytest

import tenure
from tenure.port import StoreSystem
from tenure_model.conform.model_system import ModelSystem
from tenure_model.conform.round_order import RoundOrder
from tenure_model.semantics.profiles import REFERENCE
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.operations import RUN_OPERATIONS
from tests.admission.values import VALUES
from tests.cases.support import STALE, T0, A, B, SetupError
from tests.differential.actions import Action
from tests.differential.pair import Divergence, Pair, close_pair

LONGEST = 400_000
"""Longer texts are left to the admission table, which knows them all: here they would be read hundreds of times."""

SESSIONS = ("s0",)
NOW = T0 + STALE + 1
_A = {"hostId": A.host_id, "pid": A.pid, "nonce": A.nonce}
_B = {"hostId": B.host_id, "pid": B.pid, "nonce": B.nonce}
_PENDING = {"status": "pending", "owner": None, "heartbeatAtMs": None}
_OF_A = {"status": "running", "owner": _A, "heartbeatAtMs": T0}
_EVIDENCE = {"expectedOwner": _A, "checkedAtMs": NOW, "kind": "lease-expired"}
_TOKEN = {"claimant": _A, "claimedAtMs": T0}

GOOD = {
    "run.create": {
        "runId": "new",
        "stateJson": "{}",
        "options": {"parentRunId": "pending", "lineageId": "L", "roundOrdinal": 1},
    },
    "run.get": {"runId": "owned"},
    "run.lineage": {"runId": "owned"},
    "run.latestRound": {"runId": "owned"},
    "run.requestCancel": {"runId": "owned", "nowMs": NOW},
    "run.requestCancelLineage": {"runId": "owned", "nowMs": NOW},
    "run.acknowledgeCancel": {"runId": "cancelled", "owner": _A, "nowMs": NOW},
    "run.claim": {"runId": "pending", "expected": _PENDING, "claimant": _B, "nowMs": NOW},
    "run.claimAndOwn": {"runId": "owned", "expected": _OF_A, "owner": _B, "nowMs": NOW, "evidence": _EVIDENCE},
    "run.activate": {"runId": "claimed", **_TOKEN, "expected": _PENDING},
    "run.abandonClaim": {"runId": "claimed", **_TOKEN},
    "run.recoverClaim": {
        "runId": "claimed",
        "staleClaimant": _A,
        "claimedAtMs": T0,
        "observer": _B,
        "nowMs": NOW,
        "evidence": _EVIDENCE,
    },
    "run.heartbeat": {"runId": "owned", "owner": _A, "nowMs": NOW},
    "run.reconfirm": {"runId": "owned", "owner": _A, "nowMs": NOW},
    "run.transitionOwned": {
        "runId": "owned",
        "owner": _A,
        "toStatus": "completed",
        "stateJson": "{}",
        "guard": {"cancelRequested": "absent"},
    },
    "run.steal": {"runId": "owned", "expected": _OF_A, "claimant": _B, "nowMs": NOW, "evidence": _EVIDENCE},
}
"""A call of each operation that succeeds on the runs below, in wire form."""

PREPARATION = (
    *(("run.create", {"runId": run_id, "stateJson": "{}"}) for run_id in ("pending", "claimed", "owned", "cancelled")),
    ("run.claim", {"runId": "claimed", "expected": _PENDING, "claimant": _A, "nowMs": T0}),
    *(
        ("run.claimAndOwn", {"runId": run_id, "expected": _PENDING, "owner": _A, "nowMs": T0})
        for run_id in ("owned", "cancelled")
    ),
    ("run.requestCancel", {"runId": "cancelled", "nowMs": T0}),
)


def places(value, path=()):
    """The path of a value and of every member in it."""
    yield path
    if isinstance(value, dict):
        for name, member in value.items():
            yield from places(member, (*path, name))


def replaced(record, path, value):
    """The record with another value at the path."""
    if not path:
        return value
    if value is tenure.ABSENT and len(path) == 1:
        return {name: member for name, member in record.items() if name != path[0]}
    return {**record, path[0]: replaced(record[path[0]], path[1:], value)}


SLOTS = [
    (operation, path)
    for operation, arguments in GOOD.items()
    for path in places(arguments)
    if path  # the record of all arguments is not an argument
]


@pytest.fixture(scope="module")
def values():
    """Every value of the table, built once: admission changes nothing that it is given (RS-300)."""
    built = {name: build() for name, build in VALUES.items()}
    return {name: value for name, value in built.items() if type(value) is not str or len(value) <= LONGEST}


@attrs.define
class Bench:
    """Model and store in step; ``reset`` undoes what was done since the preparation."""

    pair: Pair

    @classmethod
    def of(cls, model):
        """Both prepared, each inside a transaction that is never committed."""
        pair = Pair(model, RoundOrder(StoreSystem.in_memory(SESSIONS), SESSIONS), SESSIONS)
        for operation, arguments in PREPARATION:
            pair.take(Action("s0", operation, arguments, float(T0)))
        bench = cls(pair)
        bench.control("session.begin")
        return bench

    def control(self, action):
        self.pair.actions.clear()
        self.pair.take(Action("s0", action, {}, float(NOW)))

    def reset(self):
        self.control("session.rollback")
        self.control("session.begin")

    def answer(self, operation, arguments):
        """The answer of both, the states being compared only where something may have been written."""
        results = [
            system.call("s0", operation, dict(arguments), float(NOW)) for system in (self.pair.model, self.pair.store)
        ]
        same = type(results[0]) is type(results[1]) and results[0] == results[1]
        assert same, (operation, results)
        return results[0]

    def states(self):
        """The state of both, which must be one."""
        model, store = (system.state("s0") for system in (self.pair.model, self.pair.store))
        assert model == store
        return model


@pytest.fixture(scope="module")
def bench():
    """One bench for all slots: each leaves it as it found it, or fails."""
    bench = Bench.of(ModelSystem(REFERENCE, SESSIONS))
    yield bench
    close_pair(bench.pair)


def values_in(bench, values, operation, path):
    """Every value of the table at one place of one operation's arguments. Answers how many were refused."""
    good = bench.answer(operation, GOOD[operation])
    if isinstance(good, RunStoreError):
        raise SetupError(good.message)
    bench.reset()
    before, refused = bench.states(), 0
    for name, value in values.items():
        outcome = bench.answer(operation, replaced(GOOD[operation], path, value))
        if isinstance(outcome, RunStoreError) and outcome.code == "invalid_run":
            refused += 1
            assert outcome.method == RUN_OPERATIONS[operation].method, name
        else:
            bench.states()
            bench.reset()
    assert bench.states() == before
    # Nothing that was refused, or undone, is remembered: the good call answers as it did at first.
    assert bench.answer(operation, GOOD[operation]) == good
    bench.states()
    bench.reset()
    return refused


@pytest.mark.parametrize(
    ("operation", "path"), SLOTS, ids=[f"{operation} {'.'.join(path)}" for operation, path in SLOTS]
)
def test_br_54_every_value_in_every_argument(bench, values, operation, path):
    """BR-54: model and store answer alike, a refusal leaves every row as it was, and the next call is unaffected."""
    assert values_in(bench, values, operation, path) > 50


def test_br_54_every_argument_has_a_place():
    """BR-54: no operation and no argument is left out."""
    assert {operation: {path[0] for path in places(arguments) if path} for operation, arguments in GOOD.items()} == {
        name: set(signature.parameters) for name, signature in RUN_OPERATIONS.items()
    }


class TakesBooleans(ModelSystem):
    """Takes ``true`` for 1."""

    def call(self, session, operation, arguments, clock_ms):
        arguments = {name: int(value) if type(value) is bool else value for name, value in arguments.items()}
        return super().call(session, operation, arguments, clock_ms)


class TrimsState(ModelSystem):
    """Stores a state without the white space around it."""

    def call(self, session, operation, arguments, clock_ms):
        if type(arguments.get("stateJson")) is str:
            arguments = {**arguments, "stateJson": arguments["stateJson"].strip()}
        return super().call(session, operation, arguments, clock_ms)


@pytest.mark.parametrize(
    ("wrong", "operation", "argument"),
    [(TakesBooleans, "run.heartbeat", "nowMs"), (TrimsState, "run.transitionOwned", "stateJson")],
)
def test_br_54_kills_another_reading_of_a_value(values, wrong, operation, argument):
    """BR-54: ``true`` taken as 1, and a state that is not kept character by character, are found."""
    bench = Bench.of(wrong(REFERENCE, SESSIONS))
    with pytest.raises((AssertionError, Divergence)):
        values_in(bench, values, operation, (argument,))
    close_pair(bench.pair)


def test_br_54_text_round_trips(make_store, values):
    """BR-54: what is accepted as a state comes back with the very same characters, and nothing else is stored."""
    subject, accepted = make_store(), 0
    for number, value in enumerate(values.values()):
        if subject.create(f"run-{number}", value) is None:
            accepted += 1
            assert subject.get(f"run-{number}").state_json == value

    assert accepted > 20
    assert subject.store.database.read("SELECT count(*) FROM flows_runs") == [(accepted,)]


def test_br_54_a_document_of_brackets_is_a_refusal(make_store):
    """BR-54: a million opening brackets exhaust nothing: refused, and the next call is unaffected."""
    subject = make_store()
    refusal = subject.create("r", VALUES["text million ["]())

    assert (refusal.code, refusal.cause["stateJsonValid"]) == ("invalid_run", False)
    assert subject.create("r", "{}") is None
