"""``put``."""

import attrs
import pytest

from tenure_model.semantics.attempts.put import same_attempt
from tenure_model.semantics.attempts.steps import AttemptOutcome
from tenure_model.semantics.attempts.table import NO_ATTEMPTS, AttemptRow
from tenure_model.semantics.world import World, empty_world
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempt_errors import AttemptStoreError
from tenure_model.vocabulary.attempt_outcomes import Conflict, ExistingSame, Inserted, RunNotFound, Upserted
from tenure_model.vocabulary.attempts import Attempt, AttemptOptions
from tenure_model.vocabulary.outcomes import FenceLost
from tenure_model.vocabulary.owners import OwnerId
from tests.semantics.attempts.tables import ATTEMPT, BARE, DONE, FULL, INSERT, UPSERT, call, holding, row_after
from tests.semantics.worlds import ALICE, BOB, T, claimed, pending, running, settled, stolen, suspended
from tests.semantics.worlds import call as call_run

FULL_ATTEMPT = {
    **ATTEMPT,
    "finishedAtMs": 6,
    "heartbeatAtMs": 7,
    "checkpoint": "c",
    "error": "e",
    "outcome": "o",
}


@pytest.mark.parametrize(
    ("world", "owner", "stored", "inserting", "upserting"),
    [
        (running(), ALICE, None, Inserted(), Inserted()),
        (stolen(), ALICE, None, Inserted(), Inserted()),
        (running(), ALICE, BARE, ExistingSame(), Upserted()),
        (running(), ALICE, FULL, Conflict(), Upserted()),
        (running(), ALICE, DONE, Conflict(), Conflict()),
        (running(), BOB, None, FenceLost(), FenceLost()),
        (running(), BOB, BARE, FenceLost(), FenceLost()),
        (stolen(), BOB, BARE, FenceLost(), FenceLost()),
        (claimed(), BOB, None, FenceLost(), FenceLost()),
        (pending(), ALICE, None, FenceLost(), FenceLost()),
        (suspended(), ALICE, BARE, FenceLost(), FenceLost()),
        (settled(), ALICE, BARE, FenceLost(), FenceLost()),
        (empty_world(), ALICE, None, RunNotFound(), RunNotFound()),
    ],
)
def test_outcomes(
    world: World, owner: OwnerId, stored: AttemptRow | None, inserting: AttemptOutcome, upserting: AttemptOutcome
) -> None:
    """The fence decides before the stored row does, for a replay as well (RS-810, RS-822, RS-862)."""
    attempts = NO_ATTEMPTS if stored is None else holding(stored)
    for options, outcome in ((INSERT, inserting), (UPSERT, upserting)):
        step = call(world, attempts, "attempt.put", options, attempt=ATTEMPT, owner=owner)

        assert step.outcome == outcome
        assert (step.attempts is attempts) == (not isinstance(outcome, Inserted | Upserted))
        assert step.transacted


def test_the_lease_has_no_say() -> None:
    """The fence is the run's row: without a lease its owner still writes (RS-810)."""
    unleased = call_run(running(), "lease.write", runId="r", lease=None).world

    assert row_after(unleased, None, "attempt.put", Inserted(), attempt=ATTEMPT, owner=ALICE) == BARE


@pytest.mark.parametrize(("attempt", "row"), [(ATTEMPT, BARE), (FULL_ATTEMPT, FULL)])
def test_what_is_inserted(attempt: dict[str, object], row: AttemptRow) -> None:
    """Every field goes to its column, absent ones become null (RS-813, RS-820)."""
    assert row_after(running(), None, "attempt.put", Inserted(), attempt=attempt, owner=ALICE) == row


def test_any_state_is_inserted() -> None:
    """An attempt may be put that is not in progress (RS-821)."""
    done = {**FULL_ATTEMPT, "state": "done"}

    assert row_after(running(), None, "attempt.put", Inserted(), attempt=done, owner=ALICE) == DONE


def test_null_is_stored_as_json() -> None:
    """A null is a value, stored as its text, not as nothing (RS-813)."""
    nulls = {**ATTEMPT, "checkpoint": None, "error": None, "outcome": None, "meta": None}
    row = attrs.evolve(BARE, checkpoint_json="null", error_json="null", outcome_json="null", meta_json="null")

    assert row_after(running(), None, "attempt.put", Inserted(), attempt=nulls, owner=ALICE) == row


