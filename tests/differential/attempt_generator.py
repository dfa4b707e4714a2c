"""Attempt calls: few keys, so that they meet; values that differ by little, so that equality is asked for."""

from collections.abc import Callable, Mapping
from typing import Final

from tenure_model.conform.systems import ATTEMPT_COLUMNS, SystemState
from tenure_model.vocabulary.absent import ABSENT
from tests.differential.choice import Chooser, chance, pick

DIGESTS: Final = ("s", "t")
STATES: Final = ("running", "running", "done", "failed")
VALUES: Final = (None, 1, 1.0, True, {"a": 1, "b": [2]}, {"b": [2], "a": 1.0}, "x", [], -0.0)
BAD: Final = (None, "", -1, 1.5, "a\0b", "\ud800", {}, [], 2**53)
OPTIONAL: Final = ("checkpoint", "error", "outcome")

OPERATIONS: Final = (
    "attempt.put",
    "attempt.put",
    "attempt.heartbeat",
    "attempt.finish",
    "attempt.patch",
    "attempt.get",
)


class AttemptGenerator:
    """Draws the arguments of one attempt call; ``owner`` draws an identity for a run, mostly its owner."""

    def __init__(self, chooser: Chooser, owner: Callable[[str], object]) -> None:
        self._chooser = chooser
        self._owner = owner

    def redirect(self, chooser: Chooser) -> None:
        """Take the next decisions from another source."""
        self._chooser = chooser

    def arguments(self, operation: str, state: SystemState, run_id: str, clock_ms: int) -> Mapping[str, object]:
        """The arguments by wire names; bad input in about one of fifteen."""
        chooser = self._chooser
        identity = self._identity(state, run_id)
        if operation == "attempt.get":
            return {"id": self._spoiled(identity)}
        owner = self._owner(str(identity["runId"]))
        if operation == "attempt.patch":
            return {"id": self._spoiled(identity), "patch": self._values(*OPTIONAL, "meta"), "owner": owner}
        if operation == "attempt.heartbeat":
            beat = {**identity, "nowMs": pick(chooser, (clock_ms, 0, 5, 40)), "owner": owner}
            return self._spoiled({**beat, **self._values("checkpoint")}, extra=False)
        if operation == "attempt.finish":
            end = {"state": pick(chooser, STATES), "finishedAtMs": chooser.below(50)}
            return {
                "attempt": self._spoiled({**identity, **end, **self._values("error", "outcome", "meta")}),
                "owner": owner,
            }
        began = {"state": pick(chooser, STATES), "startedAtMs": chooser.below(3), "meta": pick(chooser, VALUES)}
        times = {name: chooser.below(9) for name in ("finishedAtMs", "heartbeatAtMs") if chance(chooser, 15)}
        stored = self._stored(state, identity) if chance(chooser, 35) else None
        attempt = stored or {**identity, **began, **times, **self._values(*OPTIONAL)}
        return {"attempt": self._spoiled(attempt), "owner": owner}

    def _identity(self, state: SystemState, run_id: str) -> dict[str, object]:
        chooser = self._chooser
        known = tuple(state.attempts)
        if known and not chance(chooser, 40):
            run_id, digest, number = pick(chooser, known)
        else:
            digest, number = pick(chooser, DIGESTS), chooser.below(2)
        return {"runId": run_id, "stepKeyDigest": digest, "attempt": number}

    def _stored(self, state: SystemState, identity: Mapping[str, object]) -> dict[str, object] | None:
        """The attempt as it was put, if it is there and its values are null or plain: a replay of the same put."""
        key = (str(identity["runId"]), str(identity["stepKeyDigest"]), int(str(identity["attempt"])))
        row = state.attempts.get(key)
        if row is None:
            return None
        columns = dict(zip(ATTEMPT_COLUMNS, row, strict=True))
        plain: dict[str, object] = {"null": None, "1": 1, "true": True, '"x"': "x", "[]": [], "0": -0.0}
        attempt = {**identity, "state": columns["state"], "startedAtMs": columns["started_at_ms"]}
        for name, column in (("finishedAtMs", "finished_at_ms"), ("heartbeatAtMs", "heartbeat_at_ms")):
            if columns[column] is not None:
                attempt[name] = columns[column]
        for name in (*OPTIONAL, "meta"):
            text = columns[f"{name}_json"]
            if text is not None:
                attempt[name] = plain.get(str(text), {"b": [2], "a": 1})
        return attempt

    def _values(self, *names: str) -> dict[str, object]:
        chooser = self._chooser
        return {name: pick(chooser, VALUES) for name in names if chance(chooser, 40)}

    def _spoiled(self, record: dict[str, object], *, extra: bool = True) -> dict[str, object]:
        chooser = self._chooser
        if not chance(chooser, 6):
            return record
        name = pick(chooser, (*record, "extra") if extra else tuple(record))
        value = pick(chooser, (ABSENT, *BAD))
        spoiled = {**record, name: value}
        if value is ABSENT:
            del spoiled[name]
        return spoiled
