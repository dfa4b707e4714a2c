"""Attempts and the events about them, written side by side as an engine would."""

import random
from collections.abc import Iterator
from typing import Any, Final, Literal, TypeAlias

import attrs

from tenure_model.admission.engine_events.construction import build_attempt
from tenure_model.admission.engine_events.rows import describe_row
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempts import Attempt
from tenure_model.vocabulary.engine_events.attempts import AttemptPayload
from tenure_model.vocabulary.engine_events.errors import EventError
from tenure_model.vocabulary.engine_events.projections import AttemptKey
from tenure_model.vocabulary.engine_events.states import STATE_EVENT
from tenure_model.vocabulary.journal import Entry, JournalInput
from tests.engine_events.support import ROOT_LINEAGE, STATE, entry

COUNTS: Final = (2, 70, 5_000)

Operation: TypeAlias = Literal["put", "heartbeat", "finish", "patch"]

IN_PROGRESS: Final = ("running", "suspended")


@attrs.frozen
class Write:
    """One write of an attempt store, and the row after it; ``refused`` is the code where events cannot tell that row,
    which is then not written.
    """

    operation: Operation
    row: Attempt
    refused: str | None = None


def started(number: int, at_ms: int = 5) -> Attempt:
    """The row of an attempt that has just begun."""
    return Attempt("run-1", f"digest-{number // 3}", number % 3, "running", at_ms, {"host": number})


def first_write(number: int, chance: random.Random) -> Write:
    """A put, of an attempt that begins or is over already, with anything else (RS-821)."""
    row = attrs.evolve(started(number, chance.randrange(100)), **progress(chance))
    return Write("put", ended(row, chance) if chance.random() < 0.3 else row)


def next_write(row: Attempt, chance: random.Random) -> Write:
    """Any write that the store accepts of a row, attempts in progress being overwritten by a put (RS-822)."""
    if row.state not in IN_PROGRESS:
        return patched(row, chance)
    match chance.randrange(5):
        case 0:
            checkpoint = row.checkpoint if chance.random() < 0.5 else {"page": chance.randrange(9)}
            known = 0 if row.heartbeat_at_ms is ABSENT else row.heartbeat_at_ms
            return Write(
                "heartbeat", attrs.evolve(row, heartbeat_at_ms=known + chance.randrange(5), checkpoint=checkpoint)
            )
        case 1:
            return patched(row, chance)
        case 2:
            return Write("finish", ended(row, chance))
        case _:
            over: Any = chance.choice([{}, progress(chance), {"started_at_ms": chance.randrange(100)}])
            row = attrs.evolve(row, state=chance.choice(IN_PROGRESS), meta=chance.randrange(9), **over)
            return Write("put", ended(row, chance) if chance.random() < 0.4 else row)


def progress(chance: random.Random) -> dict[str, Any]:
    """How far an attempt is, which may go back, and be absent."""
    return {
        "heartbeat_at_ms": chance.choice([ABSENT, chance.randrange(100)]),
        "checkpoint": chance.choice([ABSENT, None, [1.5, "\u00e9"]]),
    }


def ended(row: Attempt, chance: random.Random) -> Attempt:
    """The row after its end, which may lie before its start."""
    if chance.random() < 0.5:
        outcome = {"value": chance.randrange(9)}
        return attrs.evolve(row, state="succeeded", finished_at_ms=chance.randrange(200), outcome=outcome)
    error = {"reason": chance.choice(["error", "defect", "interrupted", "encoding"]), "detail": chance.randrange(9)}
    return attrs.evolve(row, state="failed", finished_at_ms=chance.randrange(200), error=error)


def patched(row: Attempt, chance: random.Random) -> Write:
    """The row with another value where a patch may put one, in any state (RS-861)."""
    changes: list[dict[str, Any]] = [
        {"meta": chance.randrange(9)},
        {"checkpoint": [chance.randrange(9)]},
        {"outcome": chance.randrange(9)},
        {"error": {"reason": "defect", "detail": chance.randrange(9)}},
    ]
    return Write("patch", attrs.evolve(row, **chance.choice(changes)))


def interleaved(count: int, seed: int = 1) -> Iterator[Write]:
    """The writes of many attempts, each in its own order, mixed.

    After a refused one the row is as it was; an attempt whose first write is refused begins plainly.
    """
    chance = random.Random(seed)
    turns = [number for number in range(count) for _ in range(chance.randrange(1, 7))]
    chance.shuffle(turns)
    rows: dict[int, Attempt] = {}
    for number in turns:
        row = rows.get(number)
        write = first_write(number, chance) if row is None else next_write(row, chance)
        answer = describe_row(write.row, ROOT_LINEAGE, row)
        if isinstance(answer, EventError):
            yield attrs.evolve(write, refused=answer.code)
            if row is not None:
                continue
            write = Write("put", started(number))
        rows[number] = write.row
        yield write


def told(row: Attempt, before: Attempt | None = None) -> JournalInput:
    """What the engine emits after it has written the row."""
    payload = describe_row(row, ROOT_LINEAGE, before)
    assert isinstance(payload, AttemptPayload), payload
    given = build_attempt(payload, "engine", 0)
    assert isinstance(given, JournalInput), given
    return given


def history(count: int, seed: int = 1) -> tuple[dict[AttemptKey, Attempt], list[Entry]]:
    """The rows at the end, and the entries that told of them, with gaps in the numbers and other entries between."""
    rows: dict[AttemptKey, Attempt] = {}
    entries: list[Entry] = []
    for write in interleaved(count, seed):
        if write.refused is None:
            key = (write.row.step_key_digest, write.row.attempt)
            given = told(write.row, rows.get(key))
            rows[key] = write.row
            seq = 3 * len(entries)
            entries.append(entry(given.event_type, given.payload, seq=seq))
            if len(entries) % 10 == 0:
                between: Any = [entry("step.done", object(), seq=seq + 1), entry(STATE_EVENT, STATE, seq=seq + 2)]
                entries.extend(between)
    return rows, entries
