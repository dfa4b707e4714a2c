"""The values that `specs/rules/admission.md` names, built afresh for every use."""

import enum
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import PENDING, CreateOptions, RunRow, RunSnapshot, TransitionGuard
from tests.admission import hostile

CLOCK_MS: Final = 1_000_000
"""The store's clock wherever the table speaks of one."""

OWNER: Final = OwnerId("host-1", 41, "nonce-1")
OWNER_DICT: Final[Mapping[str, object]] = {"hostId": "host-1", "pid": 41, "nonce": "nonce-1"}
ROW: Final = RunRow(
    run_id="run-1",
    status="running",
    created_at_ms=1,
    started_at_ms=2,
    finished_at_ms=None,
    owner=OWNER,
    heartbeat_at_ms=5,
    claim=None,
    claimed_at_ms=None,
    parent_run_id=None,
    cancel_requested_at_ms=None,
    lineage_id=None,
    round_ordinal=None,
    state_json="{}",
)


class Level(enum.IntEnum):
    """An everyday subclass of ``int``."""

    ONE = 1


class PlainStr(str):
    """A subclass of ``str`` that changes nothing."""


class PlainDict(dict[str, object]):
    """A subclass of ``dict`` that changes nothing."""


class PlainList(list[object]):
    """A subclass of ``list`` that changes nothing."""


class PlainOwnerId(OwnerId):
    """A subclass of ``OwnerId`` that changes nothing."""


def nested(depth: int, inner: object = None, *, empty: bool = True) -> list[object]:
    """``depth`` arrays, one in the other; the innermost is empty or holds ``inner``."""
    value: list[object] = [] if empty else [inner]
    for _ in range(depth - 1):
        value = [value]
    return value


def nested_text(depth: int, inner: str = "") -> str:
    """The text of ``nested``."""
    return "[" * depth + inner + "]" * depth


def ones_text(count: int) -> str:
    """An array of ``count`` ones."""
    return f"[{','.join('1' * count)}]"


def members_text(count: int) -> str:
    """An object of ``count`` members."""
    return "{" + ",".join(f'"{number}":1' for number in range(count)) + "}"


def half_built(carrier: type[Any], **fields: object) -> object:
    """An instance of a frozen class of which only ``fields`` were ever set."""
    instance = object.__new__(carrier)
    for name, value in fields.items():
        object.__setattr__(instance, name, value)
    return instance


def both_forms(carrier: type[Any], members: Mapping[str, object]) -> tuple[object, object]:
    """One record twice: as a ``dict`` under the wire's names, and as the frozen class under its own."""
    return dict(members), half_built(carrier, **{snake_case(wire): member for wire, member in members.items()})


def snake_case(wire: str) -> str:
    """The frozen classes' name of a member of the wire."""
    return re.sub("([A-Z])", lambda match: f"_{match[1].lower()}", wire)


def colliding_keys() -> dict[object, object]:
    """A dictionary whose copy would compare two keys of equal hash, and that has lost members since it grew."""
    first, second = hostile.CollidingKey("hostId"), hostile.CollidingKey("hostId")
    record: dict[object, object] = {first: 1, second: 2, **{number: number for number in range(100)}}
    for number in range(100):
        del record[number]
    first.armed = second.armed = True
    return record


def _array_in_itself() -> list[object]:
    array: list[object] = []
    array.append([array])
    return array


def _object_in_itself() -> dict[str, object]:
    record: dict[str, object] = {}
    record["self"] = record
    return record


def _array_twice() -> list[object]:
    shared: list[object] = [1]
    return [shared, {"again": shared}]


def _owner_dict(**changes: object) -> dict[object, object]:
    return {**OWNER_DICT, **changes}


def _snapshot_dict(**changes: object) -> dict[object, object]:
    return {"status": "running", "owner": _owner_dict(), "heartbeatAtMs": 5, **changes}


def _evidence_dict(**changes: object) -> dict[object, object]:
    return {"expectedOwner": _owner_dict(), "checkedAtMs": 7, "kind": "lease-expired", **changes}


def _options_dict(**changes: object) -> dict[object, object]:
    return {"parentRunId": "parent-1", "lineageId": "lineage-1", "roundOrdinal": 3, **changes}


def _without(record: dict[object, object], key: str) -> dict[object, object]:
    del record[key]
    return record


