"""Tests of the consensus strategies, alone and under a store."""

from collections.abc import Iterator

import pytest

import tenure
from tenure.consensus import (
    ConsensusError,
    ConsensusStrategy,
    DatabaseConsensus,
    Granted,
    LocalConsensus,
    NoopConsensus,
    Rejected,
    Renewed,
)
from tenure.database.engine import SqlRow
from tenure_model.vocabulary.evidence import LivenessEvidence
from tests.runs.support import (
    A_AGAIN,
    ACTIVATED,
    CLAIM_LOST,
    FENCE_LOST,
    NOW,
    SNAPSHOT_CHANGED,
    STALE,
    TRANSITIONED,
    UPDATED,
    A,
    B,
    C,
    evidence,
    new_world,
    unchanged,
)

LATER = NOW + STALE + 1


class StepByStep(LocalConsensus):
    """The local strategy with the compound decisions made of their steps, as a third party's would be."""

    take = ConsensusStrategy.take
    retake = ConsensusStrategy.retake
    seize = ConsensusStrategy.seize


@pytest.fixture(params=["database", "local", "steps"])
def leases(request: pytest.FixtureRequest) -> Iterator[ConsensusStrategy]:
    """Each strategy that grants anything, empty."""
    world = new_world()
    if request.param == "database":
        yield DatabaseConsensus(world.store.database.rows)
    else:
        yield LocalConsensus() if request.param == "local" else StepByStep()
    world.store.close()


def test_claim(leases: ConsensusStrategy) -> None:
    """Both slots must be empty; a claim is named before an owner (RS-202)."""
    assert leases.claim("r", A, NOW) == Granted(NOW)
    assert leases.claim("r", A, NOW) == Rejected("already_claimed")
    assert leases.claim("r", B, NOW) == Rejected("already_claimed")
    assert leases.claim("other", B, NOW) == Granted(NOW)
    leases.activate("r", A, NOW, NOW)
    assert leases.claim("r", B, NOW) == Rejected("owner_held")
    leases.steal("r", B, LATER, evidence(A, LATER))
    assert leases.claim("r", C, NOW) == Rejected("already_claimed")


def test_activate(leases: ConsensusStrategy) -> None:
    """Exactly the claim is turned into ownership, once (RS-203)."""
    leases.claim("r", A, NOW)

    assert not leases.activate("r", B, NOW, NOW)
    assert not leases.activate("r", A, NOW + 1, NOW)
    assert not leases.activate("missing", A, NOW, NOW)
    assert not leases.holds("r", A)
    assert leases.activate("r", A, NOW, NOW + 5)
    assert leases.holds("r", A)
    assert not leases.activate("r", A, NOW, NOW)


def test_activate_replaces_the_owner(leases: ConsensusStrategy) -> None:
    """Activation of a steal ends the previous ownership (RS-203)."""
    leases.take("r", A, NOW)
    leases.steal("r", B, LATER, evidence(A, LATER))
    leases.activate("r", B, LATER, LATER)

    assert (leases.holds("r", A), leases.holds("r", B)) == (False, True)


@pytest.mark.parametrize("operation", ["heartbeat", "reconfirm"])
def test_renew(leases: ConsensusStrategy, operation: str) -> None:
    """The stamp only rises; who claims, or is a stranger, has no lease (RS-204, RS-205)."""
    renew = getattr(leases, operation)
    leases.claim("claimed", A, NOW)
    leases.take("r", A, NOW)

    assert renew("r", A, NOW + 5) == Renewed(NOW + 5)
    assert renew("r", A, NOW + 3) == Renewed(NOW + 5)
    assert renew("r", B, NOW + 9) is None
    assert renew("claimed", A, NOW) is None
    assert renew("missing", A, NOW) is None


@pytest.mark.parametrize("thief", [A, B])
def test_pending_claim_stops_only_reconfirm(leases: ConsensusStrategy, thief: tenure.OwnerId) -> None:
    """Any claim does, even the owner's own (RS-204, RS-205)."""
    leases.take("r", A, NOW)
    leases.steal("r", thief, LATER, evidence(A, LATER))

    assert leases.reconfirm("r", A, LATER) is None
    assert leases.heartbeat("r", A, LATER) == Renewed(LATER)


