"""Tests of refused input: the text, in what order it is found, and that nothing happens."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest

import tenure
from tests.attempts.support import DONE, FULL, INSERTED, KEY, PLAIN, beat, ended, like, refused
from tests.runs.support import FENCE_LOST, NOW, UPDATED, A, B, World, new_world, unchanged

MIB: Final = 1024 * 1024
TOO_LONG: Final = "x" * 1025
BAD_TEXT: Final[list[object]] = ["", TOO_LONG, "a\0b", "\ud800", "\ud83d\ude00", 5, None, b"r", "\N{PILE OF POO}" * 513]
BAD_INTEGER: Final[list[object]] = [-1, 2**53, 1.0, True, "1", None, float("nan")]

OWNER: Final = "owner must be an inert, valid owner identity"
ID_RECORD: Final = "attempt id must be an inert data record"
ID_VALUES: Final = "attempt identity violates the durable identifier contract"
PUT_RECORD: Final = "attempt must be an inert data record"
PUT_VALUES: Final = "attempt violates the persistence contract"
FINISH_RECORD: Final = "finished attempt must be an inert data record"
FINISH_VALUES: Final = "finished attempt violates the contract"
FINISH_STATE: Final = "finish requires a terminal state and valid timestamp"
PATCH_RECORD: Final = "attempt patch must be an inert data record"
CAP: Final = "checkpoint exceeds the JSON byte limit"
TIME: Final = "nowMs must be a non-negative safe integer"

WIRE_ID: Final = {"runId": "r", "stepKeyDigest": "step", "attempt": 0}
WIRE_PUT: Final = {**WIRE_ID, "state": "running", "startedAtMs": 10, "meta": {"n": 1}}
WIRE_FINISH: Final = {**WIRE_ID, "state": "done", "finishedAtMs": 30}
WIRE_OWNER: Final = {"hostId": "h1", "pid": 1, "nonce": "a"}


def each(name: str, values: Sequence[object]) -> pytest.MarkDecorator:
    """One test for each value; their names are numbers, because some of the values must not be looked at."""
    return pytest.mark.parametrize(name, [pytest.param(value, id=str(number)) for number, value in enumerate(values)])


class Hostile:
    """Raises whatever is asked of it."""

    def __getattribute__(self, name: str) -> object:
        raise RuntimeError(name)


def without(record: dict[str, object], field: str) -> dict[str, object]:
    """The record without one field."""
    return {name: value for name, value in record.items() if name != field}


def check(world: World, method: str, text: str, *arguments: object) -> None:
    """The call is refused with this text, without a cause, and changes nothing."""
    call: Callable[..., object] = getattr(world.store.attempts, method)
    with unchanged(world):
        error = refused(lambda: call(*arguments))
    assert error == tenure.AttemptStoreError("invalid_attempt", method, text)
    assert error.message == f"invalid_attempt: AttemptStore.{method}: {text}"
    assert error.cause is None


def heartbeat_arguments(**changes: object) -> tuple[object, ...]:
    """Good arguments of a heartbeat, some of them changed."""
    good = {"run_id": "r", "step_key_digest": "step", "attempt": 0, "owner": A, "now_ms": NOW, "checkpoint": 1}
    return tuple({**good, **changes}.values())


OWNERS: list[object] = [
    None,
    {},
    [],
    Hostile(),
    without(WIRE_OWNER, "nonce"),
    {**WIRE_OWNER, "more": 1},
    *({**WIRE_OWNER, "hostId": bad} for bad in BAD_TEXT),
    *({**WIRE_OWNER, "nonce": bad} for bad in BAD_TEXT),
    *({**WIRE_OWNER, "pid": bad} for bad in BAD_INTEGER),
    tenure.OwnerId("", 1, "a"),
    tenure.OwnerId("h1", True, "a"),
]


@each("owner", OWNERS)
def test_owner(world: World, owner: object) -> None:
    """One text for whatever is wrong with an owner, in every write, before anything else (RS-811)."""
    check(world, "put", OWNER, None, owner)
    check(world, "finish", OWNER, None, owner)
    check(world, "patch", OWNER, None, None, owner)
    check(world, "heartbeat", OWNER, *heartbeat_arguments(run_id="", owner=owner, now_ms=-1, checkpoint={1}))


FOREIGN: Final[dict[Any, Any]] = {1: 1}
ID_RECORDS: list[object] = [
    None,
    [],
    "r",
    {},
    Hostile(),
    *(without(WIRE_ID, field) for field in WIRE_ID),
    {**FOREIGN, **WIRE_ID},
]
VALUES: list[dict[str, object]] = [
    *({**WIRE_ID, "runId": bad} for bad in BAD_TEXT),
    *({**WIRE_ID, "stepKeyDigest": bad} for bad in BAD_TEXT),
    *({**WIRE_ID, "attempt": bad} for bad in BAD_INTEGER),
]


@each("id", ID_RECORDS)
def test_id_record(world: World, id: object) -> None:
    """An id is a record with the three fields (RS-812)."""
    check(world, "get", ID_RECORD, id)
    check(world, "patch", ID_RECORD, id, None, A)


@pytest.mark.parametrize("id", VALUES)
def test_id_values(world: World, id: dict[str, object]) -> None:
    """The three are durable texts and a safe integer, wherever they stand (RS-812, RS-820, RS-850)."""
    check(world, "get", ID_VALUES, id)
    check(world, "patch", ID_VALUES, id, None, A)
    run_id, step_key_digest, attempt = id.values()
    arguments = heartbeat_arguments(
        run_id=run_id, step_key_digest=step_key_digest, attempt=attempt, now_ms=-1, checkpoint={1}
    )
    check(world, "heartbeat", ID_VALUES, *arguments)
    check(world, "put", PUT_VALUES, {**WIRE_PUT, **id}, A)
    check(world, "finish", FINISH_VALUES, {**WIRE_FINISH, **id}, A)


@pytest.mark.parametrize("now_ms", [*BAD_INTEGER, tenure.ABSENT])
def test_reading(world: World, now_ms: object) -> None:
    """The reading of a heartbeat is a time, judged after the id and before the checkpoint (RS-840)."""
    check(world, "heartbeat", TIME, *heartbeat_arguments(now_ms=now_ms, checkpoint={1}))


RECORDS: list[object] = [None, [], "r", {}, Hostile()]


PUT_RECORDS: list[object] = [
    *RECORDS,
    {**WIRE_PUT, "more": 1},
    {**WIRE_PUT, "owner": 1},
    {**FOREIGN, **WIRE_PUT},
    *(without(WIRE_PUT, field) for field in WIRE_PUT),
    KEY,
    DONE,
    like(PLAIN, meta=tenure.ABSENT),
]
FINISH_RECORDS: list[object] = [
    *RECORDS,
    {**WIRE_FINISH, "more": 1},
    {**WIRE_FINISH, "checkpoint": 1},
    *(without(WIRE_FINISH, field) for field in WIRE_FINISH),
    KEY,
    FULL,
]
PATCH_RECORDS: list[object] = [
    None,
    [],
    "r",
    Hostile(),
    {"more": 1},
    {"state": "done"},
    {**FOREIGN, "meta": 1},
    KEY,
    FULL,
]


@each("attempt", PUT_RECORDS)
def test_put_record(world: World, attempt: object) -> None:
    """A put is an exact record with its six required fields (RS-820)."""
    check(world, "put", PUT_RECORD, attempt, A)


@each("attempt", FINISH_RECORDS)
def test_finish_record(world: World, attempt: object) -> None:
    """A finish is an exact record with its five required fields; a checkpoint is none of it (RS-850)."""
    check(world, "finish", FINISH_RECORD, attempt, A)


@each("patch", PATCH_RECORDS)
def test_patch_record(world: World, patch: object) -> None:
    """A patch is an exact record of the four opaque fields; the lifecycle is none of it (RS-860)."""
    check(world, "patch", PATCH_RECORD, KEY, patch, A)


@pytest.mark.parametrize("bad", BAD_TEXT)
def test_state(world: World, bad: object) -> None:
    """A state is durable text (RS-820, RS-850)."""
    check(world, "put", PUT_VALUES, {**WIRE_PUT, "state": bad}, A)
    check(world, "finish", FINISH_VALUES, {**WIRE_FINISH, "state": bad}, A)


@pytest.mark.parametrize("bad", BAD_INTEGER)
@pytest.mark.parametrize("field", ["startedAtMs", "finishedAtMs", "heartbeatAtMs"])
def test_times(world: World, field: str, bad: object) -> None:
    """Times are safe integers, and null is no time (RS-820, RS-850, RS-815)."""
    check(world, "put", PUT_VALUES, {**WIRE_PUT, field: bad}, A)
    if field == "finishedAtMs":
        check(world, "finish", FINISH_VALUES, {**WIRE_FINISH, field: bad}, A)


def test_finish_in_progress() -> None:
    """A finish leads to no state in progress, and that is found last (RS-850)."""
    world = new_world(attempts=tenure.AttemptOptions(("one", "two")))
    world.owned()
    for state in ("one", "two"):
        check(world, "finish", FINISH_STATE, ended(state=state), A)
        check(world, "finish", FINISH_VALUES, ended(state=state, finished_at_ms=-1), A)
        check(world, "finish", "meta contains a non-finite number", ended(state=state, meta=2**53), A)

    assert world.store.attempts.finish(ended(state="running"), A) == tenure.NotFound()


def cyclic() -> list[object]:
    """An array that holds itself."""
    array: list[object] = []
    array.append(array)
    return array


def nested(depth: int) -> object:
    """Arrays in arrays; the innermost value is at this depth."""
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


JSON: list[tuple[object, str]] = [
    (nested(129), "exceeds the maximum JSON depth of 128"),
    ([0] * 100_000, "contains more than 100000 JSON values"),
    ([0] * 100_001, "exceeds the JSON members limit"),
    (float("nan"), "contains a non-finite number"),
    (float("-inf"), "contains a non-finite number"),
    (2**53, "contains a non-finite number"),
    ("\ud800", "contains unbounded or ill-formed text"),
    ({"\ud800": 1}, "contains an unbounded or ill-formed object key"),
    ({1: 1}, "contains an unbounded or ill-formed object key"),
    ([tenure.ABSENT], "contains a non-JSON undefined"),
    (len, "contains a non-JSON function"),
    ((1, 2), "contains a non-plain object"),
    (Hostile(), "contains a non-plain object"),
    (b"x", "contains a non-plain object"),
    (cyclic(), "contains a cycle"),
]
FIELDS: Final = ("checkpoint", "error", "outcome", "meta")


@pytest.mark.parametrize(("value", "complaint"), JSON, ids=map(str, range(len(JSON))))
@pytest.mark.parametrize("field", FIELDS)
def test_json(world: World, field: str, value: object, complaint: str) -> None:
    """Every JSON field is walked, and the complaint is told under its name (RS-820, RS-320..RS-325)."""
    text = f"{field} {complaint}"
    check(world, "put", text, like(PLAIN, **{field: value}), A)
    check(world, "patch", text, KEY, tenure.AttemptPatch(**{field: value}), A)
    if field == "checkpoint":
        check(world, "heartbeat", text, *heartbeat_arguments(checkpoint=value))
    else:
        check(world, "finish", text, ended(**{field: value}), A)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", [nested(128), [0] * 99_999, "\0", {"": 1, "__proto__": 2}, 2**53 - 1, -(2**53) + 1])
def test_json_at_its_limits(world: World, field: str, value: object) -> None:
    """What is just within the limits is recorded and read back (RS-321..RS-324)."""
    attempt = like(PLAIN, **{field: value})

    assert world.store.attempts.put(attempt, A) == INSERTED
    assert world.store.attempts.get(KEY) == attempt


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(FIELDS, 2)))
def test_json_fields_are_judged_in_order(world: World, first: str, second: str) -> None:
    """Checkpoint, error, outcome, meta: the first that fails is told (RS-820, RS-850, RS-860)."""
    both = {second: len, first: len}
    text = f"{first} contains a non-JSON function"
    check(world, "put", text, {**WIRE_PUT, **both}, A)
    check(world, "patch", text, KEY, both, A)
    if first != "checkpoint":
        check(world, "finish", text, {**WIRE_FINISH, **both}, A)


def test_json_comes_before_values(world: World) -> None:
    """The values of the other fields are judged after all JSON (RS-820, RS-850)."""
    check(world, "put", "meta contains a non-JSON function", {**WIRE_PUT, "attempt": -1, "state": "", "meta": len}, A)
    check(world, "finish", "meta contains a non-JSON function", {**WIRE_FINISH, "attempt": -1, "meta": len}, A)


ODD: Final = 'a"\\\n\x01\x7fé\u20ac\N{PILE OF POO}'
SIZED: list[Any] = [None, True, False, 0, -1.5, 1e21, 1e-7, ODD, [], {}, {"é": [1, {}]}, "x" * 50]
BYTES: Final = [4, 4, 5, 1, 4, 5, 4, 2 + 1 + 2 + 2 + 2 + 6 + 1 + 2 + 3 + 4, 2, 2, 2 + 4 + 1 + 6, 52]


@pytest.mark.parametrize(("checkpoint", "size"), list(zip(SIZED, BYTES, strict=True)), ids=map(str, range(len(SIZED))))
def test_configured_cap(checkpoint: object, size: int) -> None:
    """A checkpoint of exactly the configured size passes, one byte more does not (RS-327, RS-802, RS-820)."""
    exact = new_world(attempts=tenure.AttemptOptions(max_checkpoint_bytes=size))
    exact.owned()
    assert exact.store.attempts.put(like(PLAIN, checkpoint=checkpoint), A) == INSERTED
    assert beat(exact, checkpoint=checkpoint) == UPDATED
    assert exact.store.attempts.patch(KEY, tenure.AttemptPatch(checkpoint), A) == tenure.Patched()

    if size > 1:
        short = new_world(attempts=tenure.AttemptOptions(max_checkpoint_bytes=size - 1))
        short.owned()
        check(short, "put", CAP, like(PLAIN, checkpoint=checkpoint), A)
        check(short, "heartbeat", CAP, *heartbeat_arguments(checkpoint=checkpoint))
        check(short, "patch", CAP, KEY, tenure.AttemptPatch(checkpoint), A)


@pytest.mark.parametrize("size", [MIB, 16 * MIB])
def test_default_and_largest_cap(size: int) -> None:
    """Unless configured a checkpoint has 1 MiB, at most 16 MiB (RS-802, RS-820)."""
    world = new_world() if size == MIB else new_world(attempts={"maxCheckpointBytes": size})
    world.owned()
    check(world, "put", CAP, like(PLAIN, checkpoint="x" * (size - 1)), A)

    assert world.store.attempts.put(like(PLAIN, checkpoint="x" * (size - 2)), A) == INSERTED


def test_two_caps_of_a_put(world: World) -> None:
    """The 16 MiB are judged with the JSON, before the values; the configured cap after them (RS-820)."""
    check(world, "put", PUT_VALUES, {**WIRE_PUT, "state": "", "checkpoint": "x" * MIB}, A)
    check(
        world,
        "put",
        CAP,
        {**WIRE_PUT, "state": "", "checkpoint": "x" * 16 * MIB},
        A,
    )
    check(world, "put", "meta contains a non-JSON function", {**WIRE_PUT, "meta": len, "checkpoint": "x" * MIB}, A)
    check(
        world,
        "put",
        CAP,
        {**WIRE_PUT, "meta": len, "checkpoint": "x" * 16 * MIB},
        A,
    )


def test_two_caps_of_a_patch(world: World) -> None:
    """The same of a patch: the configured cap comes after the other JSON (RS-860)."""
    check(world, "patch", "meta contains a non-JSON function", KEY, {"meta": len, "checkpoint": "x" * MIB}, A)
    check(world, "patch", CAP, KEY, {"meta": len, "checkpoint": "x" * 16 * MIB}, A)


@pytest.mark.parametrize("field", ["error", "outcome", "meta"])
def test_other_fields_have_no_cap(field: str) -> None:
    """Only checkpoints are bounded in bytes (RS-014)."""
    world = new_world(attempts=tenure.AttemptOptions(max_checkpoint_bytes=1))
    world.owned()
    large = "x" * (16 * MIB + 1)

    assert world.store.attempts.put(like(PLAIN, **{field: large}), A) == INSERTED
    assert world.store.attempts.finish(ended(**{field: large}), A) == tenure.Finished()
    assert world.store.attempts.patch(KEY, tenure.AttemptPatch(**{field: large}), A) == tenure.Patched()


def test_refusal_comes_before_every_loss(world: World) -> None:
    """Input is judged before the fence and before what is recorded (RS-811, RS-820)."""
    world.store.attempts.put(PLAIN, A)
    check(world, "put", PUT_VALUES, like(PLAIN, run_id="missing", state=""), B)
    check(world, "finish", FINISH_STATE, ended(run_id="missing", state="running"), B)
    check(world, "patch", PATCH_RECORD, tenure.AttemptId("missing", "step", 0), None, B)
    check(world, "heartbeat", TIME, *heartbeat_arguments(run_id="missing", owner=B, now_ms=-1))

    assert world.store.attempts.put(FULL, B) == FENCE_LOST


def test_wire_records(world: World) -> None:
    """Records in wire form are as good as the classes (RS-304)."""
    attempts: Any = world.store.attempts

    assert attempts.put({**WIRE_PUT, "checkpoint": None}, WIRE_OWNER) == INSERTED
    assert attempts.get(WIRE_ID) == like(PLAIN, checkpoint=None)
    assert attempts.heartbeat("r", "step", 0, WIRE_OWNER, 5) == UPDATED
    assert attempts.patch(WIRE_PUT, {"error": 1}, WIRE_OWNER) == tenure.Patched()
    assert attempts.finish({**WIRE_FINISH, "outcome": None}, WIRE_OWNER) == tenure.Finished()
    assert attempts.get(WIRE_FINISH) == like(
        PLAIN, state="done", finished_at_ms=30, heartbeat_at_ms=5, checkpoint=None, error=1, outcome=None
    )


def test_longest_identifiers(world: World) -> None:
    """Identifiers and states have up to 1,024 UTF-16 units, astral characters counting two (RS-301)."""
    longest = ("x" * 1024, "\N{PILE OF POO}" * 512)
    world.owned(longest[0])
    world.owned(longest[1])
    for run_id, state in zip(longest, reversed(longest), strict=True):
        attempt = like(PLAIN, run_id=run_id, step_key_digest=state, state=state, attempt=2**53 - 1)

        assert world.store.attempts.put(attempt, A) == INSERTED
        assert world.store.attempts.get(attempt) == attempt
