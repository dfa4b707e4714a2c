"""The raw writes."""

import pytest

from tenure_model.semantics.steps import Outcome
from tenure_model.semantics.world import Claim, Lease, Ownership, Run, World, empty_world
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.outcomes import AlreadyClaimed
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import PENDING
from tests.semantics.worlds import ALICE, BOB, T, after, call, claimed, pending, running

DAVE = {"claim_host_id": "h4", "claim_pid": 4, "claim_nonce": "d"}


def code_of(outcome: Outcome) -> object:
    """The code of an error, else the outcome."""
    return outcome.code if isinstance(outcome, RunStoreError) else outcome


def family() -> World:
    """``r``, its child ``s``, and ``t``, which is its own parent."""
    world = pending()
    world = after(world, "run.create", None, runId="s", stateJson="1", options={"parentRunId": "r"})
    return after(world, "run.create", None, runId="t", stateJson="1", options={"parentRunId": "t"})


@pytest.mark.parametrize(
    ("run_id", "outcome"), [("r", "constraint"), ("s", True), ("t", True), ("unknown", False), ("", "invalid_run")]
)
def test_delete_row(run_id: str, outcome: object) -> None:
    """A run with children stays; its own parent goes; a missing run costs nothing (RS-106, RS-163)."""
    world = family()
    step = call(world, "row.delete", runId=run_id)

    assert code_of(step.outcome) == outcome
    assert (run_id in step.world.runs) == (run_id == "r")
    assert step.world.revision == world.revision + (outcome is True)


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"status": "completed"},
        {**DAVE, "claimed_at_ms": 0},
        {"status": "completed", **DAVE, "claimed_at_ms": 0},
        {"parent_run_id": "r"},
        {"lineage_id": "L"},
        {"lineage_id": "M", "round_ordinal": 1},
        {"round_ordinal": 7, "finished_at_ms": 2**53 - 1, "started_at_ms": 0, "cancel_requested_at_ms": 1},
        {"run_id": "r"},
    ],
)
def test_write_row_within_the_schema(columns: dict[str, object]) -> None:
    """What the CHECKs admit is written, sensible or not, for one revision each (RS-102, RS-104, RS-163)."""
    world = rounds()
    step = call(world, "row.write", runId="r", columns=columns)

    assert step.outcome is True
    assert step.world.revision == world.revision + 1


def rounds() -> World:
    """``r``, and ``s``, which is round 1 of ``L``."""
    options = {"lineageId": "L", "roundOrdinal": 1}
    return after(pending(), "run.create", None, runId="s", stateJson="1", options=options)


@pytest.mark.parametrize(
    "columns",
    [
        {"run_id": "other"},
        {"status": None},
        {"status": "paused"},
        {"status": "running"},
        {"owner_host_id": "h"},
        {"heartbeat_at_ms": 1},
        DAVE,
        {"claimed_at_ms": 1},
        {**DAVE, "claimed_at_ms": 2**53},
        {**DAVE, "claim_pid": -1, "claimed_at_ms": 1},
        {**DAVE, "claim_nonce": "", "claimed_at_ms": 1},
        {"created_at_ms": None},
        {"created_at_ms": -1},
        {"finished_at_ms": 2**53},
        {"cancel_requested_at_ms": -1},
        {"round_ordinal": -1},
        {"parent_run_id": "unknown"},
        {"parent_run_id": ""},
        {"lineage_id": ""},
        {"lineage_id": "\0L"},
        {"lineage_id": "L", "round_ordinal": 1},
    ],
)
def test_write_row_against_the_schema(columns: dict[str, object]) -> None:
    """A new id, a half owner, a half claim, a bad number, an unknown parent, a taken round (RS-100..RS-106, RS-162)."""
    world = rounds()
    step = call(world, "row.write", runId="r", columns=columns)

    assert code_of(step.outcome) == "constraint"
    assert step.world is world


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [
        ({"runId": "unknown", "columns": {}}, False),
        ({"runId": 1, "columns": {}}, "invalid_run"),
        ({"runId": "r"}, "invalid_run"),
        ({"runId": "r", "columns": {"state_json": "1"}}, "invalid_run"),
        ({"runId": "r", "columns": {"status": 1}}, "invalid_run"),
        ({"runId": "r", "columns": {"status": "\ud800"}}, "invalid_run"),
        ({"runId": "r", "columns": {"owner_pid": True}}, "invalid_run"),
        ({"runId": "r", "columns": {"owner_pid": 2**63}}, "invalid_run"),
        ({"runId": "r", "columns": {1: 1}}, "invalid_run"),
    ],
)
def test_write_row_of_what_is_no_row(arguments: dict[str, object], outcome: object) -> None:
    """A missing row matches nothing; unknown columns and values of other types are refused."""
    world = pending()
    step = call(world, "row.write", **arguments)

    assert code_of(step.outcome) == outcome
    assert step.world is world


