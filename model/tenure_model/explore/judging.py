"""What is judged and by what: one step of a call, and a property that it may break."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import attrs

from tenure_model.semantics.commands import Command
from tenure_model.semantics.steps import Outcome, Step
from tenure_model.semantics.world import Lease, Run, World
from tenure_model.vocabulary.outcomes import (
    Abandoned,
    Activated,
    CancelRequested,
    Claimed,
    Recovered,
    Transitioned,
    Updated,
)
from tenure_model.vocabulary.owners import OwnerId


@attrs.frozen
class Transition:
    """A step about to be judged: ``caller`` gave ``command`` to ``before``, and the model answered ``step``.

    ``run_id`` is the run that is looked at, which need not be the one that the command names.
    """

    before: World
    command: Command
    caller: OwnerId
    step: Step
    run_id: str

    @property
    def row_before(self) -> Run | None:
        """The row that the call met."""
        return self.before.runs.get(self.run_id)

    @property
    def row_after(self) -> Run | None:
        """The row that the call left."""
        return self.step.world.runs.get(self.run_id)

    @property
    def lease_before(self) -> Lease | None:
        """The lease that the call met."""
        return self.before.leases.get(self.run_id)

    @property
    def lease_after(self) -> Lease | None:
        """The lease that the call left."""
        return self.step.world.leases.get(self.run_id)


@attrs.frozen
class Property:
    """A name, a sentence, the rules behind it, and the judgement: false where a step breaks it."""

    name: str
    statement: str
    rules: tuple[str, ...]
    holds: Callable[[Transition], bool]


def broken_by(taken: Transition, properties: Sequence[Property]) -> tuple[str, ...]:
    """The names of the properties that a step breaks, on the run it names or on any that it wrote to."""
    others = [attrs.evolve(taken, run_id=run_id) for run_id in _written(taken) if run_id != taken.run_id]
    return tuple([judge.name for judge in properties if not all(map(judge.holds, (taken, *others)))])


def _written(taken: Transition) -> Iterator[str]:
    before, after = taken.before, taken.step.world
    for run_id in {**before.runs, **after.runs, **before.leases, **after.leases}:
        if before.runs.get(run_id) is not after.runs.get(run_id) or (
            before.leases.get(run_id) is not after.leases.get(run_id)
        ):
            yield run_id


GRANTS: Final = (Claimed, Activated, Abandoned, Recovered, Updated, Transitioned, CancelRequested)
"""The outcomes that say something was written."""


def says_written(outcome: Outcome) -> bool:
    """Whether the answer says that something was written: a grant, ``true``, or the silence of ``create``."""
    return outcome is None or outcome is True or isinstance(outcome, GRANTS)
