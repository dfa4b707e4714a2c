"""Who reads engine events, and what it gets (JN-358, JN-359)."""

from collections.abc import Collection
from typing import Final, Literal, TypeAlias

import attrs

from tenure_model.vocabulary.engine_events.attempts import AttemptPayload
from tenure_model.vocabulary.engine_events.states import StatePayload
from tenure_model.vocabulary.journal import Entry

ENGINE_NAMESPACE: Final = "flows.engine."
"""What the types of all engine events start with; types elsewhere are the consumer's to ignore or to see (JN-359)."""

UnknownPolicy: TypeAlias = Literal["ignore", "surface"]

UNKNOWN_POLICIES: Final[tuple[UnknownPolicy, ...]] = ("ignore", "surface")


@attrs.frozen
class Consumer:
    """The one run, with its place in its lineage, whose events a reader takes, and from which sources (JN-358).

    ``unknown`` says whether events outside the engine's namespace are ignored or shown.
    """

    run_id: str
    lineage_id: str
    root_run_id: str
    round: int
    parent_run_id: str | None
    sources: Collection[str]
    unknown: UnknownPolicy


@attrs.frozen
class Attempt:
    """An event of the life of an attempt."""

    entry: Entry
    payload: AttemptPayload


@attrs.frozen
class State:
    """An event of the state of an execution."""

    entry: Entry
    payload: StatePayload


@attrs.frozen
class Ignored:
    """An event outside the engine's namespace, which the consumer does not want to see."""


@attrs.frozen
class Unknown:
    """An event outside the engine's namespace; its run and source are the consumer's, its content is unread."""

    entry: Entry


DecodedEvent: TypeAlias = Attempt | State | Ignored | Unknown
