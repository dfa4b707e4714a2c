"""Hazards of runs that no scope exhibits, each by a fixed sequence that the model is given."""

from collections.abc import Mapping
from typing import Final

from tenure_model.explore.canonical import NOW_MS
from tenure_model.explore.hazards.hazard import Evidence
from tenure_model.explore.hazards.places import JUST_STALE_MS, A, B
from tenure_model.explore.journal.evidence import not_searched
from tenure_model.explore.telling import answered
from tenure_model.semantics import transactions
from tenure_model.semantics.attempts.commands import apply_attempt
from tenure_model.semantics.attempts.table import NO_ATTEMPTS, AttemptTable
from tenure_model.semantics.commands import Command, apply
from tenure_model.semantics.profiles import ORIGINAL
from tenure_model.semantics.transactions import Database
from tenure_model.semantics.world import World, empty_world
from tenure_model.vocabulary.attempts import AttemptOptions
from tenure_model.vocabulary.runs import PENDING, RunSnapshot

_ID: Final = {"runId": "r", "stepKeyDigest": "d", "attempt": 0}
_ATTEMPT: Final = {**_ID, "state": "running", "startedAtMs": NOW_MS, "meta": None}


def repeated_put() -> Evidence:
    """H-22: one ``put`` before and after a heartbeat, in both modes, and a patch of a finished attempt."""
    put = Command("attempt.put", {"attempt": _ATTEMPT, "owner": A}, NOW_MS)
    beat = Command("attempt.heartbeat", {**_ID, "owner": A, "nowMs": NOW_MS + 1, "checkpoint": 7}, NOW_MS)
    finish = {**_ID, "state": "done", "finishedAtMs": NOW_MS + 2, "outcome": "first"}
    lines = []
    for mode, commands in (
        ("insert", (put, put, beat, put)),
        ("upsert", (put, beat, put)),
        (
            "insert",
            (
                put,
                Command("attempt.finish", {"attempt": finish, "owner": A}, NOW_MS),
                Command("attempt.patch", {"id": _ID, "patch": {"outcome": "second"}, "owner": A}, NOW_MS),
            ),
        ),
    ):
        lines.append(f"mode {mode}:")
        options, attempts = AttemptOptions(put_mode="upsert" if mode == "upsert" else "insert"), NO_ATTEMPTS
        for number, command in enumerate(commands, 1):
            step = apply_attempt(_running(), attempts, options, command)
            attempts = step.attempts
            lines.append(f"{number:>2}. {command.operation} -> {type(step.outcome).__name__}{_left(attempts)}")
    lines += not_searched(
        "the states of a scope of runs have no attempts in them, as no operation on a run asks for one."
    )
    return Evidence("demonstration", tuple(lines))


def answered_beside_a_writer() -> Evidence:
    """H-26: the question is asked while the owner's beat waits for its commit, and again after it."""
    expected = RunSnapshot("running", A, NOW_MS)
    late_ms = NOW_MS + JUST_STALE_MS
    ask = Command("run.claimAndOwn", {"runId": "r", "expected": expected, "owner": B, "nowMs": late_ms}, late_ms)
    beat = Command("run.heartbeat", {"runId": "r", "owner": A, "nowMs": late_ms}, late_ms)
    database, _ = transactions.begin(Database(_running()), "a1")
    database, beaten = transactions.execute(database, "a1", beat)
    database, beside = transactions.execute(database, "b1", ask)
    database, _ = transactions.commit(database, "a1")
    _, after = transactions.execute(database, "b1", ask)
    return Evidence(
        "demonstration",
        (
            "    at first: running under a1, stale",
            f" 1. a1, in a transaction: heartbeat -> {answered(beaten.outcome)}",
            f" 2. b1: claimAndOwn without evidence -> {answered(beside.outcome)}",
            " 3. a1: commit",
            f" 4. b1: claimAndOwn without evidence -> {answered(after.outcome)}",
            *not_searched("in a scope of runs each operation is a whole, and nothing comes between its parts."),
        ),
    )


def odd_values() -> Evidence:
    """H-30: what Python makes of such values, and what the model does."""
    lines = []
    for value in (True, 1.0, float("nan"), 2**53):
        command = Command("run.heartbeat", {"runId": "r", "owner": A, "nowMs": value}, NOW_MS)
        answer = answered(apply(_running(), command).outcome)
        lines.append(f"{value!r}: an int to Python: {isinstance(value, int)}; heartbeat(nowMs={value!r}) -> {answer}")
    create = Command("run.create", {"runId": "s", "stateJson": '{"x":NaN}'}, NOW_MS)
    lines.append(
        f'json.loads reads NaN; create(stateJson={{"x":NaN}}) -> {answered(apply(_running(), create).outcome)}'
    )
    lines += not_searched("what a language takes for a number is one call, whatever the state.")
    return Evidence("demonstration", tuple(lines))


def _running() -> World:
    """A run that a1 owns since the start."""
    world = empty_world(ORIGINAL)
    for operation, arguments in _OWN.items():
        world = apply(world, Command(operation, arguments, NOW_MS)).world
    return world


_OWN: Final[Mapping[str, Mapping[str, object]]] = {
    "run.create": {"runId": "r", "stateJson": "{}"},
    "run.claimAndOwn": {"runId": "r", "expected": PENDING, "owner": A, "nowMs": NOW_MS},
}


def _left(attempts: AttemptTable) -> str:
    (row,) = attempts.rows.values()
    checkpoint, outcome = row.checkpoint_json, row.outcome_json
    return f"; {row.state}, checkpoint {checkpoint or 'none'}, outcome {outcome or 'none'}"
