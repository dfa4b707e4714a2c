"""What one operation answers: the world after it, its outcome, and which repairs made a difference."""

from typing import Final, TypeAlias

import attrs

from tenure_model.admission.refusal import Refusal
from tenure_model.semantics.world import World
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.errors import RunStoreError, RunStoreErrorCode
from tenure_model.vocabulary.outcomes import (
    AbandonClaimOutcome,
    ActivateOutcome,
    ClaimAndOwnOutcome,
    HeartbeatOutcome,
    RecoverClaimOutcome,
    RequestCancelOutcome,
    StealOutcome,
    TransitionOutcome,
)
from tenure_model.vocabulary.runs import RunRow

Outcome: TypeAlias = (
    RequestCancelOutcome
    | StealOutcome
    | ClaimAndOwnOutcome
    | ActivateOutcome
    | AbandonClaimOutcome
    | RecoverClaimOutcome
    | HeartbeatOutcome
    | TransitionOutcome
    | RunRow
    | tuple[RunRow, ...]
    | bool
    | RunStoreError
    | None
)

NO_REPAIRS: Final[frozenset[str]] = frozenset()


@attrs.frozen
class Step:
    """One operation on one world.

    ``world`` is the world after it: the very same object unless something was written. ``outcome`` is an outcome of the
    vocabulary, what a read answers, or a ``RunStoreError`` as a value. ``fired`` names the repairs by which the step
    differs from what ``original`` would have done in the same world; it is empty under ``original``. ``transacted``
    says whether the call began a write transaction, and so had to wait for other writers (RS-390).
    """

    world: World
    outcome: Outcome
    fired: frozenset[str]
    transacted: bool


def refused(world: World, method: str, refusal: Refusal) -> Step:
    """Invalid input: nothing was read (RS-361, RS-362)."""
    return Step(
        world, RunStoreError("invalid_run", method, "run input is invalid", refusal.cause), NO_REPAIRS, transacted=False
    )


def answered(world: World, outcome: Outcome) -> Step:
    """An answer that needed no write transaction (RS-390)."""
    return Step(world, outcome, NO_REPAIRS, transacted=False)


def unchanged(world: World, outcome: Outcome) -> Step:
    """A write transaction that decided to write nothing: competition, told as a value (RS-364)."""
    return Step(world, outcome, NO_REPAIRS, transacted=True)


def committed(before: World, after: World, method: str, outcome: Outcome, fired: frozenset[str] = NO_REPAIRS) -> Step:
    """A write transaction that wrote. A revision past 2**53-1 rolls all of it back with ``constraint`` (RS-164)."""
    if after.revision > MAX_SAFE_INTEGER:
        return violated(before, method)
    return Step(after, outcome, fired, transacted=True)


def violated(world: World, method: str) -> Step:
    """A write transaction that the schema refused: ``constraint``, and nothing is written (RS-363)."""
    return Step(world, database_failure("constraint", method), NO_REPAIRS, transacted=True)


def database_failure(database_code: str, method: str) -> RunStoreError:
    """The error a failing database becomes: ``constraint`` keeps its code, all else is ``persistence_failed`` (RS-363).

    ``database_code`` is one of ``busy``, ``constraint``, ``io``, ``unsupported``, ``unknown``.
    """
    code: RunStoreErrorCode = "constraint" if database_code == "constraint" else "persistence_failed"
    cause = {"category": code, "cause": {"code": database_code}}
    return RunStoreError(code, method, "database operation failed", cause)
