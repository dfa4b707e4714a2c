"""Small tables of attempts for the tests of this folder to start from, beside the worlds of ``tests.semantics.worlds``.

All speak of attempt 0 of step ``s`` of run ``r``.
"""

from typing import Final

import attrs

from tenure_model.semantics.attempts.commands import apply_attempt
from tenure_model.semantics.attempts.steps import AttemptOutcome, AttemptStep
from tenure_model.semantics.attempts.table import NO_ATTEMPTS, AttemptRow, AttemptTable, key_of
from tenure_model.semantics.commands import Command
from tenure_model.semantics.world import World
from tenure_model.vocabulary.attempts import AttemptOptions
from tests.semantics.worlds import T

ID: Final = {"runId": "r", "stepKeyDigest": "s", "attempt": 0}
KEY: Final = ("r", "s", 0)

ATTEMPT: Final = {**ID, "state": "running", "startedAtMs": 5, "meta": {"a": 1}}
"""The attempt whose row is ``BARE``."""

FINISH: Final = {**ID, "state": "done", "finishedAtMs": 9}

BARE: Final = AttemptRow("r", "s", 0, "running", 5, None, None, None, None, None, '{"a":1}')
"""In progress, with nothing that is optional."""

FULL: Final = AttemptRow("r", "s", 0, "running", 5, 6, 7, '"c"', '"e"', '"o"', '{"a":1}')
"""In progress, with everything that is optional."""

DONE: Final = attrs.evolve(FULL, state="done")
"""Not in progress, with everything that is optional."""

INSERT: Final = AttemptOptions()
UPSERT: Final = AttemptOptions(put_mode="upsert")


def holding(*rows: AttemptRow) -> AttemptTable:
    """The table with these rows."""
    return AttemptTable({key_of(row): row for row in rows})


def call(
    world: World,
    attempts: AttemptTable,
    operation: str,
    options: AttemptOptions = INSERT,
    /,
    **arguments: object,
) -> AttemptStep:
    """One command; arguments go by wire name."""
    return apply_attempt(world, attempts, options, Command(operation, arguments, T))


def row_after(
    world: World,
    row: AttemptRow | None,
    operation: str,
    expected: AttemptOutcome,
    options: AttemptOptions = INSERT,
    /,
    **arguments: object,
) -> AttemptRow | None:
    """What has become of the one row, after a command that must have this outcome."""
    step = call(world, NO_ATTEMPTS if row is None else holding(row), operation, options, **arguments)

    assert step.outcome == expected
    return step.attempts.rows.get(KEY)
