"""Which run an engine event speaks of, and where that run stands among its relatives (JN-351)."""

from typing import Final, Literal, TypeAlias

import attrs

LineageKind: TypeAlias = Literal["root", "child", "fork", "continuation"]

LINEAGE_KINDS: Final[tuple[LineageKind, ...]] = ("root", "child", "fork", "continuation")


@attrs.frozen
class Lineage:
    """A run and its place: which lineage, which root, which round, which parent (JN-351).

    A ``root`` is its own root, in round 0, without a parent. Every other kind has a parent, which may be the root, and
    is neither of the two itself; a ``continuation`` is in a later round than 0.
    """

    kind: LineageKind
    run_id: str
    lineage_id: str
    root_run_id: str
    round: int
    parent_run_id: str | None