SCALARS: Final[Mapping[str, Callable[[], object]]] = {
    "absent": lambda: ABSENT,
    "null": lambda: None,
    "true": lambda: True,
    "false": lambda: False,
    "0": lambda: 0,
    "1": lambda: 1,
    "-1": lambda: -1,
    "clock + 10000": lambda: CLOCK_MS + 10_000,
    "clock + 10001": lambda: CLOCK_MS + 10_001,
    "2^53-1": lambda: 2**53 - 1,
    "2^53": lambda: 2**53,
    "-(2^53-1)": lambda: 1 - 2**53,
    "2^63": lambda: 2**63,
    "5000-digit integer": lambda: 10**4999,
    "1.0": lambda: 1.0,
    "1.5": lambda: 1.5,
    "-0.0": lambda: -0.0,
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "int subclass": lambda: Level.ONE,
    "int subclass that runs code": lambda: hostile.hostile_instance(hostile.HostileInt),
    "float subclass that runs code": lambda: hostile.hostile_instance(hostile.HostileFloat),
}

TEXTS: Final[Mapping[str, Callable[[], object]]] = {
    "empty text": lambda: "",
    "short text": lambda: "host-1",
    "text 1": lambda: "1",
    "text running": lambda: "running",
    "text pending": lambda: "pending",
    "text completed": lambda: "completed",
    "text Running": lambda: "Running",
    "text lease-expired": lambda: "lease-expired",
    "text present": lambda: "present",
    "companion id": lambda: "flows.companion/run-store/run-1",
    "companion prefix without slash": lambda: "flows.companion",
    "1024 ASCII units": lambda: "a" * 1024,
    "1025 ASCII units": lambda: "a" * 1025,
    "1024 units, 512 astral": lambda: "\U0001f600" * 512,
    "1024 units, 1 astral": lambda: "a" * 1022 + "\U0001f600",
    "1025 units, 1 astral": lambda: "a" * 1023 + "\U0001f600",
    "1026 units, 513 astral": lambda: "\U0001f600" * 513,
    "1024 times U+FFFD": lambda: "\ufffd" * 1024,
    "astral text": lambda: "\U0001f600",
    "U+FFFD": lambda: "\ufffd",
    "U+007F": lambda: "\x7f",
    "NUL": lambda: "\0",
    "NUL inside": lambda: "a\0b",
    "NUL after astral": lambda: "\U0001f600\0",
    "raw high surrogate": lambda: "\ud800",
    "raw low surrogate": lambda: "a\udfff",
    "raw surrogates that pair": lambda: "\ud83d\ude00",
    "str subclass": lambda: PlainStr("host-1"),
    "str subclass that runs code": lambda: hostile.hostile_instance(hostile.HostileStr),
    "bytes": lambda: b"host-1",
}

