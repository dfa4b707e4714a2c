"""What admission and a store make of a value in each column of `specs/rules/admission.md` that is about attempts."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, Final

import attrs

import tenure
from tenure_model.admission.attempt_options import admit_attempt_options
from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.admission.attempts import (
    admit_attempt,
    admit_attempt_id,
    admit_attempt_key,
    admit_attempt_now,
    admit_attempt_owner,
    admit_checkpoint,
    admit_finish,
    admit_patch,
)
from tenure_model.admission.json_values import JsonComplaint
from tenure_model.vocabulary.absent import ABSENT
from tests.admission.attempt_values import FINISH, ID, OPTIONS, PUT
from tests.admission.page import Column, TextRefusal, in_turn
from tests.admission.values import OWNER, both_forms, snake_case

_DEFAULTS: Final = tenure.AttemptOptions()
_JSON_FIELDS: Final = ("checkpoint", "error", "outcome", "meta")


@attrs.frozen
class Record:
    """A record that an operation takes: how it is admitted, and by which call of the store."""

    operation: str
    carrier: type[Any]
    good: Mapping[str, object]
    admit: Callable[[object], object]
    call: Callable[[object], object]


class _UndoneError(Exception):
    """Ends a transaction of which nothing is to be kept."""


def owning_store(**options: Any) -> tenure.Store:
    """A store in memory where ``OWNER`` runs ``run-1``, with an attempt in progress at ``step-1``."""
    store = tenure.open(":memory:", clock=lambda: 1_000, **options)
    store.runs.create("run-1", "{}")
    assert store.runs.claim_and_own("run-1", tenure.PENDING, OWNER, 1_000) == tenure.Activated()
    assert store.attempts.put(tenure.Attempt("run-1", "step-1", 0, "running", 10, {}), OWNER) == tenure.Inserted()
    return store


def attempt_columns(store: tenure.Store) -> Mapping[str, Column]:
    """Every column about attempts, over a store of ``owning_store``, which stays as it is."""
    attempts: Any = store.attempts
    get = Record("id", tenure.AttemptId, ID, admit_attempt_id, attempts.get)
    patched = Record("id", tenure.AttemptId, ID, admit_attempt_id, lambda id: attempts.patch(id, {}, OWNER))
    put = Record(
        "put",
        tenure.Attempt,
        PUT,
        lambda record: admit_attempt(record, _DEFAULTS.max_checkpoint_bytes),
        lambda record: attempts.put(record, OWNER),
    )
    finish = Record(
        "finish",
        tenure.FinishAttempt,
        FINISH,
        lambda record: admit_finish(record, _DEFAULTS.in_progress_states),
        lambda record: attempts.finish(record, OWNER),
    )
    patch = Record(
        "patch",
        tenure.AttemptPatch,
        {},
        lambda record: admit_patch(record, _DEFAULTS.max_checkpoint_bytes),
        lambda record: attempts.patch(ID, record, OWNER),
    )
    options = Record(
        "options",
        tenure.AttemptOptions,
        OPTIONS,
        admit_attempt_options,
        # No file can be opened at this path, which is found after the policy has been judged (RS-804).
        lambda record: tenure.open("", attempts=record),
    )
    undone = partial(_told, store)
    whole, field = partial(_whole, undone), partial(_field, undone)

    def heartbeat(**changes: object) -> object:
        good = {"run_id": "run-1", "step_key_digest": "step-1", "attempt": 0, "owner": OWNER, "now_ms": 1_000}
        return attempts.heartbeat(**{**good, **changes})

    def owner(value: object) -> Iterator[object]:
        yield _judged("", admit_attempt_owner(value), value)
        for call in (
            lambda: attempts.put(PUT, value),
            lambda: attempts.finish(FINISH, value),
            lambda: attempts.patch(ID, {}, value),
            lambda: heartbeat(owner=value),
        ):
            yield undone("", "", call) or "accept"

    def key(names: tuple[str, ...], value: object) -> Iterator[object]:
        for name in names:
            admitted = admit_attempt_key(**{"run_id": "run-1", "step_key_digest": "step-1", "attempt": 0, name: value})
            judged = admitted if isinstance(admitted, AttemptRefusal) else getattr(admitted, name)
            yield _judged("id", judged, value)
            yield undone("id", "", lambda name=name: heartbeat(**{name: value})) or "accept"

    def now(value: object) -> Iterator[object]:
        yield _judged("", admit_attempt_now(value), value)
        yield undone("", "", lambda: heartbeat(now_ms=value)) or "accept"

    def checkpoint(value: object) -> Iterator[object]:
        yield from field(put, "checkpoint", value)
        yield from field(patch, "checkpoint", value)
        judged = _judged("", admit_checkpoint(value, _DEFAULTS.max_checkpoint_bytes), value, "checkpoint")
        yield judged
        yield undone("", "checkpoint", lambda: heartbeat(checkpoint=value)) or judged

    return {
        "attempt owner": owner,
        "attempt id": in_turn(partial(whole, get), partial(whole, patched)),
        "put": partial(whole, put),
        "finish": partial(whole, finish),
        "patch": partial(whole, patch),
        "attempt options": partial(whole, options),
        "attempt text": in_turn(
            *(partial(field, record, name) for record in (get, patched, put, finish) for name in list(ID)[:2]),
            partial(field, put, "state"),
        ),
        "state of a finish": partial(field, finish, "state"),
        "attempt number": in_turn(
            *(partial(field, record, "attempt") for record in (get, patched, put, finish)),
            partial(field, put, "startedAtMs"),
            partial(field, finish, "finishedAtMs"),
        ),
        "optional time": in_turn(partial(field, put, "finishedAtMs"), partial(field, put, "heartbeatAtMs")),
        "heartbeat text": partial(key, ("run_id", "step_key_digest")),
        "heartbeat number": partial(key, ("attempt",)),
        "heartbeat time": now,
        "checkpoint": checkpoint,
        "error, outcome, meta": in_turn(
            partial(field, put, "error"), partial(field, finish, "meta"), partial(field, patch, "outcome")
        ),
        "meta of a put": partial(field, put, "meta"),
        "states in progress": lambda value: islice(field(options, "inProgressStates", value), 2),
        "states in the class": lambda value: islice(field(options, "inProgressStates", value), 2, None),
        "largest checkpoint": partial(field, options, "maxCheckpointBytes"),
        "put mode": partial(field, options, "putMode"),
    }


def _told(store: tenure.Store, operation: str, field: str, call: Callable[[], object]) -> object:
    """The refusal that a call of the store raises, or ``None``; whatever it wrote is undone."""
    try:
        with store.transaction():
            call()
            raise _UndoneError
    except (_UndoneError, tenure.OpenError):
        return None
    except tenure.AttemptStoreError as error:
        return _refusal(operation, field, error.text) if error.code == "invalid_attempt" else error


def _refusal(operation: str, field: str, text: str) -> object:
    if field in _JSON_FIELDS and text.startswith(f"{field} "):
        return JsonComplaint(text.removeprefix(f"{field} "))
    return TextRefusal(operation, text)


def _judged(operation: str, outcome: object, value: object, field: str = "") -> object:
    """What admission says: a refusal, or whether it answered the value itself."""
    if isinstance(outcome, AttemptRefusal):
        return _refusal(operation, field, outcome.text)
    if value is ABSENT or (value is None and operation == "options"):
        return "nothing"
    if isinstance(outcome, list | dict) and outcome is value:
        return "accepted without a copy"
    if type(outcome) is tuple:
        return "accept" if list(outcome) == list(value) else "accepted as something else"
    if attrs.has(type(outcome)):
        return "accept"
    return "accept" if repr(outcome) == repr(value) else "accepted as something else"


def _whole(told: Callable[..., object], record: Record, value: object) -> Iterator[object]:
    """A value in place of a record."""
    outcome = record.admit(value)
    judged = _judged(record.operation, outcome, value)
    yield judged
    yield told(record.operation, "", lambda: record.call(value)) or judged


def _field(told: Callable[..., object], record: Record, wire: str, value: object) -> Iterator[object]:
    """A value as a field of a record that is good otherwise: two answers for a ``dict``, then two for the class."""
    for form in both_forms(record.carrier, {**record.good, wire: value}):
        outcome = record.admit(form)
        member = outcome if isinstance(outcome, AttemptRefusal) else getattr(outcome, snake_case(wire))
        judged = _judged(record.operation, member, value, wire)
        yield judged
        yield told(record.operation, wire, lambda form=form: record.call(form)) or judged
