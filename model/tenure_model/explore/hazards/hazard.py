"""What a hazard is: something that goes wrong, what the profiles make of it, and how to see it."""

from collections.abc import Callable
from typing import Literal, TypeAlias

import attrs

EvidenceKind: TypeAlias = Literal["trace", "bound", "demonstration", "outside"]


@attrs.frozen
class Evidence:
    """What shows a hazard, the same whenever it is worked out.

    ``trace`` is a shortest history that the explorer found in ``scope`` under ``profile``, of so many ``steps``, or,
    with ``steps`` of ``None``, that there is none in the whole scope; ``bound`` is a figure that was proved;
    ``demonstration`` is a fixed history or call that the model was given; ``outside`` says in words why no model of
    this project shows it. ``lines`` are what to read: of a trace, one line a step, who called what with which
    arguments, what it answered, and what it left.
    """

    kind: EvidenceKind
    lines: tuple[str, ...]
    scope: str | None = None
    profile: str | None = None
    steps: int | None = None


@attrs.frozen
class Hazard:
    """A known hazard, by its id (H-01, HZ-01).

    ``repaired_by`` names the repair that ``reference`` has against it, ``None`` where it stands under both profiles.
    ``evidence`` works out what shows it, in a few seconds at most.
    """

    id: str
    title: str
    what_happens: str
    reference_does: str
    port_must: str
    repaired_by: str | None
    evidence: Callable[[], Evidence]
