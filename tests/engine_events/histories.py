"""Attempts and the events about them, written side by side as an engine would."""

import random
from collections.abc import Iterator
from typing import Any, Final

import attrs

from tenure_model.admission.engine_events.construction import build_attempt
from tenure_model.admission.engine_events.rows import describe_row
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempts import Attempt
from tenure_model.vocabulary.engine_events.attempts import AttemptPayload
from tenure_model.vocabulary.engine_events.projections import AttemptKey
from tenure_model.vocabulary.engine_events.states import STATE_EVENT
from tenure_model.vocabulary.journal import Entry, JournalInput
from tests.engine_events.support import ROOT_LINEAGE, STATE, entry

COUNTS: Final = (2, 70, 5_000)


def started(number: int, at_ms: int = 5) -> Attempt:
    """The row of an attempt that has just begun."""
    return Attempt("run-1", f"digest-{number // 3}", number % 3, "running", at_ms, {"host": number})


def writes(number: int, chance: random.Random) -> Iterator[Attempt]:
    """The row of an attempt after each write of its life, which may not be over yet."""
    row = started(number, chance.randrange(100))
    yield row
    for _ in range(chance.randrange(3)):
        beaten = max(row.heartbeat_at_ms, 0) if row.heartbeat_at_ms is not ABSENT else 0
        row = attrs.evolve(row, heartbeat_at_ms=beaten + chance.randrange(5))
        if chance.random() < 0.5:
            row = attrs.evolve(row, checkpoint=chance.choice([None, {"page": number}, [1.5, "\u00e9"]]))
        row = attrs.evolve(row, state=chance.choice(["running", "suspended"]))
        yield row
    ending = chance.random()
    if ending < 0.4:
        yield attrs.evolve(row, state="succeeded", finished_at_ms=chance.randrange(200), outcome={"value": number})
    elif ending < 0.8:
        error = {"reason": chance.choice(["error", "defect", "interrupted", "encoding"]), "detail": {"code": number}}
        yield attrs.evolve(row, state="failed", finished_at_ms=chance.randrange(200), error=error)


def told(row: Attempt) -> JournalInput:
    """What the engine emits after it has written the row."""
    payload = describe_row(row, ROOT_LINEAGE)
    assert isinstance(payload, AttemptPayload), payload
    given = build_attempt(payload, "engine", 0)
    assert isinstance(given, JournalInput), given
    return given


def interleaved(count: int, seed: int = 1) -> Iterator[Attempt]:
    """The writes of many attempts, each in its own order, mixed."""
    chance = random.Random(seed)
    lives = [list(writes(number, chance)) for number in range(count)]
    turns = [number for number, life in enumerate(lives) for _ in life]
    chance.shuffle(turns)
    positions = dict.fromkeys(range(count), 0)
    for number in turns:
        yield lives[number][positions[number]]
        positions[number] += 1


def history(count: int, seed: int = 1) -> tuple[dict[AttemptKey, Attempt], list[Entry]]:
    """The rows at the end, and the entries that told of them, with gaps in the numbers and other entries between."""
    rows: dict[AttemptKey, Attempt] = {}
    entries: list[Entry] = []
    for row in interleaved(count, seed):
        rows[(row.step_key_digest, row.attempt)] = row
        given = told(row)
        seq = 3 * len(entries)
        entries.append(entry(given.event_type, given.payload, seq=seq))
        if len(entries) % 10 == 0:
            between: Any = [entry("step.done", object(), seq=seq + 1), entry(STATE_EVENT, STATE, seq=seq + 2)]
            entries.extend(between)
    return rows, entries
