"""What one attempt operation answers, and the decisions that several of them share."""

from typing import TypeAlias

import attrs

from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.semantics.attempts.table import AttemptRow, AttemptTable, with_row
from tenure_model.semantics.predicates import owned
from tenure_model.semantics.world import World
from tenure_model.vocabulary.attempt_errors import AttemptStoreError
from tenure_model.vocabulary.attempt_outcomes import AttemptHeartbeatResult, FinishResult, PatchResult, PutResult
from tenure_model.vocabulary.attempts import Attempt
from tenure_model.vocabulary.outcomes import FenceLost, NotFound
from tenure_model.vocabulary.owners import OwnerId

AttemptOutcome: TypeAlias = (
    PutResult | AttemptHeartbeatResult | FinishResult | PatchResult | Attempt | AttemptStoreError | None
)


@attrs.frozen
class AttemptStep:
    """One operation on one table of attempts; the world beside it is read and never written.

    ``attempts`` is the table after it: the very same object unless something was written. ``outcome`` is an outcome of
    the vocabulary, what a read answers, or an ``AttemptStoreError`` as a value. ``transacted`` says whether the call
    began a write transaction, and so had to wait for other writers (RS-390). No repair has a part in attempts.
    """

    attempts: AttemptTable
    outcome: AttemptOutcome
    transacted: bool


def refused(attempts: AttemptTable, method: str, refusal: AttemptRefusal) -> AttemptStep:
    """Invalid input: nothing was read (RS-365)."""
    return AttemptStep(attempts, AttemptStoreError("invalid_attempt", method, refusal.text), transacted=False)


def answered(attempts: AttemptTable, outcome: AttemptOutcome) -> AttemptStep:
    """An answer that needed no write transaction (RS-390)."""
    return AttemptStep(attempts, outcome, transacted=False)


def unchanged(attempts: AttemptTable, outcome: AttemptOutcome) -> AttemptStep:
    """A write transaction that decided to write nothing: competition, told as a value (RS-364)."""
    return AttemptStep(attempts, outcome, transacted=True)


def written(attempts: AttemptTable, row: AttemptRow, outcome: AttemptOutcome) -> AttemptStep:
    """A write transaction that wrote one row. It costs no revision (RS-166)."""
    return AttemptStep(with_row(attempts, row), outcome, transacted=True)


def fence_holds(world: World, run_id: str, owner: OwnerId) -> bool:
    """Whether the run's row, not its lease, is running under this owner: the fence of every write (RS-810)."""
    run = world.runs.get(run_id)
    return run is not None and owned(run, owner)


def missed(row: AttemptRow | None) -> NotFound | FenceLost:
    """Why a write of an existing attempt found no row it may write, but for its state (RS-842, RS-861).

    A missing attempt is ``NotFound`` before anybody asks about its run (RS-862).
    """
    return NotFound() if row is None else FenceLost()