def test_json_is_stored_compactly() -> None:
    """Members keep their order, numbers take their shortest form (RS-814)."""
    put = {**ATTEMPT, "meta": {"b": [1.0, 1e21, -0.0], "a": "é\n"}}
    row = attrs.evolve(BARE, meta_json='{"b":[1,1e+21,0],"a":"é\\n"}')

    assert row_after(running(), None, "attempt.put", Inserted(), attempt=put, owner=ALICE) == row


@pytest.mark.parametrize(
    ("stored", "attempt", "row"),
    [
        (FULL, ATTEMPT, BARE),
        (BARE, FULL_ATTEMPT, FULL),
        (FULL, {**FULL_ATTEMPT, "heartbeatAtMs": 1}, attrs.evolve(FULL, heartbeat_at_ms=1)),
        (FULL, {**FULL_ATTEMPT, "state": "done"}, DONE),
        (FULL, {**FULL_ATTEMPT, "startedAtMs": 0}, attrs.evolve(FULL, started_at_ms=0)),
    ],
)
def test_an_upsert_overwrites_every_column(stored: AttemptRow, attempt: dict[str, object], row: AttemptRow) -> None:
    """Absent optionals become null, the heartbeat may go back, the state may end (RS-822)."""
    assert row_after(running(), stored, "attempt.put", Upserted(), UPSERT, attempt=attempt, owner=ALICE) == row


def test_configured_states_are_what_upserts_overwrite() -> None:
    """Which states are in progress is the store's policy, and only upserts ask (RS-801, RS-822)."""
    policy = AttemptOptions(("done",), put_mode="upsert")

    assert row_after(running(), DONE, "attempt.put", Upserted(), policy, attempt=ATTEMPT, owner=ALICE) == BARE
    assert row_after(running(), BARE, "attempt.put", ExistingSame(), policy, attempt=ATTEMPT, owner=ALICE) == BARE


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("state", "waiting"),
        ("startedAtMs", 6),
        ("finishedAtMs", 7),
        ("finishedAtMs", ABSENT),
        ("heartbeatAtMs", 8),
        ("heartbeatAtMs", ABSENT),
        ("checkpoint", "C"),
        ("checkpoint", ABSENT),
        ("checkpoint", None),
        ("error", "E"),
        ("error", ABSENT),
        ("error", None),
        ("outcome", "O"),
        ("outcome", ABSENT),
        ("outcome", None),
        ("meta", {"a": True}),
        ("meta", {"a": 1, "b": 1}),
    ],
)
def test_any_other_field_is_a_conflict(field: str, value: object) -> None:
    """Every field but the key is compared, absent and null differ (RS-823)."""
    other = {**FULL_ATTEMPT, field: value}

    assert row_after(running(), FULL, "attempt.put", Conflict(), attempt=other, owner=ALICE) == FULL
    assert row_after(running(), FULL, "attempt.put", ExistingSame(), attempt=FULL_ATTEMPT, owner=ALICE) == FULL


@pytest.mark.parametrize(
    ("stored", "supplied", "same"),
    [
        ('{"a":1,"b":[2,3]}', {"b": [2, 3], "a": 1}, True),
        ('{"a":1,"b":[2,3]}', {"a": 1, "b": [3, 2]}, False),
        ("1", 1.0, True),
        ("1.0", 1, True),
        ("0", -0.0, True),
        ("-0", 0, True),
        ("1", True, False),
        ("0", False, False),
        ("null", None, True),
        ("null", False, False),
        ('"1"', 1, False),
        ("1e+21", 1e21, True),
        ("[]", {}, False),
    ],
)
def test_json_is_compared_by_value(stored: str, supplied: object, same: bool) -> None:
    """Order of members does not matter, order of elements does, a number is no boolean (RS-328, RS-823)."""
    row = attrs.evolve(BARE, meta_json=stored)
    outcome = ExistingSame() if same else Conflict()

    assert row_after(running(), row, "attempt.put", outcome, attempt={**ATTEMPT, "meta": supplied}, owner=ALICE) == row


