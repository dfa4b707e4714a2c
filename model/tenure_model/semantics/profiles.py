"""The two profiles of the semantics: what a deployment must do, and what was recorded, wedges included."""

from typing import Final

import attrs


@attrs.frozen
class Profile:
    """A named set of repairs. A function asks ``"R-1" in profile.repairs`` where the two behaviours part.

    R-1: a transition to a non-running status removes any pending claim from the lease (against H-01).
    R-2: the release of a claim never drops an ownership that the same identity holds (against H-02).
    R-3: deleting a run row removes its lease (against H-03).
    R-4: a refused re-own changes and records nothing (against H-04).
    R-5 to R-9 repair the journal; no function of the run store asks for them.
    """

    name: str
    repairs: frozenset[str]


REFERENCE: Final = Profile("reference", frozenset(f"R-{number}" for number in range(1, 10)))
"""The semantics with every wedge repaired: what an implementation is held to."""

ORIGINAL: Final = Profile("original", frozenset())
"""The recorded semantics, wedges included: it exists so that each wedge can be shown."""
