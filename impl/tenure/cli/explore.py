"""``tenure explore``: search every state of a scope, and say what holds in all of them."""

import json
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from tenure.cli.text import complain, require_place

if TYPE_CHECKING:
    from tenure_model.explore.graph import StateGraph
    from tenure_model.explore.scope import Scope
    from tenure_model.explore.search import Progress
    from tenure_model.explore.traces import Trace

BROKEN = 1
_TELL_EVERY_SECONDS = 2.0


@attrs.frozen
class _Report:
    """What a search found, however it was made: sizes, and for each broken property the depth or the trace.

    ``ending`` says whether every run can be ended, in words; nothing where a bound or a stream left too little to say.
    ``endless`` says that some run cannot, or not by every owner alone.
    """

    states: int
    transitions: int
    depth: int
    complete: bool
    seconds: float
    broken: dict[str, tuple[str, ...]]
    ending: tuple[str, ...] = ()
    endless: bool = False


@click.command("explore")
@click.argument("scope", default="boundary")
@click.option(
    "--profile",
    type=click.Choice(["reference", "original"]),
    default="reference",
    show_default=True,
    help="The semantics to search.",
)
@click.option("--depth", type=click.IntRange(min=0), default=None, help="Stop after so many steps.")
@click.option("--stream", is_flag=True, help="Keep no graph: for scopes that would not fit.")
@click.option(
    "--export",
    "export",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    callback=require_place,
    default=None,
    help="Write the labelled graph to a .json, .graphml or .dot file.",
)
@click.option(
    "--draw",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    callback=require_place,
    default=None,
    help="Draw the situations to an .svg file by Graphviz, and each broken property beside it as a space-time diagram.",
)
@click.option("--list", "list_scopes", is_flag=True, help="List the scopes and end.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def explore_command(
    scope: str,
    profile: str,
    depth: int | None,
    stream: bool,
    export: Path | None,
    draw: Path | None,
    list_scopes: bool,
    as_json: bool,
) -> None:
    """Search every state of SCOPE, over the model itself, and judge every step.

    Scopes are of the run store. Those of the journal's small steps are searched by `tenure hazard HZ-nn`.

    Prints how much was searched, for each property whether it holds, and whether every run can be brought to its end;
    of what breaks, a shortest trace to it. A streamed search says at which depth it breaks, and like one that --depth
    ends nothing about the end of runs. Exit code 0: all holds. 1: something breaks, as much does under the original
    profile. 2: the options exclude each other, or networkx is not installed (tenure[explore]).
    """
    try:
        from tenure_model.explore.scopes import SCOPES, named
        from tenure_model.semantics.profiles import ORIGINAL, REFERENCE
    except ModuleNotFoundError as error:
        complain("explore", error, as_json)
    if list_scopes:
        _print_scopes(list(SCOPES.values()))
        return
    if scope not in SCOPES:
        raise click.UsageError(f"there is no such scope; there are {', '.join(SCOPES)}")
    if stream and (export is not None or draw is not None):
        raise click.UsageError("a streamed search keeps no graph to export or draw")
    for file in (export, draw):
        if file is not None and not file.parent.is_dir():
            raise click.UsageError(f"there is no folder {file.parent} to write to")
    chosen = named(scope, ORIGINAL if profile == "original" else REFERENCE)
    tell = _progress(as_json)
    report = _stream(chosen, depth, tell) if stream else _search(chosen, depth, export, draw, tell)
    if as_json:
        click.echo(json.dumps(_to_wire(chosen, report), indent=2))
    else:
        _print(chosen, report)
    if report.broken or report.endless:
        sys.exit(BROKEN)


def _search(
    scope: "Scope", depth: int | None, export: Path | None, draw: Path | None, tell: "Callable[[Progress], object]"
) -> _Report:
    from tenure_model.explore.graph import FORMATS, build_graph
    from tenure_model.explore.system import RunSystem
    from tenure_model.explore.telling import told
    from tenure_model.explore.traces import trace_of

    if export is not None and export.suffix.removeprefix(".") not in FORMATS:
        raise click.UsageError(f"a graph is exported as one of {', '.join(FORMATS)}")
    system = RunSystem(scope)
    found = build_graph(system, depth=depth, on_progress=tell)
    if export is not None:
        export.write_text(FORMATS[export.suffix.removeprefix(".")](found), encoding="utf-8")
    explored = found.explored
    traces = {name: trace_of(system, explored, finding) for name, finding in explored.findings.items()}
    if draw is not None:
        _draw(found, traces, draw)
    lines = {name: told(trace) for name, trace in traces.items()}
    ending, endless = _ending(found) if explored.complete else ((), False)
    return _Report(
        len(explored.states),
        explored.transitions,
        explored.depth,
        explored.complete,
        explored.seconds,
        lines,
        ending,
        endless,
    )


