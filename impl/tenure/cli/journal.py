"""``tenure journal``: the history of one run, its gaps shown as gaps."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tenure.cli.text import complain, printable
from tenure_model.admission.text import has_surrogate
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER

if TYPE_CHECKING:
    from tenure.database.engine import Connection

_HAS_JOURNAL: Final = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'flows_journal_dedup'"
_FLOOR: Final = """
    SELECT max(seq) FROM flows_journal_checkpoints WHERE run_id = ? AND compacted_at_ms IS NOT NULL
"""
_PAGE: Final = """
    SELECT seq, event_id, source_id, source_seq, emitted_at_ms, event_type, payload_json, meta_json
    FROM flows_journal_events WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT 500
"""

_HAS_HISTORY: Final = """
    SELECT EXISTS (SELECT 1 FROM flows_journal_events WHERE run_id = ?1)
      OR EXISTS (SELECT 1 FROM flows_journal_checkpoints WHERE run_id = ?1)
"""
_HAS_RUNS: Final = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'flows_runs'"
_HAS_RUN: Final = "SELECT 1 FROM flows_runs WHERE run_id = ?1"

POLL_SECONDS: Final = 1.0


class _NoSuchRunError(Exception):
    pass


def _require_text(_: click.Context, __: click.Parameter, value: str) -> str:
    if has_surrogate(value):
        raise click.BadParameter("these bytes are no text, and no run has such an id")
    return value


@click.command("journal")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("run", callback=_require_text)
@click.option("--follow", is_flag=True, help="Go on with what is committed from now on, until interrupted.")
@click.option(
    "--after",
    type=click.IntRange(min=0, max=MAX_SAFE_INTEGER),
    default=None,
    help="Start above this sequence number.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document a line: an entry, a gap, or the floor.")
def journal_command(file: Path, run: str, follow: bool, after: int | None, as_json: bool) -> None:
    """Print the history of RUN in FILE, in order.

    Reads only. A number that no entry has is shown as a gap: it means nothing, and nothing is missing there. What a
    compaction has cut off is shown as the floor, with the checkpoint that stands for it. Exit code 2: FILE is not a
    store with a journal, it knows no such RUN, or an entry is corrupt; those before it have been printed. Of a RUN that
    is known and has no entries stderr says so, with exit code 0. With --follow RUN may be yet to come.
    """
    from tenure.database.engine import DatabaseError
    from tenure_model.vocabulary.journal_errors import JournalError

    show = _show_json if as_json else _show_text
    try:
        for record in _records(file, run, -1 if after is None else after, follow):
            show(record)
    except (DatabaseError, JournalError, _NoSuchRunError) as error:
        complain("journal", error, as_json)
    except KeyboardInterrupt:
        # How a reader that follows is meant to be ended.
        sys.exit(0)


def _records(file: Path, run: str, after: int, follow: bool) -> Iterator[dict[str, Any]]:
    from tenure.database.engine import OpenError
    from tenure.database.sqlite import SqliteEngine

    connection = SqliteEngine(str(file)).inspect()
    try:
        if not connection.rows(_HAS_JOURNAL):
            raise OpenError("schema", f"{file} is not a store with a journal")
        cursor = after
        while True:
            for record in _news(connection, run, cursor):
                yield record
                cursor = record["entry"]["seq"] if "entry" in record else cursor
            if not follow:
                if cursor == after and not connection.rows(_HAS_HISTORY, (run,))[0][0]:
                    if not (connection.rows(_HAS_RUNS) and connection.rows(_HAS_RUN, (run,))):
                        raise _NoSuchRunError(f"{file} has no run {printable(run)}")
                    click.echo(
                        f"tenure journal: {file} has no entries of run {printable(run)}; a store keeps them if it is "
                        "opened with journal options",
                        err=True,
                    )
                return
            sys.stdout.flush()
            time.sleep(POLL_SECONDS)
    finally:
        connection.close()


def _news(connection: "Connection", run: str, cursor: int) -> Iterator[dict[str, Any]]:
    """What stands above the cursor: the floor where it lies above, then entries and gaps.

    Page first, floor second (JN-252): a compaction in between shows as the floor, never as a gap.
    """
    while True:
        page = connection.rows(_PAGE, (run, cursor))
        floor = connection.rows(_FLOOR, (run,))[0][0]
        if floor is not None and cursor < floor - 1:
            yield {"floor": {"seq": floor}}
            cursor = floor - 1
            continue
        if not page:
            return
        for row in page:
            if row[0] > cursor + 1:
                yield {"gap": {"from": cursor + 1, "to": row[0] - 1}}
            yield {"entry": _entry(run, row)}
            cursor = row[0]


def _entry(run: str, row: tuple[Any, ...]) -> dict[str, Any]:
    from tenure.journal.decoding import decode_entries
    from tenure_model.conform.wire import to_wire

    entry = to_wire(decode_entries([(run, *row)])[0])
    assert isinstance(entry, dict)
    return entry


def _show_json(record: dict[str, Any]) -> None:
    click.echo(json.dumps(record))


def _show_text(record: dict[str, Any]) -> None:
    if "floor" in record:
        floor = record["floor"]["seq"]
        click.echo(
            f"{'':>8}  compacted below {floor}: the checkpoint at {floor} stands for everything up to and with it"
        )
        return
    if "gap" in record:
        first, last = record["gap"]["from"], record["gap"]["to"]
        click.echo(f"{'':>8}  gap: {first}" if first == last else f"{'':>8}  gap: {first} to {last}")
        return
    entry = record["entry"]
    payload = json.dumps(entry["payload"], ensure_ascii=False, separators=(",", ":"))
    source = f"{entry['sourceId']}:{entry['sourceSeq']}"
    click.echo(
        f"{entry['seq']:>8}  {_time(entry['emittedAtMs'])}  {printable(entry['eventType'])}  {printable(source)}  "
        f"{printable(payload)}"
    )


def _time(milliseconds: int) -> str:
    """UTC to the millisecond; a number that no calendar has stays a number."""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromtimestamp(milliseconds / 1_000, UTC)
    except (ValueError, OverflowError, OSError):
        return str(milliseconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
