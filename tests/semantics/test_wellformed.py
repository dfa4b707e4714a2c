"""Well-formed rows, invariants of worlds, invariants between worlds, and the fold of facts."""

import itertools
from collections.abc import Iterable
from typing import TypeAlias

import attrs
import pytest

from tenure_model.semantics.profiles import ORIGINAL
from tenure_model.semantics.wellformed import (
    NOBODY,
    Standing,
    Violation,
    are_well_formed_waiting_columns,
    is_time_or_null,
    is_well_formed_row,
    replay_facts,
    replay_lease_facts,
    violated_between,
    violated_invariants,
)
from tenure_model.semantics.world import Acknowledgement, Change, Claim, Lease, Ownership, World
from tenure_model.vocabulary.facts import OwnershipFact, OwnershipTransition
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.statuses import RUN_STATUSES
from tests.semantics.worlds import (
    ALICE,
    ALICE_AT_T,
    BOB,
    CAROL,
    LATE,
    T,
    call,
    claimed,
    pending,
    requested,
    running,
    self_stolen,
    settled,
    stolen,
    suspended,
)

Slot: TypeAlias = tuple[object, object, object, object]

NO_SLOT: Slot = (None, None, None, None)
SLOT: Slot = ("h", 1, "n", 5)


def slot_of(values: Iterable[object]) -> Slot:
    """The four columns of a slot."""
    host_id, pid, nonce, at_ms = values
    return host_id, pid, nonce, at_ms


@pytest.mark.parametrize("status", RUN_STATUSES)
@pytest.mark.parametrize(("owner", "claim"), list(itertools.product((NO_SLOT, SLOT), repeat=2)))
def test_whole_slots(status: str, owner: Slot, claim: Slot) -> None:
    """Exactly running rows are owned; a claim goes with any status, terminal ones included (RS-101, RS-102)."""
    assert is_well_formed_row(status, *owner, *claim) == ((status == "running") == (owner == SLOT))


@pytest.mark.parametrize("status", [None, "", "paused", "RUNNING", b"running", 1, "\ud800", object()])
def test_no_status(status: object) -> None:
    """Only the six texts are a status (RS-100)."""
    assert not is_well_formed_row(status, *NO_SLOT, *NO_SLOT)


@pytest.mark.parametrize("holes", [holes for holes in itertools.product((0, 1), repeat=4) if any(holes)])
def test_half_slots(holes: tuple[int, ...]) -> None:
    """Any null in a slot that is needed, and any value in one that is forbidden, breaks the row (RS-101, RS-102)."""
    holed = slot_of(None if hole else value for hole, value in zip(holes, SLOT, strict=True))
    filled = slot_of(value if hole else None for hole, value in zip(holes, SLOT, strict=True))

    assert not is_well_formed_row("running", *holed, *NO_SLOT)
    assert not is_well_formed_row("pending", *filled, *NO_SLOT)
    assert is_well_formed_row("pending", *NO_SLOT, *holed) == all(holes)


@pytest.mark.parametrize(
    ("position", "value", "well_formed"),
    [
        (0, "", False),
        (0, "\0h", False),
        (0, "h\0", True),
        (0, b"", False),
        (0, b"\0", True),
        (0, 5, True),
        (0, 5.5, True),
        (0, "h" * 2000, True),
        (0, float("nan"), False),
        (0, "\ud800", False),
        (1, -1, False),
        (1, 0, True),
        (1, 2**53, True),
        (1, 2**63 - 1, True),
        (1, 2**63, False),
        (1, "1", True),
        (1, "x", False),
        (1, "", False),
        (1, 1.0, True),
        (1, 1.5, False),
        (1, b"1", False),
        (1, True, True),
        (2, "", False),
        (2, 0, True),
        (3, -1, False),
        (3, 2**53 - 1, True),
        (3, 2**53, False),
        (3, "5", True),
        (3, "5 ms", False),
        (3, 5.5, False),
        (3, b"5", False),
    ],
)
def test_values_in_slots(position: int, value: object, well_formed: bool) -> None:
    """Each column is judged by what SQLite stores of the value, alike in both slots (RS-100..RS-102)."""
    slot = slot_of(value if column == position else good for column, good in enumerate(SLOT))

    assert is_well_formed_row("running", *slot, *NO_SLOT) == well_formed
    assert is_well_formed_row("completed", *NO_SLOT, *slot) == well_formed