def _ending(found: "StateGraph") -> tuple[tuple[str, ...], bool]:
    """Whether every run can be brought to its end, by anybody and by a single survivor; where not, the shortest way."""
    from tenure_model.explore.liveness import survival, wedges
    from tenure_model.explore.scope import owner_name
    from tenure_model.explore.telling import told
    from tenure_model.explore.traces import trace_to

    system, explored = found.system, found.explored
    lines: list[str] = []
    stuck = sorted({number for states in wedges(found).stuck for number in states}) if system.scope.advances else []
    if stuck:
        lines.append(f"WEDGED in {len(stuck):,} states, from which nothing ends a run; the nearest:")
        lines += [f"    {line}" for line in told(trace_to(system, explored, stuck[0]))]
    elif system.scope.advances:
        lines.append("no wedge: from every state every run can be brought to its end (RS-1008)")
    survivors = survival(system, explored)
    if survivors.stranded:
        first = survivors.stranded[0]
        name = owner_name(system.scope.owners[first.survivor])
        lines.append(f"STRANDED in {len(survivors.stranded):,} cases, an owner left alone; the nearest, for {name}:")
        lines += [f"    {line}" for line in told(trace_to(system, explored, first.state))]
    else:
        lines.append(f"a single survivor ends any run in {survivors.bound} calls, once all stamps are stale (RS-1008)")
    return tuple(lines), bool(stuck or survivors.stranded)


def _draw(found: "StateGraph", traces: "dict[str, Trace]", file: Path) -> None:
    from tenure_model.explore.drawing import DrawingError, as_svg, situation_dot
    from tenure_model.explore.spacetime import spacetime_svg

    try:
        file.write_text(as_svg(situation_dot(found)), encoding="utf-8")
    except DrawingError as error:
        raise click.UsageError(str(error)) from None
    for name, trace in traces.items():
        file.with_stem(f"{file.stem}-{name}").write_text(spacetime_svg(trace, name), encoding="utf-8")


def _stream(scope: "Scope", depth: int | None, tell: "Callable[[Progress], object]") -> _Report:
    from tenure_model.explore.sweep import sweep
    from tenure_model.explore.system import RunSystem

    swept = sweep(RunSystem(scope), depth=depth, on_progress=tell)
    broken: dict[str, tuple[str, ...]] = {name: (f"first at depth {at}",) for name, at in swept.broken.items()}
    return _Report(swept.states, swept.transitions, swept.depth, swept.complete, swept.seconds, broken)


def _progress(quiet: bool) -> "Callable[[Progress], object]":
    told = 0.0

    def tell(progress: "Progress") -> None:
        nonlocal told
        if not quiet and progress.seconds - told >= _TELL_EVERY_SECONDS:
            told = progress.seconds
            click.echo(
                f"{progress.states:,} states, {progress.expanded:,} expanded, {progress.transitions:,} transitions, "
                f"depth {progress.depth}, {progress.seconds:.0f} s",
                err=True,
            )

    return tell


def _memory_mib() -> float:
    """The most memory this process ever held. The unit of ``ru_maxrss`` is KiB, on macOS bytes."""
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held / 2**20 if sys.platform == "darwin" else held / 2**10


def _print_scopes(scopes: "list[Scope]") -> None:
    for scope in scopes:
        hosts = {owner.host_id for owner in scope.owners}
        advances = ", ".join(f"{advance:,}" for advance in scope.advances) or "none"
        click.echo(
            f"{scope.name}: {_counted(len(scope.owners), 'owner')} on {_counted(len(hosts), 'host')}, "
            f"{_counted(len(scope.runs), 'run')}, {_counted(len(scope.operations), 'operation')}, "
            f"time passes in steps of (ms): {advances}"
        )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _print(scope: "Scope", report: _Report) -> None:
    from tenure_model.explore.properties import STEP_PROPERTIES

    whole = "all of them" if report.complete else "not all: a bound ended the search"
    click.echo(f"scope {scope.name} under {scope.profile.name}")
    click.echo(
        f"{report.states:,} states ({whole}), {report.transitions:,} transitions, depth {report.depth}, "
        f"{report.seconds:.1f} s, {_memory_mib():.0f} MiB"
    )
    for judge in STEP_PROPERTIES:
        verdict = "BROKEN" if judge.name in report.broken else "holds "
        click.echo(f"{verdict} {judge.name}: {judge.statement} ({', '.join(judge.rules)})")
        for line in report.broken.get(judge.name, ()):
            click.echo(f"    {line}")
    for line in report.ending or ("whether every run can be brought to its end takes every state and a graph",):
        click.echo(line)


def _to_wire(scope: "Scope", report: _Report) -> dict[str, Any]:
    return {
        "scope": scope.name,
        "profile": scope.profile.name,
        "states": report.states,
        "transitions": report.transitions,
        "depth": report.depth,
        "complete": report.complete,
        "seconds": round(report.seconds, 3),
        "memoryMiB": round(_memory_mib(), 1),
        "broken": {name: list(lines) for name, lines in report.broken.items()},
        "endless": report.endless,
        "ending": list(report.ending),
    }
