"""The scopes that have a name: what ``tenure explore`` and the tests search."""

from collections.abc import Mapping
from typing import Final

import attrs

from tenure_model.explore.scope import DELETE, EVERY_OPERATION, Participant, RunPlan, Scope, ahead, honest, owners_on
from tenure_model.semantics.profiles import Profile
from tenure_model.vocabulary.constants import HEARTBEAT_SKEW_ALLOWANCE_MS, HEARTBEAT_STALE_AFTER_MS
from tenure_model.vocabulary.runs import CreateOptions

_A1, _A2 = owners_on("a", 2)
_B1 = next(iter(owners_on("b", 1)))
_SKEW = HEARTBEAT_SKEW_ALLOWANCE_MS
_STALE = HEARTBEAT_STALE_AFTER_MS

BOUNDARY: Final = Scope(
    "boundary",
    participants=(
        Participant(_A1, honest(0, -_SKEW)),
        Participant(_A2, honest(0, -_SKEW)),
        Participant(_B1, (*honest(0, _SKEW), *ahead(0), *ahead(0, by_ms=_SKEW + 1))),
    ),
    advances=(_SKEW, _SKEW + 1, _STALE),
)
"""Two hosts, three owners, one run, all sixteen operations. Clocks lag and lead by the allowance, and readings run
ahead by it and by one millisecond more; time passes so that stamps come to be exactly as old as the bound, and a
millisecond older.
"""

SECOND_OPINION: Final = Scope(
    "second-opinion",
    participants=(Participant(_A1, honest(0, _STALE, _STALE + 1)), Participant(_B1, honest(0, _STALE, _STALE + 1))),
    symmetric=False,
)
"""What the TLA+ module is checked in as well: two owners on two hosts, clocks that show 0, 30,000 or 30,001 at will."""

DELETION: Final = attrs.evolve(
    SECOND_OPINION, name="deletion", operations=EVERY_OPERATION | {DELETE}, symmetric=True, advances=(_STALE + 1,)
)
"""Rows may be deleted and created again (H-03)."""

LINEAGE: Final = Scope(
    "lineage",
    participants=(Participant(_A1, honest(0)), Participant(_B1, honest(0))),
    runs=(RunPlan("r"), RunPlan("s", CreateOptions(parent_run_id="r", lineage_id="r", round_ordinal=1))),
    advances=(_STALE + 1,),
)
"""Two rounds of one lineage, which are cancelled together."""

PLAIN: Final = Scope(
    "plain",
    participants=(Participant(_A1, honest(0)), Participant(_A2, honest(0)), Participant(_B1, honest(0))),
    advances=(_STALE, _STALE + 1),
)
"""Three owners on two hosts whose clocks are right, and time that passes up to the bound and past it."""

PAIR: Final = attrs.evolve(PLAIN, name="pair", runs=(RunPlan("r"), RunPlan("s")))
"""Two such runs that have nothing to do with each other but the owners."""

VECTORS: Final = Scope(
    "vectors",
    participants=(
        Participant(_A1, honest(0, -_SKEW)),
        Participant(_B1, (*honest(0), *ahead(0), *ahead(0, by_ms=_SKEW + 1))),
    ),
    advances=(_STALE, _STALE + 1),
    operations=EVERY_OPERATION | {DELETE},
)
"""The smallest scope in which every operation has every outcome that it has in any of the others."""

NIGHT: Final = attrs.evolve(BOUNDARY, name="night", runs=(RunPlan("r"), RunPlan("s")))
"""The default scope with two runs: millions of states, to be swept."""

SCOPES: Final[Mapping[str, Scope]] = {
    scope.name: scope for scope in (BOUNDARY, PLAIN, SECOND_OPINION, DELETION, LINEAGE, PAIR, VECTORS, NIGHT)
}
"""Every named scope, under ``reference``."""


def named(name: str, profile: Profile) -> Scope:
    """The scope of that name under a profile. ``KeyError`` where there is none."""
    return attrs.evolve(SCOPES[name], profile=profile)
