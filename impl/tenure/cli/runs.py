"""``tenure runs``: who owns which run, and how old the leases are."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click

from tenure.cli.text import complain, printable

_TEXTS: Final = ("run_id", "status", "owner_host_id", "owner_nonce", "claim_host_id", "claim_nonce", "lineage_id")
_NUMBERS: Final = ("owner_pid", "claim_pid", "claimed_at_ms", "cancel_requested_at_ms", "round_ordinal")

# Texts come as the bytes they are: one that is no UTF-8 must not hide all other runs.
_LIST: Final = f"""
    SELECT r.rowid, {", ".join(f"CAST(r.{name} AS BLOB)" for name in _TEXTS)},
      {", ".join(f"r.{name}" for name in _NUMBERS)}, l.heartbeat_at_ms
    FROM flows_runs r LEFT JOIN flows_consensus_leases l ON l.run_id = r.run_id
    WHERE r.rowid > ? ORDER BY r.rowid LIMIT 500
"""
_HAS_RUNS: Final = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'flows_consensus_leases'"
_HAS_LINEAGE: Final = "SELECT 1 FROM pragma_table_info('flows_runs') WHERE name = 'lineage_id'"


@click.command("runs")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document a line, one for each run.")
@click.option("--now", "now_ms", type=click.IntRange(min=0), default=None, help="Judge ages at this time in ms.")
def runs_command(file: Path, as_json: bool, now_ms: int | None) -> None:
    """List the runs in FILE with their owners and the age of each lease, in the order they were created.

    Reads only: the file is neither created nor migrated nor locked against writers. A lease older than 30 s is marked
    stale: a peer may take the run. Exit code 2: FILE is not a store.
    """
    from tenure.database.engine import DatabaseError
    from tenure.store import wall_clock

    now_ms = wall_clock() if now_ms is None else now_ms
    try:
        records = _records(file, now_ms)
        if as_json:
            for record in records:
                click.echo(json.dumps(record))
        else:
            _print_table(records)
    except DatabaseError as error:
        complain("runs", error, as_json)


def _records(file: Path, now_ms: int) -> Iterator[dict[str, Any]]:
    from tenure.database.engine import OpenError
    from tenure.database.sqlite import SqliteEngine

    connection = SqliteEngine(str(file)).inspect()
    try:
        if not connection.rows(_HAS_RUNS) or not connection.rows(_HAS_LINEAGE):
            raise OpenError(
                "schema", f"{file} is not a store, or one of an older level: open it with tenure.open first"
            )
        last = -(2**63)
        # Page by page, so that a listing of a million runs neither fills memory nor keeps the log from being reset.
        while page := connection.rows(_LIST, (last,)):
            yield from (_record(row, now_ms) for row in page)
            last = page[-1][0]
    finally:
        connection.close()


def _identity(host_id: object, pid: object, nonce: object) -> dict[str, object] | None:
    return None if host_id is None else {"hostId": host_id, "pid": pid, "nonce": nonce}


def _age(stamp: object, now_ms: int) -> int | None:
    return now_ms - stamp if isinstance(stamp, int) else None


def _record(row: tuple[Any, ...], now_ms: int) -> dict[str, Any]:
    from tenure_model.vocabulary.constants import HEARTBEAT_STALE_AFTER_MS

    texts = [None if value is None else value.decode("utf-8", "replace") for value in row[1 : 1 + len(_TEXTS)]]
    run = {**dict(zip(_TEXTS, texts, strict=True)), **dict(zip(_NUMBERS, row[1 + len(_TEXTS) : -1], strict=True))}
    age_ms = _age(row[-1], now_ms)
    return {
        "runId": run["run_id"],
        "status": run["status"],
        "owner": _identity(run["owner_host_id"], run["owner_pid"], run["owner_nonce"]),
        "leaseAgeMs": age_ms,
        "stale": None if age_ms is None else age_ms > HEARTBEAT_STALE_AFTER_MS,
        "claim": _identity(run["claim_host_id"], run["claim_pid"], run["claim_nonce"]),
        "claimAgeMs": _age(run["claimed_at_ms"], now_ms),
        "cancelRequestedAtMs": run["cancel_requested_at_ms"],
        "lineageId": run["lineage_id"],
        "roundOrdinal": run["round_ordinal"],
    }


def _print_table(records: Iterator[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("run", "status", "owner", "lease age", "claim", "claim age", "cancel"):
        table.add_column(title, overflow="fold", justify="right" if title.endswith("age") else "left")
    for record in records:
        stale = " stale" if record["stale"] else ""
        table.add_row(
            *map(
                _plain,
                (
                    record["runId"],
                    record["status"],
                    _who(record["owner"]),
                    _seconds(record["leaseAgeMs"]) + stale,
                    _who(record["claim"]),
                    _seconds(record["claimAgeMs"]),
                    "requested" if record["cancelRequestedAtMs"] is not None else "",
                ),
            )
        )
    Console(width=None if sys.stdout.isatty() else 160).print(table)
    if not table.row_count:
        click.echo("no runs")


def _plain(text: object) -> str:
    """What stands in the database, without being taken for markup either."""
    from rich.markup import escape

    return escape(printable(text))


def _who(identity: dict[str, object] | None) -> str:
    return "" if identity is None else f"{identity['hostId']}:{identity['pid']}:{identity['nonce']}"


def _seconds(age_ms: int | None) -> str:
    return "" if age_ms is None else f"{age_ms / 1_000:.1f} s"
