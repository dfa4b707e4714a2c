"""``tenure runs``: who owns which run, and how old the leases are."""

import json
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final
from unicodedata import combining, east_asian_width

import click

from tenure.cli.text import complain, printable

_TEXTS: Final = ("run_id", "status", "owner_host_id", "owner_nonce", "claim_host_id", "claim_nonce", "lineage_id")
_NUMBERS: Final = ("owner_pid", "claim_pid", "claimed_at_ms", "cancel_requested_at_ms", "round_ordinal")
_TITLES: Final = ("run", "status", "owner", "lease age", "claim", "claim age", "cancel")
_PAGE: Final = 500
_WIDEST: Final = 40

# Texts come as the bytes they are: one that is no UTF-8 must not hide all other runs.
_LIST: Final = f"""
    SELECT r.rowid, {", ".join(f"CAST(r.{name} AS BLOB)" for name in _TEXTS)},
      {", ".join(f"r.{name}" for name in _NUMBERS)}, l.heartbeat_at_ms
    FROM flows_runs r LEFT JOIN flows_consensus_leases l ON l.run_id = r.run_id
    WHERE r.rowid > ? ORDER BY r.rowid LIMIT {_PAGE}
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
        with closing(_records(file, now_ms)) as records:
            if as_json:
                for record in records:
                    click.echo(json.dumps(record))
            else:
                _print_table(records)
    except DatabaseError as error:
        complain("runs", error, as_json)


def _records(file: Path, now_ms: int) -> Generator[dict[str, Any], None, None]:
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
    lines = map(_cells, records)
    first = list(islice(lines, _PAGE))
    if not first:
        click.echo("no runs")
        return
    # The first page says how wide the columns are, so that no more than a page is ever held; what is wider stands out.
    widths = [min(max(map(_width, column)), _WIDEST) for column in zip(_TITLES, *first, strict=True)]
    click.echo(click.style(_line(_TITLES, widths), bold=True))
    for cells in chain(first, lines):
        click.echo(_line(cells, widths))


def _cells(record: dict[str, Any]) -> tuple[str, ...]:
    stale = " stale" if record["stale"] else ""
    return (
        printable(record["runId"]),
        printable(record["status"]),
        _who(record["owner"]),
        _seconds(record["leaseAgeMs"]) + stale,
        _who(record["claim"]),
        _seconds(record["claimAgeMs"]),
        "requested" if record["cancelRequestedAtMs"] is not None else "",
    )


def _line(cells: Iterable[str], widths: Iterable[int]) -> str:
    padded: list[str] = []
    for title, text, width in zip(_TITLES, cells, widths, strict=True):
        padding = " " * (width - _width(text))
        padded.append(padding + text if title.endswith("age") else text + padding)
    return "  ".join(padded).rstrip()


def _width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(2 if east_asian_width(c) in "WF" else not combining(c) for c in text)


def _who(identity: dict[str, object] | None) -> str:
    return "" if identity is None else printable(f"{identity['hostId']}:{identity['pid']}:{identity['nonce']}")


def _seconds(age_ms: int | None) -> str:
    return "" if age_ms is None else f"{age_ms / 1_000:.1f} s"
