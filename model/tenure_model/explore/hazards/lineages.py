"""Rounds, cancellation and ancestry: H-19 to H-21."""

from typing import Final

import attrs

from tenure_model.explore.hazards.hazard import Hazard
from tenure_model.explore.hazards.looking import Signs, sign
from tenure_model.explore.hazards.places import STILL, A, B
from tenure_model.explore.judging import Transition
from tenure_model.explore.scope import RunPlan, owner_name
from tenure_model.explore.traces import Trace
from tenure_model.vocabulary.runs import CreateOptions

_LATER_ROUND: Final = RunPlan("s", CreateOptions(parent_run_id="r", lineage_id="r", round_ordinal=1))


def _after_a_request(taken: Transition) -> bool:
    first, later = taken.before.runs.get("r"), taken.step.world.runs.get("s")
    return (
        first is not None
        and first.cancel_requested_at_ms is not None
        and later is not None
        and later.cancel_requested_at_ms is None
    )


def _record(trace: Trace) -> tuple[str, ...]:
    acknowledgement = trace.moments[-1].world.runs["r"].acknowledgement
    assert acknowledgement is not None
    return (f"The record names {owner_name(acknowledgement.owner)}.",)


def _parent(trace: Trace) -> tuple[str, ...]:
    return (f"The parent of r is {trace.moments[-1].world.runs['r'].parent_run_id}.",)


LINEAGES: Final = (
    Hazard(
        "H-19",
        "A round that comes after the request",
        what_happens=(
            "The cancellation of a lineage reaches the rounds that exist. One that is created afterwards carries no "
            "request; and if the earlier round has settled before the later exists, the answer is `Terminal` though "
            "the work goes on. A root without an ordinal and an explicit round 0 can stand side by side."
        ),
        reference_does="The same: a request is recorded on rows, and there is no row for a lineage.",
        port_must="Look at the predecessor's request in the transaction that creates a round, and carry it over.",
        repaired_by=None,
        evidence=Signs(
            attrs.evolve(STILL, name="two rounds of one lineage", runs=(RunPlan("r"), _LATER_ROUND)),
            (
                sign("the whole lineage", "run.requestCancelLineage", "CancelRequested"),
                sign("a round without a request", "run.create", "ok", None, _after_a_request),
            ),
        ),
    ),
    Hazard(
        "H-20",
        "Cancellation is advice",
        what_happens=(
            "Claims and transitions without a guard pass whatever was requested. An acknowledgement stays when the run "
            "changes hands: the new owner's is answered `true` though it wrote nothing, and the record names the old "
            "one."
        ),
        reference_does="The same: requests and acknowledgements are written once.",
        port_must="Settle with a guard on the request, and take `true` for `acknowledged`, not for `by you`.",
        repaired_by=None,
        evidence=Signs(
            STILL,
            (
                sign("acknowledged", "run.acknowledgeCancel", "true", A),
                sign("owned all the same", "run.claimAndOwn", "Activated", B),
                sign("true, and nothing is written", "run.acknowledgeCancel", "true", B),
            ),
            remarks=_record,
        ),
    ),
    Hazard(
        "H-21",
        "A run that is its own parent",
        what_happens=(
            "That a parent exists is checked at the end of the statement that inserts the row, so a run may name "
            "itself. A walk up the ancestry that counts on an end has none."
        ),
        reference_does="The same: the parent is a foreign key and nothing more.",
        port_must="Guard every walk along parents against meeting a run twice.",
        repaired_by=None,
        evidence=Signs(
            attrs.evolve(
                STILL, name="a run planned under itself", runs=(RunPlan("r", CreateOptions(parent_run_id="r")),)
            ),
            (sign("its own parent", "run.create", "ok"),),
            remarks=_parent,
        ),
    ),
)
"""H-19 to H-21."""
