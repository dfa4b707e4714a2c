"""The migration pass: which ids a database has, which it lacks, and one transaction for each.

Rules RS-140..RS-147, JN-001..JN-003.
"""

from collections.abc import Callable, Mapping
from typing import Final

import attrs

from tenure.database import journal_schema, run_store_schema
from tenure.database.engine import DatabaseError, OpenError, Statements, UsageError
from tenure.database.writer import Database

BLOCK_SIZE: Final = 1_000


@attrs.frozen
class Migration:
    """One step. ``apply`` is given the means to run statements and the identity for a new source."""

    id: int
    name: str
    apply: Callable[[Statements, str], None]


@attrs.frozen
class MigrationSet:
    """The migrations of one package: ids ``offset + 1`` onwards, in a block of a thousand that is its own."""

    namespace: str
    offset: int
    members: tuple[Migration, ...]


def _set(namespace: str, offset: int, **members: Callable[[Statements, str], None]) -> MigrationSet:
    return MigrationSet(
        namespace,
        offset,
        tuple(
            Migration(offset + number, f"{namespace}_{name}", apply)
            for number, (name, apply) in enumerate(members.items(), start=1)
        ),
    )


JOURNAL: Final = _set(
    "journal",
    0,
    initial=journal_schema.initial,
    checkpoints=journal_schema.checkpoints,
    startup_index=journal_schema.startup_index,
    dedup=journal_schema.dedup,
    run_event_type=journal_schema.run_event_type,
    consensus=journal_schema.consensus,
)
RUN_STORE: Final = _set(
    "run-store",
    1_000,
    initial=run_store_schema.initial,
    lineage=run_store_schema.lineage,
    execution_revisions=run_store_schema.execution_revisions,
    waiting_request=run_store_schema.waiting_request,
)
SETS: Final = (JOURNAL, RUN_STORE)
"""In the order they are installed: the run store arbitrates through the journal's lease table."""

_LEDGER: Final = """
    CREATE TABLE IF NOT EXISTS flows_migrations (
      migration_id INTEGER PRIMARY KEY NOT NULL,
      created_at TEXT NOT NULL,
      name TEXT NOT NULL
    )
"""
_RECORD: Final = (
    "INSERT INTO flows_migrations (migration_id, created_at, name) VALUES (?, datetime(? / 1000, 'unixepoch'), ?)"
)
_DATABLE_MS: Final = range(-210_866_760_000_000, 253_402_300_800_000)
"""What SQLite has a date for: from the first Julian day, in the year -4713, to the end of 9999."""


def migrate(database: Database, *, now_ms: int, identity: str) -> list[tuple[int, str]]:
    """Bring the database to the newest level and answer the ids and names applied by this call, in order.

    Raises ``OpenError`` where the database is newer than this program, or lacks a migration that newer ones rest on,
    and ``UsageError`` where SQLite has no date for ``now_ms``; nothing is written then. Each migration commits together
    with its ledger row, so an interrupted pass leaves whole migrations only, and the next one goes on from there
    (RS-142).
    """
    rows = database.rows
    if not pending(recorded(rows)) and _has_lease_trigger(rows):
        return []
    if now_ms not in _DATABLE_MS:
        raise UsageError("clock must answer milliseconds within the years -4713 to 9999 when a database is migrated")
    applied: list[tuple[int, str]] = []
    while (step := database.write(_apply_next, rows, now_ms, identity)) is not None:
        applied.append(step)
    database.write(rows, run_store_schema.create_lease_trigger)
    return applied


def recorded(rows: Statements) -> dict[int, str]:
    """The ledger: names by id."""
    if not rows("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'flows_migrations'"):
        return {}
    return dict(rows("SELECT migration_id, name FROM flows_migrations ORDER BY migration_id"))


def pending(ledger: Mapping[int, str], sets: tuple[MigrationSet, ...] = SETS) -> list[Migration]:
    """What a database with this ledger lacks, in ascending order. Ids outside the blocks of ``sets`` are others'.

    Raises ``OpenError`` for an id in our blocks that we do not know, an id under another name, a gap below the highest
    recorded id of a block, and a block of which nothing is recorded although something above it is (RS-147).
    """
    missing: list[Migration] = []
    for block in sets:
        known = {member.id: member for member in block.members}
        inside = {number for number in ledger if block.offset <= number < block.offset + BLOCK_SIZE}
        for number in sorted(inside):
            if number not in known:
                raise OpenError(
                    "schema",
                    f"the database is newer than this program: it has migration {number} ({ledger[number]}),"
                    f" and the newest known here is {block.members[-1].id} ({block.members[-1].name})",
                )
            if ledger[number] != known[number].name:
                raise OpenError(
                    "schema",
                    f"the database records migration {number} as {ledger[number]}, not {known[number].name}",
                )
        lacking = [member for member in block.members if member.id not in inside]
        if inside and any(member.id < max(inside) for member in lacking):
            raise OpenError(
                "schema", f"the database lacks migration {lacking[0].id} ({lacking[0].name}) and has later ones"
            )
        if lacking and not inside and max(ledger, default=0) > lacking[-1].id:
            raise OpenError(
                "schema", f"the database has no {block.namespace} migrations, and others that must come after them"
            )
        missing += lacking
    return sorted(missing, key=lambda member: member.id)


def _apply_next(rows: Statements, now_ms: int, identity: str) -> tuple[int, str] | None:
    """Apply the lowest missing migration, read off the ledger in the same transaction: others may be at it too."""
    rows(_LEDGER)
    missing = pending(recorded(rows))
    if not missing:
        return None
    step = missing[0]
    try:
        step.apply(rows, identity)
    except DatabaseError as error:
        if error.code in ("busy", "io"):
            raise
        # Something of that name is there already, or a row of it breaks a rule that the migration brings.
        text = f"migration {step.id} ({step.name}) cannot be applied: the database has something else in its place"
        raise OpenError(error.code, text) from error
    rows(_RECORD, (step.id, now_ms, step.name))
    return step.id, step.name


def _has_lease_trigger(rows: Statements) -> bool:
    return bool(
        rows("SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = ?", (run_store_schema.LEASE_TRIGGER,))
    )
