"""``make tlc``: check the ownership protocol in TLA+ under both profiles, and print what TLC and its graph say."""

import argparse
import sys

import networkx as nx

from tests.tla import graph, tlc


def main() -> int:
    """Check, print, and exit with 0 when everything holds or TLC cannot run, and with 1 when a property fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.tla", description=__doc__)
    parser.add_argument("--hosts", type=int, nargs="+", default=[0, 1], help="the host of each owner")
    parser.add_argument("--readings", type=int, nargs="+", default=[0, 30_000, 30_001], help="what clocks may say, ms")
    parser.add_argument("--deletes", action="store_true", help="an administrator may delete the row")
    parser.add_argument("--workers", type=int, default=2, help="of TLC")
    options = parser.parse_args()
    if reason := tlc.missing():
        _write(f"skipped: {reason}")
        return 0
    _write(f"owners on hosts {options.hosts}, readings {options.readings}, {options.workers} workers of TLC")
    return max(_show(profile, options) for profile in ("reference", "original"))


def _show(profile: str, options: argparse.Namespace) -> int:
    """One profile: its properties, its size and speed, its wedges."""

    def note(line: str) -> None:
        _write(f"  {profile}: {line}")

    scope = tlc.Scope(profile, tuple(options.hosts), tuple(options.readings), options.deletes)
    report = tlc.check(scope, workers=options.workers, note=note)
    if report.violated is not None:
        _write(f"{profile}: {report.violated} is violated")
        return 1
    readings = options.readings
    now, later = (
        graph.read_graph(profile, scope.hosts, some, deletes=scope.deletes, workers=options.workers, note=note)
        for some in (readings, [*readings, graph.late(readings)])
    )
    depth = max(nx.single_source_shortest_path_length(now, graph.INITIAL).values())
    _write(
        f"{profile}: {_verdict(profile)}; {report.states} states, {report.generated} labelled transitions, depth "
        f"{depth}, {report.states / report.seconds:.0f} states and {report.generated / report.seconds:.0f} "
        f"transitions a second"
    )
    for dead in ((), *((owner,) for owner in range(len(scope.hosts)))):
        wedges = graph.wedged(now, later, dead)
        who = f"with o{dead[0] + 1} dead" if dead else "with everyone alive"
        way = " > ".join(graph.shortest_path_to(now, wedges))
        _write(f"  {who}: {len(wedges)} wedged states{f', the nearest by {way}' if way else ''}")
    return 0


def _verdict(profile: str) -> str:
    """What it means that TLC found nothing: a profile lists the properties that are to hold under it, and no others."""
    left_out = [name for name in tlc.listed("reference") if name not in tlc.listed(profile)]
    if not left_out:
        return "every property holds"
    return f"every property listed for it holds; left out, since it breaks them: {', '.join(left_out)}"


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
