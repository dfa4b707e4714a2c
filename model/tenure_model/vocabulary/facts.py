"""Ownership facts: what a granted transition leaves in the run's companion stream (RS-016, RS-700..RS-704)."""

from typing import Final, Literal, TypeAlias

import attrs

from tenure_model.vocabulary.owners import OwnerId

OwnershipTransition: TypeAlias = Literal["claimed", "activated", "released", "stolen", "expired"]

OWNERSHIP_TRANSITIONS: Final[tuple[OwnershipTransition, ...]] = (
    "claimed",
    "activated",
    "released",
    "stolen",
    "expired",
)


@attrs.frozen
class OwnershipFact:
    """One granted transition (RS-701). ``granted_at_ms`` is the claim's token, or ``None`` where ownership ended."""

    run_id: str
    transition: OwnershipTransition
    owner: OwnerId
    granted_at_ms: int | None

    @property
    def event_type(self) -> str:
        """The journal's name for the transition (RS-016)."""
        return f"flows.consensus.{self.transition}"