def test_release(leases: ConsensusStrategy) -> None:
    """A holder gives up what it has, both slots if it has both, and nobody else's (RS-206)."""
    leases.take("r", A, NOW)
    leases.release("r", B)
    leases.release("missing", A)
    assert leases.holds("r", A)
    leases.steal("r", B, LATER, evidence(A, LATER))
    leases.release("r", A)
    assert not leases.holds("r", A)
    assert leases.claim("r", C, NOW) == Rejected("already_claimed")
    leases.release("r", B)
    assert leases.claim("r", C, NOW) == Granted(NOW)


def test_lease_row_after_a_release() -> None:
    """An emptied slot leaves nothing in its columns, and a lease with both empty leaves no row (RS-206, JN-123)."""
    world = new_world()
    leases = DatabaseConsensus(world.store.database.rows)

    def row() -> list[SqlRow]:
        return world.sql("SELECT * FROM flows_consensus_leases")

    leases.take("r", A, NOW)
    leases.steal("r", B, LATER, evidence(A, LATER))
    leases.release("r", A)
    claim_only = row()
    leases.release("r", B)
    nothing = row()
    leases.take("r", A, NOW)
    leases.steal("r", B, LATER, evidence(A, LATER))
    leases.release_claim("r", B)
    owner_only = row()
    leases.release("r", A)

    assert claim_only == [("r", None, None, None, None, None, "h1", 2, "b", LATER)]
    assert nothing == []
    assert owner_only == [("r", "h1", 1, "a", NOW, NOW, None, None, None, None)]
    assert row() == []


def test_release_of_both_slots(leases: ConsensusStrategy) -> None:
    """Who stole its own run and releases has nothing left (RS-206)."""
    leases.take("r", A, NOW)
    leases.steal("r", A, LATER, evidence(A, LATER))
    leases.release("r", A)

    assert leases.claim("r", B, NOW) == Granted(NOW)


def test_release_of_a_claim_under_an_owner(leases: ConsensusStrategy) -> None:
    """A thief's release leaves the owner (RS-206)."""
    leases.take("r", A, NOW)
    leases.steal("r", B, LATER, evidence(A, LATER))
    leases.release("r", B)

    assert leases.reconfirm("r", A, LATER) == Renewed(LATER)


def test_release_of_the_claim_alone(leases: ConsensusStrategy) -> None:
    """The claim slot is emptied, an ownership of the same identity kept (R-2)."""
    leases.take("r", A, NOW)
    leases.steal("r", A, LATER, evidence(A, LATER))
    leases.release_claim("r", B)
    assert leases.reconfirm("r", A, LATER) is None
    leases.release_claim("r", A)
    assert leases.reconfirm("r", A, LATER) == Renewed(LATER)
    leases.claim("claimed", A, NOW)
    leases.release_claim("claimed", A)
    assert leases.claim("claimed", B, NOW) == Granted(NOW)


def test_surrender(leases: ConsensusStrategy) -> None:
    """The owner gives up everything, a thief's claim included; nobody else can (RS-210, R-1)."""
    leases.take("r", A, NOW)
    leases.steal("r", B, LATER, evidence(A, LATER))
    leases.claim("claimed", A, NOW)

    assert not leases.surrender("r", B)
    assert not leases.surrender("claimed", A)
    assert not leases.surrender("missing", A)
    assert leases.surrender("r", A)
    assert leases.claim("r", C, NOW) == Granted(NOW)


def test_steal(leases: ConsensusStrategy) -> None:
    """Only a stale owner that the evidence names is stolen from, and stays until activation (RS-208)."""
    leases.take("r", A, NOW)
    leases.claim("claimed", A, NOW)

    assert leases.steal("r", B, LATER, evidence(A, LATER - 1)) == Rejected("evidence_invalid")
    cross_host = LivenessEvidence(A, LATER, "cross-host-unreachable-stale")
    assert leases.steal("r", B, LATER, cross_host) == Rejected("evidence_invalid")
    assert leases.steal("claimed", B, LATER, evidence(A, LATER)) == Rejected("already_claimed")
    assert leases.steal("missing", B, LATER, evidence(A, LATER)) == Rejected("evidence_invalid")
    assert leases.steal("r", B, LATER, evidence(C, LATER)) == Rejected("evidence_invalid")
    assert leases.steal("r", B, LATER - 1, evidence(A, LATER - 1)) == Rejected("owner_live")
    assert leases.steal("r", B, LATER, evidence(A, LATER)) == Granted(LATER)
    assert leases.steal("r", C, LATER, evidence(A, LATER)) == Rejected("already_claimed")
    assert leases.holds("r", A)