@pytest.mark.parametrize(
    ("reason", "wake_at_ms", "token", "well_formed"),
    [
        (None, None, None, True),
        ("timer", None, None, True),
        ("timer", 5, "t", True),
        (None, 5, None, False),
        (None, None, "t", False),
        ("", None, None, False),
        ("timer", None, "", False),
        ("timer", -1, None, False),
        ("timer", "soon", None, False),
        ("timer", 2**63, None, False),
        ("\ud800", None, None, False),
    ],
)
def test_waiting_columns(reason: object, wake_at_ms: object, token: object, well_formed: bool) -> None:
    """A wake time or a token needs a reason (RS-103)."""
    assert are_well_formed_waiting_columns(reason, wake_at_ms, token) == well_formed


@pytest.mark.parametrize(
    ("value", "is_time"),
    [(None, True), (0, True), (2**53 - 1, True), (2**53, False), (-1, False), (1.5, False), ("1", False)],
)
def test_is_time_or_null(value: int | float | str | None, is_time: bool) -> None:
    """The storage class counts, and the range (RS-100)."""
    assert is_time_or_null(value) is is_time


@pytest.mark.parametrize(
    "world", [pending(), claimed(), running(), stolen(), self_stolen(), suspended(), settled(), requested()]
)
def test_worlds_reached_by_operations_break_nothing(world: World) -> None:
    """Under ``reference`` every invariant holds."""
    assert violated_invariants(world) == ()


OWNED = Ownership(ALICE, T, T)


@pytest.mark.parametrize(
    ("world", "broken"),
    [
        (attrs.evolve(running(), leases={}), "RS-213"),
        (attrs.evolve(running(), leases={"r": Lease(Ownership(BOB, T, T), None)}), "RS-213"),
        (attrs.evolve(running(), leases={"r": Lease(Ownership(ALICE, T, T + 1), None)}), "RS-213"),
        (attrs.evolve(running(), leases={"r": Lease(OWNED, Claim(BOB, T))}), "RS-213"),
        (attrs.evolve(running(), leases={"r": Lease(None, None)}), "RS-213"),
        (attrs.evolve(pending(), leases={"r": Lease(None, None)}), "RS-213"),
        (attrs.evolve(pending(), leases={"r": Lease(None, Claim(BOB, T))}), "RS-213"),
        (attrs.evolve(claimed(), leases={}), "RS-213"),
        (attrs.evolve(claimed(), leases={"r": Lease(None, Claim(BOB, T + 1))}), "RS-213"),
        (attrs.evolve(pending(), changes={}), "RS-1006"),
        (attrs.evolve(pending(), changes={"r": Change(2, deleted=False)}), "RS-1006"),
        (attrs.evolve(pending(), changes={"r": Change(1, deleted=True)}), "RS-1006"),
    ],
)
def test_each_broken_invariant_is_named(world: World, broken: str) -> None:
    """One fault, one rule, and the run it is broken for."""
    assert violated_invariants(world) == (Violation(broken, "r"),)


def test_a_lease_without_a_row_is_named() -> None:
    """What H-03 leaves behind breaks the agreement for a run that is not there (RS-213)."""
    world = call(running(ORIGINAL), "row.delete", runId="r").world

    assert violated_invariants(world) == (Violation("RS-213", "r"),)


def test_shared_revisions_are_named() -> None:
    """Two change rows never carry one revision (RS-1006)."""
    world = attrs.evolve(pending(), changes={"r": Change(1, deleted=False), "s": Change(1, deleted=True)})

    assert violated_invariants(world) == (Violation("RS-1006", None),)


@pytest.mark.parametrize(
    "corruption",
    [{"owner": None}, {"heartbeat_at_ms": None}, {"status": "pending"}, {"owner": None, "status": "failed"}],
)
def test_half_owned_rows_are_named(corruption: dict[str, object]) -> None:
    """Running, owner and heartbeat go together (RS-1000)."""
    world = running()
    run = attrs.evolve(world.runs["r"], **corruption)  # type: ignore[arg-type]  # corrupt on purpose

    assert Violation("RS-1000", "r") in violated_invariants(attrs.evolve(world, runs={"r": run}))


NO_CLAIM: dict[str, object] = dict.fromkeys(("claim_host_id", "claim_pid", "claim_nonce", "claimed_at_ms"))


def raw(world: World, **columns: object) -> World:
    """The world after a raw write to ``r``."""
    return call(world, "row.write", runId="r", columns=columns).world


