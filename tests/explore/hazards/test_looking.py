"""Looking for signs in order, and for runs that are stuck."""

import attrs

from tenure_model.explore.hazards.looking import Signs, Stuck, evidence, sign
from tenure_model.explore.hazards.places import DELETED, RIGHT, STILL, A, B
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE

OWNED = sign("owned", "run.claimAndOwn", "Activated", A)
REFUSED = sign("refused", "run.claimAndOwn", "HeartbeatFresh", B)


def test_signs_show_in_order() -> None:
    """The history is no longer than it must be, and its last step is the last sign; a refusal is a sign too."""
    found = Signs(STILL, (OWNED, REFUSED)).under(REFERENCE)

    assert found.trace is not None
    assert [moment.command.operation for moment in found.trace.moments if moment.command] == [
        "run.create",
        "run.claimAndOwn",
        "run.claimAndOwn",
    ]
    assert [moment.broken for moment in found.trace.moments] == [(), ("owned",), ("refused",)]


def test_the_order_matters() -> None:
    """The same signs the other way round need another owner first and a run that changes hands."""
    found = Signs(STILL, (REFUSED, OWNED)).under(REFERENCE)

    assert found.trace is not None
    assert len(found.trace.moments) == 5


def test_a_sign_twice_needs_two_steps() -> None:
    """One step is one sign, though it would do for the next as well."""
    found = Signs(RIGHT, (OWNED, OWNED)).under(REFERENCE)

    assert found.trace is not None
    assert [moment.broken for moment in found.trace.moments] == [(), ("owned",), (), ("owned",)]


def test_what_never_shows() -> None:
    """Everything is searched then, each state counted once however many signs have shown in it."""
    everything = Stuck(STILL).under(REFERENCE)
    nothing = Signs(STILL, (OWNED, sign("never", "run.get", "FenceLost"))).under(REFERENCE)

    assert nothing.trace is None
    assert nothing.states == everything.states
    assert evidence(Signs(STILL, (sign("never", "run.get", "FenceLost"),)), REFERENCE).lines == (
        f"no history shows it: all {everything.states} states and {everything.transitions:,} transitions were searched",
    )


def test_stuck_is_for_good() -> None:
    """The first state in which a run is stuck under ``original``: a suspended run with a claim on its lease alone."""
    found = Stuck(attrs.evolve(RIGHT, targets=("suspended", "completed"))).under(ORIGINAL)

    assert found.trace is not None
    assert found.trace.moments[-1].world.runs["r"].status == "suspended"
    assert found.trace.moments[-1].world.leases["r"].claim is not None


def test_a_way_out_by_deletion_is_no_way_out() -> None:
    """An administrator who deletes the row does not settle the run."""
    assert Stuck(DELETED).under(ORIGINAL).trace is not None
    assert Stuck(DELETED).under(REFERENCE).trace is None


def test_remarks_stand_under_the_history() -> None:
    """They are worked out from the trace."""
    looked = Signs(STILL, (OWNED,), remarks=lambda trace: (f"{len(trace.moments)} steps",))

    assert looked().lines[-1] == "2 steps"