def test_recover(leases: ConsensusStrategy) -> None:
    """Exactly a stale claim is cleared, with or without an owner beside it (RS-209)."""
    leases.claim("r", A, NOW)
    leases.take("owned", A, NOW)
    leases.steal("owned", B, LATER, evidence(A, LATER))

    def recover(run_id: str, claimant: tenure.OwnerId, token: int, now: int) -> Rejected | None:
        return leases.recover(run_id, claimant, token, C, now, evidence(claimant, now))

    assert leases.recover("r", A, NOW, C, LATER, evidence(A, LATER - 1)) == Rejected("evidence_invalid")
    assert leases.recover("r", A, NOW, C, LATER, evidence(B, LATER)) == Rejected("evidence_invalid")
    assert recover("r", B, NOW, LATER) == Rejected("claim_changed")
    assert recover("r", A, NOW + 1, LATER) == Rejected("claim_changed")
    assert recover("missing", A, NOW, LATER) == Rejected("claim_changed")
    assert recover("r", A, NOW, LATER - 1) == Rejected("claim_fresh")
    assert recover("r", A, NOW, LATER) is None
    assert leases.claim("r", B, NOW) == Granted(NOW)
    assert recover("owned", B, LATER, LATER + STALE + 1) is None
    assert leases.reconfirm("owned", A, NOW) == Renewed(NOW)


@pytest.mark.parametrize("stranger", [tenure.OwnerId("h9", 1, "a"), tenure.OwnerId("h1", 9, "a"), A_AGAIN])
def test_every_part_of_an_identity_counts(leases: ConsensusStrategy, stranger: tenure.OwnerId) -> None:
    """Whoever differs in one part holds neither the claim nor the lease (RS-004)."""
    leases.claim("claimed", A, NOW)
    leases.take("owned", A, NOW)

    assert not leases.activate("claimed", stranger, NOW, NOW)
    leases.release_claim("claimed", stranger)
    leases.release("claimed", stranger)
    refusal = leases.recover("claimed", stranger, NOW, C, LATER, evidence(stranger, LATER))
    assert refusal == Rejected("claim_changed")
    assert leases.activate("claimed", A, NOW, NOW)
    assert leases.heartbeat("owned", stranger, NOW) is None
    assert leases.reconfirm("owned", stranger, NOW) is None
    assert not leases.holds("owned", stranger)
    assert not leases.surrender("owned", stranger)
    assert leases.steal("owned", B, LATER, evidence(stranger, LATER)) == Rejected("evidence_invalid")
    assert not leases.seize("owned", B, LATER, evidence(stranger, LATER))
    leases.release("owned", stranger)
    assert not leases.retake("owned", stranger, LATER)
    assert leases.holds("owned", A)


def test_guard(leases: ConsensusStrategy) -> None:
    """The owner passes however stale it is and whatever claim is pending; others are told (RS-210, RS-211)."""
    leases.take("r", A, 0)
    leases.steal("r", B, LATER, evidence(A, LATER))
    leases.guard("r", A)

    with pytest.raises(ConsensusError) as caught:
        leases.guard("r", B)

    assert caught.value.code == "fence_lost"
    assert str(caught.value) == "run r is no longer owned by h1:2:b"


def test_take(leases: ConsensusStrategy) -> None:
    """An unowned, unclaimed run is owned in one decision (RS-463)."""
    leases.claim("claimed", A, NOW)

    assert leases.take("r", A, NOW)
    assert leases.holds("r", A)
    assert not leases.take("r", A, NOW)
    assert not leases.take("r", B, NOW)
    assert not leases.take("claimed", A, NOW)


def test_retake(leases: ConsensusStrategy) -> None:
    """One's own run is owned anew, also where its lease was lost (RS-463, RS-220)."""
    leases.take("r", A, NOW)

    assert leases.retake("r", A, LATER)
    assert leases.steal("r", B, LATER, evidence(A, LATER)) == Rejected("owner_live")
    assert leases.retake("missing", A, NOW)
    assert leases.holds("missing", A)


def test_refused_retake_changes_nothing(leases: ConsensusStrategy) -> None:
    """Neither another's claim nor another's ownership gives way, and the own lease stays (R-4)."""
    leases.take("r", A, NOW)
    leases.take("claimed", A, NOW)
    leases.steal("claimed", B, LATER, evidence(A, LATER))

    assert not leases.retake("r", B, LATER)
    assert leases.holds("r", A)
    assert not leases.retake("claimed", A, LATER)
    # Made of its steps it relies on the store's rollback, which a strategy outside the database does not have.
    assert leases.holds("claimed", A) or isinstance(leases, StepByStep)


