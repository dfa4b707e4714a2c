"""The values that `specs/rules/admission.md` names for the sake of attempts, built afresh for every use."""

from collections.abc import Callable, Mapping
from typing import Final

from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempts import Attempt, AttemptId, AttemptOptions, AttemptPatch, FinishAttempt
from tests.admission import hostile
from tests.admission.values import half_built

ID: Final[Mapping[str, object]] = {"runId": "run-1", "stepKeyDigest": "step-1", "attempt": 0}
PUT: Final[Mapping[str, object]] = {**ID, "state": "running", "startedAtMs": 10, "meta": {}}
FINISH: Final[Mapping[str, object]] = {**ID, "state": "done", "finishedAtMs": 30}
OPTIONS: Final[Mapping[str, object]] = {"inProgressStates": ["running"], "maxCheckpointBytes": 1, "putMode": "upsert"}

_BARE: Final = {"run_id": "run-1", "step_key_digest": "step-1", "attempt": 0, "state": "running", "started_at_ms": 10}


class PlainAttempt(Attempt):
    """A subclass of ``Attempt`` that changes nothing."""


def _states(first_length: int) -> list[str]:
    """64 states of 1021 units, the first perhaps shorter: together 64 KiB of compact JSON and a byte."""
    return ["a" * first_length, *(f"{number:02}".ljust(1021, "a") for number in range(63))]


ATTEMPT_VALUES: Final[Mapping[str, Callable[[], object]]] = {
    "16777216": lambda: 16_777_216,
    "16777217": lambda: 16_777_217,
    "text insert": lambda: "insert",
    "text upsert": lambda: "upsert",
    "1048574 ASCII units": lambda: "a" * 1_048_574,
    "1048575 ASCII units": lambda: "a" * 1_048_575,
    "array of running": lambda: ["running"],
    "array of running twice": lambda: ["running", "running"],
    "array of running and 1": lambda: ["running", 1],
    "array of empty text": lambda: [""],
    "array of arrays": lambda: [["running"]],
    "tuple of running": lambda: ("running",),
    "256 texts": lambda: [str(number) for number in range(256)],
    "257 texts": lambda: [str(number) for number in range(257)],
    "64 KiB of texts": lambda: _states(1020),
    "64 KiB of texts and a byte": lambda: _states(1021),
    "attempt id": lambda: AttemptId("run-1", "step-1", 0),
    "attempt id half built": lambda: half_built(AttemptId, run_id="run-1", attempt=0),
    "attempt id dict": lambda: {**ID},
    "attempt id dict with extra key": lambda: {**ID, "extra": 1},
    "attempt id dict without attempt": lambda: {"runId": "run-1", "stepKeyDigest": "step-1"},
    "attempt id dict with attempt true": lambda: {**ID, "attempt": True},
    "attempt id dict with key 1": lambda: {**ID, 1: 1},
    "attempt": lambda: Attempt("run-1", "step-1", 0, "running", 10, {}),
    "full attempt": lambda: Attempt("run-1", "step-1", 0, "done", 10, None, 5, 20, [1], None, {}),
    "attempt half built": lambda: half_built(Attempt, **_BARE, meta=None),
    "attempt without meta": lambda: half_built(Attempt, **_BARE),
    "attempt subclass": lambda: PlainAttempt("run-1", "step-1", 0, "running", 10, {}),
    "attempt subclass that runs code": lambda: hostile.hostile_instance(hostile.HostileAttempt),
    "attempt dict": lambda: {**PUT},
    "attempt dict of absents": lambda: {
        **PUT,
        **dict.fromkeys(("finishedAtMs", "heartbeatAtMs", "checkpoint", "error", "outcome"), ABSENT),
    },
    "attempt dict with extra key": lambda: {**PUT, "extra": 1},
    "attempt dict with empty state": lambda: {**PUT, "state": ""},
    "finish": lambda: FinishAttempt("run-1", "step-1", 0, "done", 30),
    "finish half built": lambda: half_built(
        FinishAttempt, run_id="run-1", step_key_digest="step-1", attempt=0, state="done", finished_at_ms=30
    ),
    "finish dict": lambda: {**FINISH},
    "finish dict with checkpoint": lambda: {**FINISH, "checkpoint": None},
    "finish dict with state running": lambda: {**FINISH, "state": "running"},
    "patch": AttemptPatch,
    "patch half built": lambda: half_built(AttemptPatch, error=None),
    "patch dict of nulls": lambda: dict.fromkeys(("checkpoint", "error", "outcome", "meta")),
    "patch dict with state": lambda: {"error": None, "state": "done"},
    "attempt options": AttemptOptions,
    "attempt options half built": lambda: half_built(AttemptOptions, put_mode="upsert"),
    "attempt options subclass that runs code": lambda: hostile.hostile_instance(hostile.HostileAttemptOptions),
    "attempt options dict": lambda: {**OPTIONS},
    "attempt options dict of nulls": lambda: dict.fromkeys(OPTIONS),
    "attempt options dict with extra key": lambda: {**OPTIONS, "extra": 1},
}
