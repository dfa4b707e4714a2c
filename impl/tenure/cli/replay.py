"""``tenure replay``: put recorded histories through the model or the store and say where they first differ."""

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tenure.cli.text import complain

if TYPE_CHECKING:
    from tenure_model.conform.replay import Replay
    from tenure_model.conform.systems import System
    from tenure_model.conform.traces import Trace

PROGRESS_AFTER_SECONDS = 2.0

DIFFERS = 1


@click.command("replay")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--system",
    type=click.Choice(["model", "store"]),
    default=None,
    help="What to put the traces through. By default every system that has the profile.",
)
@click.option(
    "--profile",
    type=click.Choice(["reference", "original"]),
    default="reference",
    show_default=True,
    help="The semantics to expect. Only the model has the original one.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def replay_command(files: tuple[Path, ...], system: str | None, profile: str, as_json: bool) -> None:
    """Replay trace FILES (.json, .jsonl, .jsonl.gz) and report the first difference of each trace.

    Prints how many traces and steps were compared and how many steps agree. Exit code 0: nothing differs but, under the
    reference profile, what a repair explains, named by its id (R-1 to R-9). 1: something else differs. 2: a file is no
    trace, or the options exclude each other.
    """
    from tenure_model.conform.traces import TraceError

    if profile == "original" and system == "store":
        raise click.UsageError("the store implements the reference profile only")
    systems = [system] if system is not None else ["model"] if profile == "original" else ["model", "store"]
    try:
        reports = _replay_all(files, systems, profile, progress=not as_json)
    except TraceError as error:
        complain("replay", error, as_json)
    if as_json:
        click.echo(json.dumps(_summary_to_wire(reports, profile), indent=2))
    else:
        _print(reports, profile)
    if any(report.verdict == "differs" for _, _, report in reports):
        sys.exit(DIFFERS)


_Report = tuple[str, str, "Replay"]


def _replay_all(files: Sequence[Path], systems: Sequence[str], profile_name: str, *, progress: bool) -> list[_Report]:
    from tenure_model.conform.players import check_operations
    from tenure_model.conform.replay import replay
    from tenure_model.conform.traces import read_traces
    from tenure_model.semantics.profiles import ORIGINAL, REFERENCE

    profile = ORIGINAL if profile_name == "original" else REFERENCE
    traces = [(str(file), trace) for file in files for trace in read_traces(file)]
    for _, trace in traces:
        check_operations(trace)
    reports: list[_Report] = []
    total = sum(len(trace.steps) for _, trace in traces) * len(systems)
    tell: Callable[[int], None] = _progress(total) if progress else lambda _step: None
    for name in systems:
        for file, trace in traces:
            driven, close = _make_system(name, profile_name, trace)
            try:
                reports.append((name, file, replay(trace, driven, profile, tell)))
            finally:
                close()
    return reports


def _make_system(name: str, profile_name: str, trace: "Trace") -> tuple["System", Callable[[], None]]:
    from tenure.port import JournalStoreSystem, StoreSystem
    from tenure_model.conform.players import model_for, put_mode_of
    from tenure_model.conform.round_order import RoundOrder
    from tenure_model.semantics.profiles import ORIGINAL, REFERENCE

    if name == "model":
        return model_for(trace, ORIGINAL if profile_name == "original" else REFERENCE), lambda: None
    if trace.kind == "journal":
        journal = JournalStoreSystem.on_file(trace.sessions)
        return journal, journal.close
    several = len(trace.sessions) > 1 or any(step.operation.endswith(".crash") for step in trace.steps)
    make = StoreSystem.on_file if several else StoreSystem.in_memory
    store = make(trace.sessions, put_mode=put_mode_of(trace))
    return RoundOrder(store, trace.sessions), store.close


def _progress(total: int) -> Callable[[int], None]:
    done = 0
    last = time.monotonic()

    def tell(_: int) -> None:
        nonlocal done, last
        done += 1
        if time.monotonic() - last >= PROGRESS_AFTER_SECONDS:
            last = time.monotonic()
            click.echo(f"{done:,} of {total:,} steps", err=True)

    return tell


def _totals(reports: Sequence[_Report]) -> dict[str, int]:
    return {
        "traces": len(reports),
        "steps": sum(report.compared for _, _, report in reports),
        "agree": sum(report.agreed for _, _, report in reports),
        "notCompared": sum(report.not_compared for _, _, report in reports),
        "allowed": sum(report.verdict == "allowed" for _, _, report in reports),
        "differ": sum(report.verdict == "differs" for _, _, report in reports),
    }


def _report_to_wire(system: str, file: str, report: "Replay") -> dict[str, Any]:
    wire: dict[str, Any] = {
        "system": system,
        "file": file,
        "trace": report.trace,
        "verdict": report.verdict,
        "steps": report.compared,
        "agree": report.agreed,
        "notCompared": report.not_compared,
        "difference": None,
    }
    difference = report.difference
    if difference is not None:
        wire["difference"] = {
            "step": difference.step,
            "op": difference.operation,
            "where": difference.where,
            "recorded": difference.recorded,
            "answered": difference.answered,
            "repairs": [{"id": repair, "firedAtStep": step} for repair, step in sorted(difference.repairs.items())],
        }
    return wire


def _summary_to_wire(reports: Sequence[_Report], profile: str) -> dict[str, Any]:
    return {
        "profile": profile,
        **_totals(reports),
        "replays": [_report_to_wire(system, file, report) for system, file, report in reports],
    }


def _describe(report: "Replay") -> list[str]:
    from tenure_model.conform.replay import leaves

    difference = report.difference
    if difference is None:
        return []
    place = "end state" if difference.step is None else f"step {difference.step} ({difference.operation})"
    repairs = ", ".join(f"{repair} at step {step}" for repair, step in sorted(difference.repairs.items()))
    reason = f"; allowed, repairs fired: {repairs}" if report.verdict == "allowed" else ""
    lines = [f"  first difference at {place}, in {difference.where}{reason}"]
    for path, recorded, answered in list(leaves(difference.recorded, difference.answered))[:4]:
        lines.append(f"    {path}: recorded {json.dumps(recorded)}, answered {json.dumps(answered)}")
    return lines


def _print(reports: Sequence[_Report], profile: str) -> None:
    for system, _, report in reports:
        skipped = f", {report.not_compared} not compared" if report.not_compared else ""
        click.echo(f"{report.verdict:8} {system}  {report.trace}  {report.agreed} of {report.compared} steps{skipped}")
        for line in _describe(report):
            click.echo(line)
    totals = _totals(reports)
    click.echo(
        f"{totals['traces']} traces under {profile}: {totals['steps']} steps compared, {totals['agree']} agree, "
        f"{totals['allowed']} traces differ as a repair allows, {totals['differ']} differ otherwise"
    )
