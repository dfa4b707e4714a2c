"""``claimAndOwn``: claim and activate in one compare-and-swap, over an unowned, an own or a dead owner's run."""

from typing import Final, Literal

import attrs

from tenure_model.admission.integers import admit_lease_reading
from tenure_model.admission.records import admit_evidence, admit_owner, admit_run_id, admit_snapshot
from tenure_model.admission.refusal import Refusal
from tenure_model.semantics import facts, lease, revisions
from tenure_model.semantics.predicates import claim_free, is_stale, matches_evidence, row_is, same_owner
from tenure_model.semantics.runs.losses import classify_loss
from tenure_model.semantics.steps import Outcome, Step, answered, committed, refused, unchanged
from tenure_model.semantics.world import Run, World
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.outcomes import Activated, EvidenceRequired, SnapshotChanged
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import RunSnapshot

METHOD: Final = "claimAndOwn"


def claim_and_own(
    world: World,
    clock_ms: int,
    run_id: object,
    expected: object,
    owner: object,
    now_ms: object,
    evidence: object = ABSENT,
) -> Step:
    """Own a row that is exactly as expected, unclaimed, and not running or stale; ``now_ms`` is the first heartbeat.

    Admits run id, snapshot, owner, lease reading and, if supplied, evidence, in that order, the evidence also where it
    will be ignored (RS-460). Replacing another running owner without matching evidence is answered from a plain read:
    the loss by RS-456, or ``EvidenceRequired`` where evidence is all that is missing (RS-461). Not admitted: the loss
    by RS-456, so one's own fresh run is ``HeartbeatFresh`` too (RS-462). Refused by the lease: ``SnapshotChanged``
    (RS-463). Else ``Activated`` (RS-465). Evidence counts only where another running owner is replaced (RS-466).
    """
    if isinstance(run_id := admit_run_id(run_id), Refusal):
        return refused(world, METHOD, run_id)
    if isinstance(expected := admit_snapshot(expected), Refusal):
        return refused(world, METHOD, expected)
    if isinstance(owner := admit_owner(owner, "owner"), Refusal):
        return refused(world, METHOD, owner)
    if isinstance(now_ms := admit_lease_reading(now_ms, clock_ms, run_id), Refusal):
        return refused(world, METHOD, now_ms)
    supplied = None if evidence is ABSENT else admit_evidence(evidence)
    if isinstance(supplied, Refusal):
        return refused(world, METHOD, supplied)

    run = world.runs.get(run_id)
    target = None if same_owner(expected.owner, owner) else expected.owner
    if target is not None and (supplied is None or not matches_evidence(target, owner, now_ms, supplied)):
        return answered(world, _loss_without_evidence(run, expected, now_ms))
    if run is None or not _admits(run, expected, now_ms):
        return unchanged(world, classify_loss(run, now_ms))
    if expected.owner is None:
        return _own_unowned(world, run, owner, now_ms)
    if target is None or supplied is None:
        return _own_again(world, run, owner, now_ms)
    return _take_over(world, run, owner, now_ms, supplied)


def _admits(run: Run, expected: RunSnapshot, now_ms: int) -> bool:
    """Whether the row can be owned: pending, suspended or running and stale, as expected, unclaimed (RS-462)."""
    return (
        run.status in ("pending", "suspended", "running")
        and row_is(run, expected)
        and claim_free(run)
        and (run.status != "running" or is_stale(run.heartbeat_at_ms, now_ms))
    )


def _loss_without_evidence(run: Run | None, expected: RunSnapshot, now_ms: int) -> Outcome:
    """The loss that stands before evidence is spoken of, else that evidence is what is missing (RS-461)."""
    loss = classify_loss(run, now_ms)
    if run is not None and loss == SnapshotChanged() and row_is(run, expected):
        return EvidenceRequired()
    return loss


def _own_unowned(world: World, run: Run, owner: OwnerId, now_ms: int) -> Step:
    """Nobody owns the run: an ordinary claim on the lease (RS-463)."""
    leased = lease.claim(world, run.run_id, owner, now_ms)
    if not isinstance(leased, World):
        return unchanged(world, classify_loss(run, now_ms))
    return _activated(world, leased, run, "claimed", owner, now_ms)


def _own_again(world: World, run: Run, owner: OwnerId, now_ms: int) -> Step:
    """The caller's own stale run: give the old ownership back, with its fact, then claim anew (RS-463).

    Where the lease refuses that claim, ``original`` keeps the release and its fact; R-4 undoes both.
    """
    released = lease.release(world, run.run_id, owner)
    released = facts.record(released, run.run_id, "released", owner, None)
    leased = lease.claim(released, run.run_id, owner, now_ms)
    if isinstance(leased, World):
        return _activated(world, leased, run, "claimed", owner, now_ms)
    loss = classify_loss(run, now_ms)
    if "R-4" in world.profile.repairs:
        return committed(world, world, METHOD, loss, fired=frozenset({"R-4"}))
    return committed(world, released, METHOD, loss)


def _take_over(world: World, run: Run, owner: OwnerId, now_ms: int, evidence: LivenessEvidence) -> Step:
    """Another owner's stale run, with evidence about that owner: a steal on the lease (RS-463)."""
    leased = lease.steal(world, run.run_id, owner, now_ms, evidence)
    if not isinstance(leased, World):
        return unchanged(world, classify_loss(run, now_ms))
    return _activated(world, leased, run, "stolen", owner, now_ms)


def _activated(
    world: World, leased: World, run: Run, transition: Literal["claimed", "stolen"], owner: OwnerId, now_ms: int
) -> Step:
    """Turn the claim just granted into ownership, on lease and row, and record both facts (RS-465).

    The lease cannot lose a claim that was stored in this very transaction, so the loss of RS-464 does not arise.
    """
    after = lease.install(leased, run.run_id, owner, now_ms, now_ms)
    after = facts.record(after, run.run_id, transition, owner, now_ms)
    after = facts.record(after, run.run_id, "activated", owner, now_ms)
    after = revisions.update_run(
        after,
        attrs.evolve(
            run,
            status="running",
            started_at_ms=now_ms if run.started_at_ms is None else run.started_at_ms,
            finished_at_ms=None,
            owner=owner,
            heartbeat_at_ms=now_ms,
        ),
    )
    return committed(world, after, METHOD, Activated())
