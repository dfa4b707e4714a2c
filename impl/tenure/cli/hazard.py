"""``tenure hazard``: work out one hazard of the model and say what it is."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tenure.cli.text import complain, require_place

if TYPE_CHECKING:
    from tenure_model.explore.hazards.document import Page
    from tenure_model.explore.hazards.hazard import Hazard
    from tenure_model.semantics.profiles import Profile


@click.command("hazard")
@click.argument("hazard_id", metavar="ID", required=False)
@click.option(
    "--profile",
    type=click.Choice(["reference", "original"]),
    default="original",
    show_default=True,
    help="The semantics to look for it in.",
)
@click.option(
    "--draw",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    callback=require_place,
    default=None,
    help="Draw the history to an .svg file, as a space-time diagram.",
)
@click.option("--list", "list_hazards", is_flag=True, help="List the hazards and end.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def hazard_command(hazard_id: str | None, profile: str, draw: Path | None, list_hazards: bool, as_json: bool) -> None:
    """Show the hazard ID: what happens, the shortest history or the bound, and what is to be done about it.

    The history is searched for on the spot. Exit code 0: it is told, also where there is none. 2: there is no such
    hazard, it has no history to draw, or networkx is not installed (tenure[explore]).
    """
    try:
        from tenure_model.explore.hazards.document import page
        from tenure_model.explore.hazards.table import HAZARDS
        from tenure_model.semantics.profiles import ORIGINAL, REFERENCE
    except ModuleNotFoundError as error:
        complain("hazard", error, as_json)
    if list_hazards:
        _print_list(list(HAZARDS.values()), as_json)
        return
    hazard = None if hazard_id is None else HAZARDS.get(hazard_id.upper())
    if hazard is None:
        raise click.UsageError(f"there is no such hazard; there are {_ranges(list(HAZARDS))}")
    chosen = ORIGINAL if profile == "original" else REFERENCE
    if draw is not None:
        _draw(hazard, chosen, draw)
    said = page(hazard, chosen)
    if as_json:
        click.echo(json.dumps(_to_wire(said), indent=2))
    else:
        _print(said)


def _draw(hazard: "Hazard", profile: "Profile", file: Path) -> None:
    from tenure_model.explore.hazards.looking import Signs, Stuck
    from tenure_model.explore.journal import spacetime as of_the_journal
    from tenure_model.explore.journal.evidence import witnessed
    from tenure_model.explore.journal.witnesses import WITNESSES
    from tenure_model.explore.spacetime import spacetime_svg

    title, drawing = f"{hazard.id} {hazard.title}", None
    if hazard.id in WITNESSES:
        steps = witnessed(hazard.id, profile)
        drawing = None if steps is None else of_the_journal.spacetime_svg(steps, title)
    elif isinstance(hazard.evidence, Signs | Stuck):
        trace = hazard.evidence.under(profile).trace
        drawing = None if trace is None else spacetime_svg(trace, title)
    if drawing is None:
        raise click.UsageError(f"{hazard.id} has no history to draw under {profile.name}")
    file.write_text(drawing, encoding="utf-8")


def _ranges(ids: list[str]) -> str:
    """The ids as ranges: ``H-01..H-31``, each kind by its first and last."""
    kinds: dict[str, list[str]] = {}
    for one in ids:
        kinds.setdefault(one.partition("-")[0], []).append(one)
    return ", ".join(f"{known[0]}..{known[-1]}" for known in kinds.values())


def _print_list(hazards: "list[Hazard]", as_json: bool) -> None:
    if as_json:
        listed = [{"id": one.id, "title": one.title, "repairedBy": one.repaired_by} for one in hazards]
        click.echo(json.dumps(listed, indent=2))
        return
    for one in hazards:
        repaired = "" if one.repaired_by is None else f" (repaired by {one.repaired_by})"
        click.echo(f"{one.id:6} {one.title}{repaired}")


def _print(said: "Page") -> None:
    hazard = said.hazard
    click.echo(f"{hazard.id} {hazard.title}\n\n{_filled(hazard.what_happens)}\n\n{said.head}\n")
    for line in said.evidence.lines:
        click.echo(f"    {line}")
    click.echo(f"\n{_filled(said.reference)}\n\n{_filled(f'A port: {hazard.port_must}')}")


def _filled(text: str) -> str:
    return click.wrap_text(text, 100)


def _to_wire(said: "Page") -> dict[str, Any]:
    hazard, evidence = said.hazard, said.evidence
    return {
        "id": hazard.id,
        "title": hazard.title,
        "whatHappens": hazard.what_happens,
        "evidence": {
            "kind": evidence.kind,
            "scope": evidence.scope,
            "profile": evidence.profile,
            "steps": evidence.steps,
            "lines": list(evidence.lines),
        },
        "reference": hazard.reference_does,
        "repairedBy": hazard.repaired_by,
        "proof": said.proof,
        "portMust": hazard.port_must,
    }