def test_write_row_plants_a_claim_that_the_lease_does_not_know() -> None:
    """The row alone carries it, and others are told of it (RS-222)."""
    world = after(pending(), "row.write", True, runId="r", columns={**DAVE, "claimed_at_ms": T})

    assert world.runs["r"].claim == Claim(OwnerId("h4", 4, "d"), T)
    assert world.leases == {}
    assert call(world, "run.claim", runId="r", expected=PENDING, claimant=BOB, nowMs=T).outcome == AlreadyClaimed()


def test_write_row_leaves_what_is_not_named() -> None:
    """Owner, claim and times are rebuilt from their columns as they were (RS-163)."""
    for world in (running(), claimed()):
        assert after(world, "row.write", True, runId="r", columns={}).runs == world.runs


def test_write_row_sets_what_is_named() -> None:
    """Every column lands in the row."""
    columns: dict[str, object] = {
        "status": "running",
        "created_at_ms": 1,
        "started_at_ms": 2,
        "finished_at_ms": 3,
        "owner_host_id": "h1",
        "owner_pid": 1,
        "owner_nonce": "a",
        "heartbeat_at_ms": 4,
        **DAVE,
        "claimed_at_ms": 5,
        "parent_run_id": "s",
        "cancel_requested_at_ms": 6,
        "lineage_id": "M",
        "round_ordinal": 7,
    }
    world = rounds()

    assert after(world, "row.write", True, runId="r", columns=columns).runs["r"] == Run(
        run_id="r",
        status="running",
        created_at_ms=1,
        started_at_ms=2,
        finished_at_ms=3,
        owner=ALICE,
        heartbeat_at_ms=4,
        claim=Claim(OwnerId("h4", 4, "d"), 5),
        parent_run_id="s",
        cancel_requested_at_ms=6,
        acknowledgement=None,
        lineage_id="M",
        round_ordinal=7,
        state_json="{}",
    )


@pytest.mark.parametrize("half", [{"lineage_id": "M", "round_ordinal": None}, {"lineage_id": None, "round_ordinal": 7}])
def test_half_a_round_is_never_taken(half: dict[str, object]) -> None:
    """A null in either lineage column is distinct from every other (RS-104, RS-105)."""
    world = after(rounds(), "row.write", True, runId="r", columns=half)

    assert call(world, "row.write", runId="s", columns=half).outcome is True


OWNED = {"owner_host_id": "h1", "owner_pid": 1, "owner_nonce": "a", "granted_at_ms": 3, "heartbeat_at_ms": 4}


@pytest.mark.parametrize(
    ("lease", "leases"),
    [
        (None, {}),
        ({}, {"r": Lease(None, None)}),
        (OWNED, {"r": Lease(Ownership(ALICE, 3, 4), None)}),
        ({**OWNED, "granted_at_ms": 0}, {"r": Lease(Ownership(ALICE, 0, 4), None)}),
        ({**DAVE, "claimed_at_ms": 2**60}, {"r": Lease(None, Claim(OwnerId("h4", 4, "d"), 2**60))}),
        (
            {**OWNED, **DAVE, "claimed_at_ms": 5},
            {"r": Lease(Ownership(ALICE, 3, 4), Claim(OwnerId("h4", 4, "d"), 5))},
        ),
    ],
)
def test_write_lease(lease: object, leases: dict[str, Lease]) -> None:
    """The lease is replaced whole, for no revision (RS-130, RS-166)."""
    world = claimed()
    step = call(world, "lease.write", runId="r", lease=lease)

    assert step.outcome is None
    assert step.world.leases == leases
    assert (step.world.runs, step.world.revision) == (world.runs, world.revision)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"runId": "", "lease": None}, "invalid_run"),
        ({"runId": "r"}, "invalid_run"),
        ({"runId": "r", "lease": {"status": "running"}}, "invalid_run"),
        ({"runId": "r", "lease": {"owner_pid": 1.0}}, "invalid_run"),
        ({"runId": "r", "lease": {"owner_pid": 1}}, "invalid_run"),
        ({"runId": "r", "lease": {**OWNED, "granted_at_ms": None}}, "invalid_run"),
        ({"runId": "r", "lease": {**OWNED, "claimed_at_ms": 1}}, "invalid_run"),
        ({"runId": "r", "lease": {**OWNED, "granted_at_ms": -1}}, "constraint"),
        ({"runId": "r", "lease": {**DAVE, "claim_pid": -1, "claimed_at_ms": 1}}, "constraint"),
    ],
)
def test_write_lease_of_what_is_no_lease(arguments: dict[str, object], code: str) -> None:
    """Half a slot and unknown columns are refused, negative numbers are the schema's to refuse (RS-130)."""
    world = claimed()
    step = call(world, "lease.write", **arguments)

    assert code_of(step.outcome) == code
    assert step.world is world


def test_write_lease_needs_no_row() -> None:
    """The lease table has no foreign key (RS-130)."""
    assert after(empty_world(), "lease.write", None, runId="r", lease=OWNED).leases.keys() == {"r"}