def test_same_attempt_ignores_the_key() -> None:
    """It is asked about attempts that stand under one key (RS-823)."""
    one = Attempt("r", "s", 0, "running", 1, {})

    assert same_attempt(one, Attempt("q", "t", 1, "running", 1, {}))
    assert not same_attempt(one, Attempt("r", "s", 0, "running", 1, {}, checkpoint=None))


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("attempt.heartbeat", {"runId": "r", "stepKeyDigest": "s", "attempt": 0, "nowMs": 9}),
        ("attempt.patch", {"id": ATTEMPT, "patch": {"error": None}}),
        (
            "attempt.finish",
            {
                "attempt": {
                    **{k: ATTEMPT[k] for k in ("runId", "stepKeyDigest", "attempt")},
                    "state": "x",
                    "finishedAtMs": 9,
                }
            },
        ),
    ],
)
def test_a_replay_after_any_write_is_a_conflict(operation: str, arguments: dict[str, object]) -> None:
    """Repeating a put is safe only until the attempt has moved (RS-823)."""
    world = running()
    moved = call(world, holding(BARE), operation, owner=ALICE, **arguments).attempts

    assert call(world, moved, "attempt.put", attempt=ATTEMPT, owner=ALICE).outcome == Conflict()


def test_keys_stand_apart() -> None:
    """Run, step and number are all part of the key (RS-110)."""
    world = call_run(running(), "run.create", runId="q", stateJson="{}").world
    table = holding(BARE)
    for change in ({"stepKeyDigest": "t"}, {"attempt": 1}):
        step = call(world, table, "attempt.put", attempt={**ATTEMPT, **change}, owner=ALICE)
        table = step.attempts

        assert step.outcome == Inserted()
    assert set(table.rows) == {("r", "s", 0), ("r", "t", 0), ("r", "s", 1)}
    assert call(world, table, "attempt.put", attempt={**ATTEMPT, "runId": "q"}, owner=ALICE).outcome == FenceLost()


@pytest.mark.parametrize("owner", [ALICE, BOB])
def test_a_corrupt_row_met_in_comparison(owner: OwnerId) -> None:
    """Only a caller who would be told same or different learns of the corruption (RS-824)."""
    corrupt = holding(attrs.evolve(BARE, meta_json="{"))
    failed = AttemptStoreError("decode_failed", "put", "meta_json must be valid JSON text")

    step = call(running(), corrupt, "attempt.put", attempt=ATTEMPT, owner=owner)
    upserted = call(running(), corrupt, "attempt.put", UPSERT, attempt=ATTEMPT, owner=owner)

    assert step.outcome == (failed if owner == ALICE else FenceLost())
    assert step.attempts is corrupt
    assert upserted.outcome == (Upserted() if owner == ALICE else FenceLost())


@pytest.mark.parametrize(
    ("attempt", "owner", "text"),
    [
        (None, None, "owner must be an inert, valid owner identity"),
        (None, ALICE, "attempt must be an inert data record"),
        ({**ATTEMPT, "state": ""}, ALICE, "attempt violates the persistence contract"),
        ({**ATTEMPT, "checkpoint": "12345"}, ALICE, "checkpoint exceeds the JSON byte limit"),
    ],
)
def test_invalid_input(attempt: object, owner: object, text: str) -> None:
    """The owner is judged first; nothing is read, and no cause tells of the input (RS-365, RS-820)."""
    table = holding(BARE)
    step = call(running(), table, "attempt.put", AttemptOptions(max_checkpoint_bytes=6), attempt=attempt, owner=owner)

    assert step.outcome == AttemptStoreError("invalid_attempt", "put", text)
    assert step.attempts is table
    assert not step.transacted


def test_times_are_not_compared() -> None:
    """An attempt may finish before it starts, and start after the clock (RS-815)."""
    odd = {**ATTEMPT, "startedAtMs": 2**53 - 1, "finishedAtMs": 0}
    row = attrs.evolve(BARE, started_at_ms=2**53 - 1, finished_at_ms=0)

    assert T < 2**53 - 1
    assert row_after(running(), None, "attempt.put", Inserted(), attempt=odd, owner=ALICE) == row