@pytest.mark.parametrize(
    ("before", "after", "broken"),
    [
        (running(), running(), ()),
        (running(), stolen(), ()),
        (running(), suspended(), ()),
        (running(), requested(), ()),
        (running(), raw(running(), heartbeat_at_ms=T + 1), ()),
        (running(), raw(running(), heartbeat_at_ms=T - 1), ("RS-1003",)),
        (running(), raw(running(), heartbeat_at_ms=T - 1, owner_nonce="x"), ()),
        (stolen(), raw(stolen(), heartbeat_at_ms=T - 1), ("RS-1003",)),
        (stolen(), raw(stolen(), heartbeat_at_ms=T - 1, **NO_CLAIM), ("RS-1003",)),
        (self_stolen(), raw(self_stolen(), heartbeat_at_ms=T - 1), ("RS-1003",)),
        (self_stolen(), raw(self_stolen(), heartbeat_at_ms=T - 1, **NO_CLAIM), ()),
        (requested(), raw(requested(), cancel_requested_at_ms=None), ("RS-1004",)),
        (requested(), raw(requested(), cancel_requested_at_ms=T), ("RS-1004",)),
        (settled(), raw(settled(), status="failed"), ("RS-1005",)),
        (settled(), raw(settled(), status="pending"), ("RS-1005",)),
        (settled(), raw(settled(), finished_at_ms=T + 1), ("RS-1005",)),
        (settled(), raw(settled(), started_at_ms=None), ()),
        (running(), attrs.evolve(stolen(), revision=running().revision, changes=running().changes), ("RS-1006",)),
        (running(), attrs.evolve(running(), runs={}), ("RS-1006",)),
    ],
)
def test_what_one_step_may_not_do(before: World, after: World, broken: tuple[str, ...]) -> None:
    """Stamps, requests, settlements and revisions, each named by its rule (RS-1003..RS-1006)."""
    assert tuple(violation.rule_id for violation in violated_between(before, after)) == broken


def test_a_revision_that_falls_is_named() -> None:
    """The source's revision never goes back (RS-1006)."""
    world = pending()

    assert violated_between(world, attrs.evolve(world, revision=0)) == (Violation("RS-1006", None),)


def test_acknowledgements_stand() -> None:
    """An acknowledgement, once there, stays as it is (RS-1004)."""
    before = call(requested(), "run.acknowledgeCancel", runId="r", owner=ALICE, nowMs=T).world
    run = attrs.evolve(before.runs["r"], acknowledgement=Acknowledgement(T, BOB))
    after = attrs.evolve(raw(before), runs={"r": run})

    assert violated_between(before, after) == (Violation("RS-1004", "r"),)


def test_activating_a_claim_on_ones_own_run_may_lower_the_stamp() -> None:
    """The one exception: a self-steal, a beat, and an activation by a lower clock (RS-1003)."""
    before = call(self_stolen(), "run.heartbeat", LATE, runId="r", owner=ALICE, nowMs=LATE).world
    fresh = attrs.evolve(ALICE_AT_T, heartbeat_at_ms=LATE)
    step = call(before, "run.activate", T, runId="r", claimant=ALICE, claimedAtMs=LATE, expected=fresh)

    assert step.world.runs["r"].heartbeat_at_ms == T
    assert violated_between(before, step.world) == ()


def fact(transition: OwnershipTransition, owner: OwnerId, granted_at_ms: int | None) -> OwnershipFact:
    """A fact of ``r``."""
    return OwnershipFact("r", transition, owner, granted_at_ms)


HELD = (fact("claimed", ALICE, 1), fact("activated", ALICE, 1))
CLAIMED_BESIDE = (*HELD, fact("stolen", BOB, 2))
SELF_CLAIMED = (*HELD, fact("stolen", ALICE, 2))


@pytest.mark.parametrize(
    ("facts", "row", "original_lease"),
    [
        ((), NOBODY, NOBODY),
        (HELD[:1], Standing(None, Claim(ALICE, 1)), Standing(None, Claim(ALICE, 1))),
        (HELD, Standing(ALICE, None), Standing(ALICE, None)),
        (CLAIMED_BESIDE, Standing(ALICE, Claim(BOB, 2)), Standing(ALICE, Claim(BOB, 2))),
        ((*CLAIMED_BESIDE, fact("activated", BOB, 2)), Standing(BOB, None), Standing(BOB, None)),
        ((*CLAIMED_BESIDE, fact("expired", BOB, 2)), Standing(ALICE, None), Standing(ALICE, None)),
        ((*CLAIMED_BESIDE, fact("released", BOB, 2)), Standing(ALICE, None), Standing(ALICE, None)),
        ((*CLAIMED_BESIDE, fact("released", ALICE, None)), NOBODY, Standing(None, Claim(BOB, 2))),
        ((*SELF_CLAIMED, fact("released", ALICE, 2)), Standing(ALICE, None), NOBODY),
        ((*CLAIMED_BESIDE, fact("released", CAROL, 3)), Standing(ALICE, None), Standing(ALICE, Claim(BOB, 2))),
    ],
)
def test_replay(facts: tuple[OwnershipFact, ...], row: Standing, original_lease: Standing) -> None:
    """Facts alone tell owner and claim; the original lease forgets by identity (RS-1007)."""
    assert replay_facts(facts) == row
    assert replay_lease_facts(facts) == original_lease
