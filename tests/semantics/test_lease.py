"""Every decision of the lease, against every state of its two slots."""

import pytest

from tenure_model.semantics import lease
from tenure_model.semantics.world import Claim, Lease, Ownership, World, empty_world, with_lease
from tenure_model.vocabulary.evidence import EvidenceKind
from tenure_model.vocabulary.owners import OwnerId
from tests.semantics.worlds import ALICE, BOB, CAROL, LATE, T, evidence, expired

OWNED = Ownership(ALICE, T - 5, T)
EMPTY = empty_world()


def world_of(ownership: Ownership | None, claim: Claim | None) -> World:
    """A world whose only content is the lease of ``r``."""
    return with_lease(EMPTY, "r", Lease(ownership, claim))


def slots(world: World | str) -> Lease | str | None:
    """The lease of ``r``, or the reason there is no new world."""
    return world if isinstance(world, str) else world.leases.get("r")


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (EMPTY, Lease(None, Claim(BOB, T))),
        (world_of(None, None), Lease(None, Claim(BOB, T))),
        (world_of(None, Claim(CAROL, T)), "already_claimed"),
        (world_of(None, Claim(BOB, T)), "already_claimed"),
        (world_of(OWNED, Claim(CAROL, T)), "already_claimed"),
        (world_of(OWNED, None), "owner_held"),
        (world_of(Ownership(BOB, T, T), None), "owner_held"),
    ],
)
def test_claim(before: World, expected: Lease | str) -> None:
    """A claim needs both slots empty; a claim that stands outranks an owner (RS-202)."""
    assert slots(lease.claim(before, "r", BOB, T)) == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (world_of(None, Claim(BOB, T)), Lease(Ownership(BOB, T, LATE), None)),
        (world_of(OWNED, Claim(BOB, T)), Lease(Ownership(BOB, T, LATE), None)),
        (world_of(OWNED, Claim(BOB, T + 1)), "lost"),
        (world_of(OWNED, Claim(CAROL, T)), "lost"),
        (world_of(OWNED, None), "lost"),
        (EMPTY, "lost"),
    ],
)
def test_activate(before: World, expected: Lease | str) -> None:
    """Exactly the claim is spent, and any previous owner replaced (RS-203)."""
    assert slots(lease.activate(before, "r", BOB, T, LATE)) == expected


def test_activate_spends_the_grant() -> None:
    """The same grant presented again is lost (RS-203)."""
    first = lease.activate(world_of(None, Claim(BOB, T)), "r", BOB, T, T)

    assert isinstance(first, World)
    assert lease.activate(first, "r", BOB, T, T) == "lost"


@pytest.mark.parametrize(
    ("claim", "now_ms", "beaten", "reconfirmed"),
    [
        (None, T + 7, T + 7, T + 7),
        (None, T - 7, T, T),
        (Claim(BOB, T), T + 7, T + 7, None),
        (Claim(ALICE, T), T + 7, T + 7, None),
    ],
)
def test_heartbeat_and_reconfirm(claim: Claim | None, now_ms: int, beaten: int | None, reconfirmed: int | None) -> None:
    """The stamp never goes back; a pending claim, even one's own, stops only the reconfirmation (RS-204, RS-205)."""
    before = world_of(OWNED, claim)
    renewed = {
        stamp: "lost" if stamp is None else (world_of(Ownership(ALICE, T - 5, stamp), claim), stamp)
        for stamp in (beaten, reconfirmed)
    }

    assert lease.heartbeat(before, "r", ALICE, now_ms) == renewed[beaten]
    assert lease.reconfirm(before, "r", ALICE, now_ms) == renewed[reconfirmed]


@pytest.mark.parametrize("before", [EMPTY, world_of(OWNED, None), world_of(None, Claim(BOB, T))])
def test_only_the_owner_renews(before: World) -> None:
    """No lease, another owner, or a mere claim renews nothing (RS-204, RS-205)."""
    assert lease.heartbeat(before, "r", BOB, T) == "lost"
    assert lease.reconfirm(before, "r", BOB, T) == "lost"


@pytest.mark.parametrize(
    ("before", "now_ms", "expected"),
    [
        (world_of(OWNED, None), LATE, Lease(OWNED, Claim(BOB, LATE))),
        (world_of(OWNED, None), LATE - 1, "owner_live"),
        (world_of(OWNED, Claim(CAROL, T)), LATE, "already_claimed"),
        (world_of(None, Claim(CAROL, T)), LATE, "already_claimed"),
        (world_of(Ownership(CAROL, T, T), None), LATE, "evidence_invalid"),
        (world_of(None, None), LATE, "evidence_invalid"),
        (EMPTY, LATE, "evidence_invalid"),
    ],
)
def test_steal(before: World, now_ms: int, expected: Lease | str) -> None:
    """A claim beside the very owner of the evidence, once it is stale; reasons in this order (RS-208)."""
    assert slots(lease.steal(before, "r", BOB, now_ms, expired(ALICE, now_ms))) == expected


