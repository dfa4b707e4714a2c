"""Small worlds, each reached by public operations, for every table of these tests to start from.

All speak of one run, ``r``, created at ``T``; ``ALICE`` and ``BOB`` live on one host, ``CAROL`` on another. ``LATE`` is
the first instant at which a stamp of ``T`` is stale.
"""

from typing import Final

from tenure_model.semantics.commands import Command, apply
from tenure_model.semantics.profiles import REFERENCE, Profile
from tenure_model.semantics.steps import Outcome, Step
from tenure_model.semantics.world import World, empty_world
from tenure_model.vocabulary.evidence import EvidenceKind, LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import PENDING, SUSPENDED, RunSnapshot

T: Final = 1_000_000
LATE: Final = T + 30_001

ALICE: Final = OwnerId("h1", 1, "a")
BOB: Final = OwnerId("h1", 2, "b")
CAROL: Final = OwnerId("h2", 3, "c")

ALICE_AT_T: Final = RunSnapshot("running", ALICE, T)


def call(world: World, operation: str, clock_ms: float = T, /, **arguments: object) -> Step:
    """One command; arguments go by wire name."""
    return apply(world, Command(operation, arguments, clock_ms))


def after(world: World, operation: str, expected: Outcome, clock_ms: float = T, /, **arguments: object) -> World:
    """The world after a command that must have this outcome."""
    step = call(world, operation, clock_ms, **arguments)

    assert step.outcome == expected
    return step.world


def expired(owner: OwnerId, at_ms: int) -> LivenessEvidence:
    """Evidence that passes from any host."""
    return evidence(owner, at_ms, "lease-expired")


def evidence(owner: OwnerId, at_ms: int, kind: EvidenceKind) -> LivenessEvidence:
    """Evidence of any kind."""
    return LivenessEvidence(owner, at_ms, kind)


def pending(profile: Profile = REFERENCE) -> World:
    """``r`` is pending and unclaimed."""
    return call(empty_world(profile), "run.create", runId="r", stateJson="{}").world


def claimed(profile: Profile = REFERENCE) -> World:
    """``r`` is pending, claimed by BOB at ``T``."""
    return call(pending(profile), "run.claim", runId="r", expected=PENDING, claimant=BOB, nowMs=T).world


def running(profile: Profile = REFERENCE) -> World:
    """``r`` is running, owned by ALICE since ``T``, stamp ``T``."""
    return call(pending(profile), "run.claimAndOwn", runId="r", expected=PENDING, owner=ALICE, nowMs=T).world


def requested(profile: Profile = REFERENCE) -> World:
    """As ``running``, with a cancellation request made at ``T + 5``."""
    return call(running(profile), "run.requestCancel", runId="r", nowMs=T + 5).world


def stolen(profile: Profile = REFERENCE) -> World:
    """As ``running``, stale, with a claim of BOB at ``LATE``."""
    return steal_by(running(profile), BOB)


def self_stolen(profile: Profile = REFERENCE) -> World:
    """As ``running``, stale, with a claim of its own owner at ``LATE`` (RS-513)."""
    return steal_by(running(profile), ALICE)


def steal_by(world: World, claimant: OwnerId) -> World:
    """ALICE's stale run with a claim of ``claimant`` at ``LATE``."""
    return call(
        world,
        "run.steal",
        LATE,
        runId="r",
        expected=ALICE_AT_T,
        claimant=claimant,
        nowMs=LATE,
        evidence=expired(ALICE, LATE),
    ).world


def suspended(profile: Profile = REFERENCE) -> World:
    """``r`` ran under ALICE and is suspended."""
    return call(running(profile), "run.transitionOwned", runId="r", owner=ALICE, toStatus="suspended").world


def suspended_claimed(profile: Profile = REFERENCE) -> World:
    """``r`` is suspended, claimed by BOB at ``T``."""
    return call(suspended(profile), "run.claim", runId="r", expected=SUSPENDED, claimant=BOB, nowMs=T).world


def settled(profile: Profile = REFERENCE) -> World:
    """``r`` ran under ALICE and completed at ``T + 7``."""
    return call(running(profile), "run.transitionOwned", T + 7, runId="r", owner=ALICE, toStatus="completed").world