DOCUMENTS: Final[Mapping[str, Callable[[], object]]] = {
    "text {}": lambda: "{}",
    "text null": lambda: "null",
    "text true, 1, 1.0": lambda: "[true,1,1.0]",
    "text -0.0": lambda: "-0.0",
    "text 1e400": lambda: "1e400",
    "text -1e400": lambda: "[-1e400]",
    "text 1e-400": lambda: "1e-400",
    "text 2^53+1": lambda: "9007199254740993",
    "text 2^63": lambda: "9223372036854775808",
    "text 308-digit integer": lambda: "1" * 308,
    "text 5000-digit integer": lambda: "1" * 5000,
    "text 5000-digit fraction": lambda: "0." + "1" * 5000,
    "text 1e400 under a repeated key": lambda: '{"a":1e400,"a":1}',
    "text 1e400 before an error": lambda: "[1e400,",
    "text NaN": lambda: "NaN",
    "text -Infinity": lambda: "[-Infinity]",
    "text repeated keys": lambda: '{"a":1,"b":2,"a":3}',
    "text 200000 repeated keys": lambda: "{" + ",".join(['"a":1'] * 200_000) + "}",
    "text key __proto__": lambda: '{"__proto__":1,"":2}',
    "text white space around": lambda: " \t\r\n[ 1 , 2 ] \n",
    "text form feed": lambda: "\f1",
    "text no-break space": lambda: "\u00a01",
    "text byte order mark": lambda: "\ufeff{}",
    "text single quotes": lambda: "{'a':1}",
    "text trailing comma": lambda: "[1,]",
    "text comment": lambda: "[1]//",
    "text two documents": lambda: "1 2",
    "text unclosed": lambda: '{"a":[1',
    "text object closed as array": lambda: '{"a":1]',
    "text array closed as object": lambda: "[1}",
    "text number as key": lambda: "{1:2}",
    "text leading zero": lambda: "01",
    "text bare point": lambda: "1.",
    "text Arabic digit": lambda: "\u0661",
    "text tab in a string": lambda: '"\t"',
    "text NUL in a string": lambda: '"\0"',
    "text escaped NUL": lambda: '"\\u0000"',
    "text astral": lambda: '"\U0001f600"',
    "text escaped pair": lambda: '"\\ud83d\\ude00"',
    "text escaped high surrogate": lambda: '["\\ud800"]',
    "text escaped low surrogate": lambda: '["\\uDFFF"]',
    "text escaped surrogates in the wrong order": lambda: '"\\ude00\\ud83d"',
    "text escaped surrogate under a repeated key": lambda: '{"a":"\\ud800","a":1}',
    "text escaped surrogate in a key": lambda: '{"\\ud800":1}',
    "text raw surrogate": lambda: '"\ud800"',
    "text raw surrogate under a repeated key": lambda: '{"a":"\ud800","a":1}',
    "text raw surrogate in a key": lambda: '{"\ud800":1}',
    "text raw surrogate outside strings": lambda: "\ud800",
    "text 129 arrays": lambda: nested_text(129),
    "text 130 arrays": lambda: nested_text(130),
    "text scalar in 128 arrays": lambda: nested_text(128, "1"),
    "text scalar in 129 arrays": lambda: nested_text(129, "1"),
    "text 128 objects": lambda: '{"a":' * 128 + "1" + "}" * 128,
    "text 129 objects": lambda: '{"a":' * 129 + "1" + "}" * 129,
    "text 1e400 before 130 arrays": lambda: f"[1e400,{nested_text(129)}]",
    "text 130 arrays before 1e400": lambda: f"[{nested_text(129)},1e400]",
    "text 129 brackets in a string": lambda: f'"{"[" * 129}"',
    "text million [": lambda: "[" * 1_000_000,
    "text million [ closed": lambda: nested_text(1_000_000),
    "text million [ closed wrongly": lambda: "[" * 1_000_000 + "]" * 999_999 + "}",
    "text 100000 times {": lambda: '{"a":' * 100_000,
    "text 99999 elements": lambda: ones_text(99_999),
    "text 100000 elements": lambda: ones_text(100_000),
    "text 100001 elements": lambda: ones_text(100_001),
    "text 99999 members": lambda: members_text(99_999),
    "text 100000 members": lambda: members_text(100_000),
    "text 100001 members": lambda: members_text(100_001),
    "text 99999 empty arrays": lambda: f"[{','.join(['[]'] * 99_999)}]",
    "text two arrays of 50000": lambda: f"[{ones_text(50_000)},{ones_text(50_000)}]",
}

LIVE: Final[Mapping[str, Callable[[], object]]] = {
    "array []": list,
    "array true, 1, 1.0": lambda: [True, 1, 1.0],
    "array of NaN": lambda: [float("nan")],
    "array of 2^53": lambda: [2**53],
    "array of absent": lambda: [ABSENT],
    "array of a tuple": lambda: [(1,)],
    "array of bytes": lambda: [b""],
    "array of text with NUL": lambda: ["a\0b"],
    "array of raw surrogate": lambda: ["\ud800"],
    "array in itself": _array_in_itself,
    "array used twice": _array_twice,
    "129 arrays": lambda: nested(129),
    "130 arrays": lambda: nested(130),
    "scalar in 128 arrays": lambda: nested(128, 1, empty=False),
    "scalar in 129 arrays": lambda: nested(129, 1, empty=False),
    "million arrays": lambda: nested(1_000_000),
    "99999 elements": lambda: [None] * 99_999,
    "100000 elements": lambda: [None] * 100_000,
    "100001 elements": lambda: [None] * 100_001,
    "99999 members": lambda: dict.fromkeys(map(str, range(99_999))),
    "100000 members": lambda: dict.fromkeys(map(str, range(100_000))),
    "100001 members": lambda: dict.fromkeys(map(str, range(100_001))),
    "NaN before 130 arrays": lambda: [float("nan"), nested(129)],
    "130 arrays before NaN": lambda: [nested(129), float("nan")],
    "object in itself": _object_in_itself,
    "object with key __proto__": lambda: {"__proto__": 1, "": 2},
    "object with key raw surrogate": lambda: {"\ud800": 1},
    "object with key 1": lambda: {1: 1},
    "object with str-subclass key": lambda: {hostile.StrKey("a"): 1},
    "object with keys that run code": colliding_keys,
    "dict subclass": lambda: PlainDict(a=1),
    "dict subclass that runs code": lambda: hostile.hostile_instance(hostile.HostileDict),
    "list subclass": lambda: PlainList([1]),
    "list subclass that runs code": lambda: hostile.hostile_instance(hostile.HostileList),
    "tuple": lambda: (1,),
    "set": lambda: {1},
    "complex number": lambda: 1j,
    "function": lambda: len,
    "class": lambda: dict,
    "object": object,
    "object that runs code": lambda: hostile.hostile_instance(hostile.HostileObject),
    "object whose class runs code": lambda: hostile.hostile_instance(hostile.HostileByMetaclass),
}