@pytest.mark.parametrize(
    ("checked_at_ms", "kind"),
    [(LATE - 1, "lease-expired"), (LATE, "cross-host-unreachable-stale")],
)
def test_steal_needs_matching_evidence_first(checked_at_ms: int, kind: EvidenceKind) -> None:
    """Evidence that does not match outranks the claim that stands (RS-208)."""
    before = world_of(OWNED, Claim(CAROL, T))

    assert lease.steal(before, "r", BOB, LATE, evidence(ALICE, checked_at_ms, kind)) == "evidence_invalid"


@pytest.mark.parametrize(
    ("before", "now_ms", "expected"),
    [
        (world_of(None, Claim(BOB, T)), LATE, None),
        (world_of(OWNED, Claim(BOB, T)), LATE, Lease(OWNED, None)),
        (world_of(OWNED, Claim(BOB, T)), LATE - 1, "claim_fresh"),
        (world_of(OWNED, Claim(BOB, T + 1)), LATE, "claim_changed"),
        (world_of(OWNED, Claim(CAROL, T)), LATE, "claim_changed"),
        (world_of(OWNED, None), LATE, "claim_changed"),
        (EMPTY, LATE, "claim_changed"),
    ],
)
def test_recover(before: World, now_ms: int, expected: Lease | str | None) -> None:
    """Exactly the claim, stale, is removed, and an empty lease with it (RS-209)."""
    assert slots(lease.recover(before, "r", BOB, T, CAROL, now_ms, expired(BOB, now_ms))) == expected


def test_recover_needs_matching_evidence_first() -> None:
    """Evidence about another than the claimant is invalid, whatever stands (RS-209)."""
    assert lease.recover(EMPTY, "r", BOB, T, CAROL, LATE, expired(ALICE, LATE)) == "evidence_invalid"


@pytest.mark.parametrize(
    ("before", "who", "expected"),
    [
        (world_of(OWNED, None), ALICE, None),
        (world_of(OWNED, Claim(ALICE, T)), ALICE, None),
        (world_of(OWNED, Claim(BOB, T)), ALICE, Lease(None, Claim(BOB, T))),
        (world_of(OWNED, Claim(BOB, T)), BOB, Lease(OWNED, None)),
        (world_of(OWNED, Claim(BOB, T)), CAROL, Lease(OWNED, Claim(BOB, T))),
        (EMPTY, ALICE, None),
    ],
)
def test_release(before: World, who: OwnerId, expected: Lease | None) -> None:
    """Both slots of the releaser go, a stranger's stay, an empty lease goes with them (RS-206)."""
    assert slots(lease.release(before, "r", who)) == expected


@pytest.mark.parametrize(
    ("before", "who", "expected"),
    [
        (world_of(OWNED, Claim(ALICE, T)), ALICE, Lease(OWNED, None)),
        (world_of(OWNED, None), ALICE, Lease(OWNED, None)),
        (world_of(None, Claim(BOB, T)), BOB, None),
        (world_of(OWNED, Claim(BOB, T)), CAROL, Lease(OWNED, Claim(BOB, T))),
        (EMPTY, ALICE, None),
    ],
)
def test_release_claim(before: World, who: OwnerId, expected: Lease | None) -> None:
    """The release of R-2 leaves every ownership alone."""
    assert slots(lease.release_claim(before, "r", who)) == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [(world_of(OWNED, Claim(BOB, T)), Lease(OWNED, None)), (world_of(None, Claim(BOB, T)), None), (EMPTY, None)],
)
def test_drop_claim(before: World, expected: Lease | None) -> None:
    """The removal of R-1 asks nobody whose claim it is."""
    assert slots(lease.drop_claim(before, "r")) == expected


@pytest.mark.parametrize(
    ("before", "owns", "has_claim"),
    [
        (world_of(OWNED, None), True, False),
        (world_of(OWNED, Claim(BOB, T)), True, True),
        (world_of(Ownership(BOB, T, T), None), False, False),
        (world_of(None, Claim(ALICE, T)), False, True),
        (EMPTY, False, False),
    ],
)
def test_owns_and_has_claim(before: World, owns: bool, has_claim: bool) -> None:
    """The fence names the owner alone, whatever its age and whoever claims (RS-210)."""
    assert lease.owns(before, "r", ALICE) is owns
    assert lease.has_claim(before, "r") is has_claim