def test_seize(leases: ConsensusStrategy) -> None:
    """Another's stale run is owned in one decision (RS-463)."""
    leases.take("r", A, NOW)

    assert not leases.seize("r", B, LATER, evidence(A, LATER - 1))
    assert not leases.seize("r", B, LATER - 1, evidence(A, LATER - 1))
    assert not leases.seize("r", B, LATER, evidence(C, LATER))
    assert not leases.seize("missing", B, LATER, evidence(A, LATER))
    assert leases.seize("r", B, LATER, evidence(A, LATER))
    assert (leases.holds("r", A), leases.holds("r", B)) == (False, True)
    leases.steal("r", C, LATER + STALE + 1, evidence(B, LATER + STALE + 1))
    assert not leases.seize("r", A, LATER + STALE + 1, evidence(B, LATER + STALE + 1))


class SpentGrant(LocalConsensus):
    """Grants claims and loses every activation."""

    take = ConsensusStrategy.take

    def activate(self, run_id: str, claimant: tenure.OwnerId, granted_at_ms: int, now_ms: int) -> bool:
        return False


def test_lost_activation_releases_the_claim() -> None:
    """A claim whose activation is lost is given back (RS-464)."""
    leases = SpentGrant()

    assert not leases.take("r", A, NOW)
    assert leases.claim("r", B, NOW) == Granted(NOW)


def test_noop() -> None:
    """The strategy without leases refuses everything (RS-212)."""
    leases = NoopConsensus()

    assert leases.claim("r", A, NOW) == Rejected("unavailable")
    assert leases.steal("r", A, NOW, evidence()) == Rejected("unavailable")
    assert leases.recover("r", A, NOW, B, NOW, evidence()) == Rejected("unavailable")
    assert not leases.activate("r", A, NOW, NOW)
    assert leases.heartbeat("r", A, NOW) is None
    assert leases.reconfirm("r", A, NOW) is None
    assert not leases.surrender("r", A)
    assert not leases.take("r", A, NOW)
    assert not leases.retake("r", A, NOW)
    assert not leases.seize("r", A, NOW, evidence())
    leases.release("r", A)
    leases.release_claim("r", A)
    with pytest.raises(ConsensusError):
        leases.guard("r", A)


def test_store_over_the_noop_strategy() -> None:
    """Nothing is ever granted, and every refusal leaves the database as it was (RS-453, RS-463)."""
    world = new_world(consensus=NoopConsensus())
    world.runs.create("r", "{}")
    with unchanged(world):
        assert world.runs.claim("r", tenure.PENDING, A, NOW) == SNAPSHOT_CHANGED
        assert world.runs.claim_and_own("r", tenure.PENDING, A, NOW) == SNAPSHOT_CHANGED
        assert world.runs.activate("r", A, NOW, tenure.PENDING) == CLAIM_LOST
        assert world.runs.heartbeat("r", A, NOW) == FENCE_LOST
        assert world.runs.transition_owned("r", A, "completed") == FENCE_LOST


def test_store_over_the_local_strategy() -> None:
    """The same run of a life as over the database, without a lease row (RS-212)."""
    world = new_world(consensus=LocalConsensus())
    snapshot, token = world.stolen()

    assert world.runs.activate("r", B, token, snapshot) == ACTIVATED
    assert world.runs.heartbeat("r", A, NOW) == FENCE_LOST
    assert world.runs.heartbeat("r", B, NOW) == UPDATED
    assert world.runs.transition_owned("r", B, "running", "[]") == TRANSITIONED
    assert world.runs.transition_owned("r", B, "suspended") == TRANSITIONED
    assert world.runs.claim("r", tenure.SUSPENDED, C, NOW) == tenure.Claimed(NOW)
    assert world.lease() is None


def test_local_strategy_is_not_transactional() -> None:
    """What a transaction was granted stays granted when it rolls back (RS-212, H-24)."""
    world = new_world(consensus=LocalConsensus())
    world.runs.create("r", "{}")

    def rolled_back() -> None:
        with world.store.transaction():
            assert world.runs.claim("r", tenure.PENDING, A, NOW) == tenure.Claimed(NOW)
            raise LookupError

    with pytest.raises(LookupError):
        rolled_back()

    assert world.row().claim is None
    with unchanged(world):
        assert world.runs.claim("r", tenure.PENDING, B, NOW) == SNAPSHOT_CHANGED