RECORDS: Final[Mapping[str, Callable[[], object]]] = {
    "empty dict": dict,
    "owner": lambda: OWNER,
    "owner of 1024-unit texts": lambda: OwnerId("a" * 1024, 2**53 - 1, "\U0001f600" * 512),
    "owner of pid 0": lambda: OwnerId("host-1", 0, "nonce-1"),
    "owner of pid true": lambda: OwnerId("host-1", True, "nonce-1"),
    "owner of empty host": lambda: OwnerId("", 41, "nonce-1"),
    "owner half built": lambda: half_built(OwnerId, host_id="host-1"),
    "owner subclass": lambda: PlainOwnerId("host-1", 41, "nonce-1"),
    "owner subclass that runs code": lambda: hostile.hostile_instance(hostile.HostileOwnerId),
    "owner dict": _owner_dict,
    "owner dict without nonce": lambda: _without(_owner_dict(), "nonce"),
    "owner dict with absent nonce": lambda: _owner_dict(nonce=ABSENT),
    "owner dict with null nonce": lambda: _owner_dict(nonce=None),
    "owner dict with extra key": lambda: _owner_dict(extra=1),
    "owner dict with one wrong key": lambda: {"hostId": "host-1", "pid": 41, "host_id": "host-1"},
    "owner dict with key 1": lambda: {**OWNER_DICT, 1: 1},
    "owner dict with str-subclass key": lambda: {**_without(_owner_dict(), "pid"), hostile.StrKey("pid"): 41},
    "owner dict of snake case": lambda: {"host_id": "host-1", "pid": 41, "nonce": "nonce-1"},
    "pending": lambda: PENDING,
    "running snapshot": lambda: RunSnapshot("running", OWNER, 5),
    "running snapshot with owner dict": lambda: half_built(
        RunSnapshot, status="running", owner=_owner_dict(), heartbeat_at_ms=5
    ),
    "completed snapshot": lambda: RunSnapshot("completed", None, None),
    "running without owner": lambda: RunSnapshot("running", None, 5),
    "running without heartbeat": lambda: RunSnapshot("running", OWNER, None),
    "pending with owner": lambda: RunSnapshot("pending", OWNER, None),
    "suspended with heartbeat": lambda: RunSnapshot("suspended", None, 5),
    "snapshot of unknown status": lambda: half_built(RunSnapshot, status="stolen", owner=None, heartbeat_at_ms=None),
    "snapshot of heartbeat true": lambda: RunSnapshot("running", OWNER, True),
    "snapshot of bad owner and unknown status": lambda: half_built(
        RunSnapshot, status="stolen", owner=1, heartbeat_at_ms=None
    ),
    "pending with bad owner": lambda: half_built(RunSnapshot, status="pending", owner=1, heartbeat_at_ms=None),
    "pending with owner of pid true": lambda: RunSnapshot("pending", OwnerId("host-1", True, "nonce-1"), None),
    "snapshot half built": lambda: half_built(RunSnapshot, status="pending", owner=None),
    "snapshot subclass that runs code": lambda: hostile.hostile_instance(hostile.HostileRunSnapshot),
    "run row": lambda: ROW,
    "run row half built": lambda: half_built(RunRow, status="running", owner=OWNER, heartbeat_at_ms=5),
    "run row without status": lambda: half_built(RunRow, owner=OWNER, heartbeat_at_ms=5),
    "run row subclass that runs code": lambda: hostile.hostile_instance(hostile.HostileRunRow),
    "snapshot dict": _snapshot_dict,
    "snapshot dict with extra keys": lambda: _snapshot_dict(runId=1, stateJson=object()),
    "snapshot dict with key 1": lambda: {**_snapshot_dict(), 1: 1},
    "snapshot dict with str-subclass key": lambda: {**_snapshot_dict(), hostile.StrKey("extra"): 1},
    "snapshot dict without heartbeatAtMs": lambda: _without(_snapshot_dict(), "heartbeatAtMs"),
    "snapshot dict with absent heartbeatAtMs": lambda: _snapshot_dict(heartbeatAtMs=ABSENT),
    "snapshot dict with absent owner": lambda: _snapshot_dict(owner=ABSENT),
    "same-host evidence": lambda: LivenessEvidence(OWNER, 7, "same-host-pid-dead"),
    "cross-host evidence": lambda: LivenessEvidence(OWNER, 7, "cross-host-unreachable-stale"),
    "evidence": lambda: LivenessEvidence(OWNER, 7, "lease-expired"),
    "evidence with owner dict": lambda: half_built(
        LivenessEvidence, expected_owner=_owner_dict(), checked_at_ms=7, kind="lease-expired"
    ),
    "evidence of unknown kind": lambda: half_built(
        LivenessEvidence, expected_owner=OWNER, checked_at_ms=7, kind="hunch"
    ),
    "evidence half built": lambda: half_built(LivenessEvidence, expected_owner=OWNER),
    "evidence bad in all three": lambda: half_built(LivenessEvidence, expected_owner=1, checked_at_ms=-1, kind=1),
    "evidence subclass that runs code": lambda: hostile.hostile_instance(hostile.HostileLivenessEvidence),
    "evidence dict": _evidence_dict,
    "evidence dict without kind": lambda: _without(_evidence_dict(), "kind"),
    "evidence dict without checkedAtMs": lambda: _without(_evidence_dict(), "checkedAtMs"),
    "evidence dict without expectedOwner": lambda: _without(_evidence_dict(), "expectedOwner"),
    "evidence dict with extra key": lambda: _evidence_dict(extra=1),
    "evidence dict with checkedAtMs 1.0": lambda: _evidence_dict(checkedAtMs=1.0),
    "guard": TransitionGuard,
    "guard absent": lambda: TransitionGuard("absent"),
    "guard present": lambda: TransitionGuard("present"),
    "guard null": lambda: half_built(TransitionGuard, cancel_requested=None),
    "guard half built": lambda: half_built(TransitionGuard),
    "guard subclass that runs code": lambda: hostile.hostile_instance(hostile.HostileTransitionGuard),
    "guard dict absent": lambda: {"cancelRequested": "absent"},
    "guard dict not supplied": lambda: {"cancelRequested": ABSENT},
    "guard dict null": lambda: {"cancelRequested": None},
    "guard dict true": lambda: {"cancelRequested": True},
    "guard dict with extra key": lambda: {"cancelRequested": "absent", "extra": 1},
    "guard dict with other key": lambda: {"cancel_requested": "absent"},
    "options": CreateOptions,
    "full options": lambda: CreateOptions("parent-1", "lineage-1", 3),
    "options with parent only": lambda: CreateOptions(parent_run_id="parent-1"),
    "options with companion names": lambda: CreateOptions("flows.companion/x", "flows.companion/x", 0),
    "options with lineage only": lambda: CreateOptions(lineage_id="lineage-1"),
    "options with ordinal only": lambda: CreateOptions(round_ordinal=3),
    "options half built": lambda: half_built(CreateOptions, parent_run_id="parent-1"),
    "options subclass that runs code": lambda: hostile.hostile_instance(hostile.HostileCreateOptions),
    "options dict": _options_dict,
    "options dict of nulls": lambda: _options_dict(parentRunId=None, lineageId=None, roundOrdinal=None),
    "options dict of absents": lambda: _options_dict(parentRunId=ABSENT, lineageId=ABSENT, roundOrdinal=ABSENT),
    "options dict with ordinal true": lambda: _options_dict(roundOrdinal=True),
    "options dict with empty parent": lambda: _options_dict(parentRunId=""),
    "options dict with extra key": lambda: _options_dict(extra=1),
}

VALUES: Final[Mapping[str, Callable[[], object]]] = {**SCALARS, **TEXTS, **DOCUMENTS, **LIVE, **RECORDS}
