"""Trace files: recorded behaviour as JSON, one document a line.

A trace of runs is ``{"kind": "runs", "steps": […], "rows", "changes", "source", "leases", "facts"}``; one of a journal
is ``{"kind": "journal", "options", "steps": […], "final": {run: {"ok": page}}}``. In the latter the writer is left idle
between steps, ``reopen`` closes and reopens the file with a fresh instance, and a trace that is ``stepped`` opens its
journals itself, says when the writer does what, and ends with the ``tables``. A step is
``{"clock", "op", "args"}`` with ``ok`` or ``error``, perhaps ``row`` (what ``get`` of the run answers afterwards) and
``session`` (which of several instances on one file acted; the first where it is missing). Beside the operations a step
may control the system: ``session.begin``, ``session.commit``, ``session.rollback`` open and close (nested)
transactions, ``session.crash`` drops one instance, ``system.crash`` all of them. ``row.delete`` deletes a run row.
"""

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

CONTROLS: Final = (
    "session.begin",
    "session.commit",
    "session.rollback",
    "session.crash",
    "system.crash",
)

RAW_OPERATIONS: Final = ("row.delete",)

FIRST_SESSION: Final = "s0"

FINAL_FIELDS: Final = (
    "rows",
    "changes",
    "source",
    "leases",
    "facts",
    "acknowledgements",
    "attempts",
    "final",
    "tables",
)


class TraceError(Exception):
    """A file that is no trace: says which file, which line and which field, never the value."""


@attrs.frozen
class TraceStep:
    """One recorded step. ``result`` is ``{"ok": …}`` or ``{"error": …}``, or empty where nothing was recorded."""

    session: str
    clock_ms: float
    operation: str
    arguments: Mapping[str, object]
    result: Mapping[str, Any]
    row: Mapping[str, Any] | None


@attrs.frozen
class Trace:
    """One recorded history. ``final`` holds the end state's fields that were recorded."""

    name: str
    kind: str
    steps: tuple[TraceStep, ...]
    final: Mapping[str, Any]
    about: Mapping[str, Any]

    @property
    def sessions(self) -> tuple[str, ...]:
        """The sessions that act, the first one always among them, in order of appearance."""
        return tuple(dict.fromkeys((FIRST_SESSION, *(step.session for step in self.steps))))


def _require(condition: bool, where: str, field: str, detail: str) -> None:
    if not condition:
        raise TraceError(f"{where}: {field} {detail}")


_TABLE_KEYS: Final = {"changes": "run_id", "source": "revision", "leases": "run_id", "attempts": "run_id"}
_RECORDS: Final = ("rows", "facts", "acknowledgements", "final", "tables")

MAX_CLOCK_MS: Final = 2**63 - 1
"""The latest clock of a step; nothing could store a later one."""


def _is_clock(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return -MAX_CLOCK_MS <= value <= MAX_CLOCK_MS  # false for NaN


def _check_final(document: dict[str, Any], name: str) -> None:
    """The end state, as far as comparing it relies on its form."""
    for field in _RECORDS:
        _require(isinstance(document.get(field, {}), dict), name, field, "must be an object")
    _require(
        all(isinstance(facts, list) for facts in document.get("facts", {}).values()), name, "facts", "must hold arrays"
    )
    for field, key in _TABLE_KEYS.items():
        rows = document.get(field, [])
        is_table = isinstance(rows, list) and all(isinstance(row, dict) and key in row for row in rows)
        _require(is_table, name, field, f"must be an array of objects with {key}")


def _read_step(document: object, where: str) -> TraceStep:
    if not isinstance(document, dict):
        raise TraceError(f"{where}: step must be an object")
    _require(_is_clock(document.get("clock")), where, "clock", "must be a finite number of milliseconds")
    _require(isinstance(document.get("op"), str), where, "op", "must be a string")
    _require(isinstance(document.get("args", {}), dict), where, "args", "must be an object")
    _require(isinstance(document.get("session", FIRST_SESSION), str), where, "session", "must be a string")
    _require(not ("ok" in document and "error" in document), where, "ok and error", "exclude each other")
    _require(isinstance(document.get("error", {}), dict), where, "error", "must be an object")
    _require(isinstance(document.get("row", {}), dict), where, "row", "must be an object")
    return TraceStep(
        session=document.get("session", FIRST_SESSION),
        clock_ms=document["clock"],
        operation=document["op"],
        arguments=document.get("args", {}),
        result={key: document[key] for key in ("ok", "error") if key in document},
        row=document.get("row"),
    )


def parse_trace(document: object, name: str) -> Trace:
    """One JSON document as a trace. Raises ``TraceError`` naming the step and the field that is wrong."""
    if not isinstance(document, dict):
        raise TraceError(f"{name}: a trace must be an object")
    _require(isinstance(document.get("kind"), str), name, "kind", "must be a string")
    _require(isinstance(document.get("steps"), list), name, "steps", "must be an array")
    _check_final(document, name)
    return Trace(
        name=name,
        kind=document["kind"],
        steps=tuple(_read_step(step, f"{name}: step {i}") for i, step in enumerate(document["steps"])),
        final={field: document[field] for field in FINAL_FIELDS if field in document},
        about={key: value for key, value in document.items() if key not in ("steps", *FINAL_FIELDS)},
    )


def _documents(path: Path) -> Iterator[tuple[str, object]]:
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise TraceError(
            f"{path}: cannot be read: {getattr(error, 'strerror', None) or type(error).__name__}"
        ) from None
    # Not splitlines(): JSON strings may hold U+2028 and other separators as they are.
    lines = [text] if path.name.removesuffix(".gz").endswith(".json") else text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield f"{path.name}:{number}", json.loads(line)
        except (ValueError, RecursionError):
            raise TraceError(f"{path}: line {number} is not JSON") from None


def read_traces(path: Path) -> tuple[Trace, ...]:
    """Every trace of a ``.json``, ``.jsonl`` or ``.jsonl.gz`` file; raises ``TraceError`` where there is none."""
    traces = tuple(parse_trace(document, name) for name, document in _documents(path))
    if not traces:
        raise TraceError(f"{path}: holds no trace")
    return traces
