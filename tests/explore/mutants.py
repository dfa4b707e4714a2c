"""Wrong models, each wrong in one place: what the explorer must find."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias

import attrs

from tenure_model.explore.scope import EVERY_OPERATION, WRITE_LEASE, WRITE_ROW, Participant, Scope, honest
from tenure_model.explore.scopes import LINEAGE
from tenure_model.semantics import facts, lease, revisions
from tenure_model.semantics.commands import Command, apply
from tenure_model.semantics.predicates import is_stale, row_is
from tenure_model.semantics.steps import Outcome, Step
from tenure_model.semantics.world import Acknowledgement, Change, Claim, Lease, Run, World, with_lease, without_lease
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.constants import HEARTBEAT_STALE_AFTER_MS
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.outcomes import (
    Abandoned,
    Activated,
    AlreadyClaimed,
    AlreadyRequested,
    CancelRequested,
    ClaimChanged,
    Claimed,
    ClaimFresh,
    ClaimLost,
    EvidenceRequired,
    FenceLost,
    GuardFailed,
    HeartbeatFresh,
    LivenessUnconfirmed,
    NotFound,
    Recovered,
    SnapshotChanged,
    Transitioned,
    Updated,
)
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import CancelGuard, TransitionGuard

Apply: TypeAlias = Callable[[World, Command], Step]

RUN: Final = "r"
"""The run that mutants go wrong about."""

TWO_OWNERS: Final = Scope(
    "two-owners",
    (Participant(OwnerId("a", 1, "a1"), honest(0, -1)), Participant(OwnerId("b", 1, "b1"), honest(0))),
    advances=(HEARTBEAT_STALE_AFTER_MS + 1,),
)
"""Two hosts, an owner each, one of them with a clock that may go back."""

LEASE_IN_HAND: Final = attrs.evolve(TWO_OWNERS, name="lease-in-hand", operations=EVERY_OPERATION | {WRITE_LEASE})
"""The same, where a hand may change or lose the lease: row and lease come to say different things."""

ROW_IN_HAND: Final = attrs.evolve(TWO_OWNERS, name="row-in-hand", operations=EVERY_OPERATION | {WRITE_ROW})
"""The same, where a hand may put an owner or a claim into the row."""


def after(operations: str, outcome: object, change: Callable[[World, Command, Step], Step | World | None]) -> Apply:
    """The model, but that these operations, where they answer so about the run, go on to a changed step or world.

    ``operations`` are names without their ``run.``; ``outcome`` is a class or a value; no change is ``None``.
    """
    names = {f"run.{name}" for name in operations.split()}

    def changed(world: World, command: Command) -> Step:
        step = apply(world, command)
        answered = isinstance(step.outcome, outcome) if isinstance(outcome, type) else step.outcome is outcome
        if command.operation not in names or not answered or said(command)["runId"] != RUN:
            return step
        other = change(world, command, step)
        if other is None:
            return step
        return attrs.evolve(step, world=other) if isinstance(other, World) else other

    return changed


def refusing(operation: str, outcome: Outcome) -> Apply:
    """The model, but that one operation never does anything and answers this."""

    def refused(world: World, command: Command) -> Step:
        return wrote(world, outcome) if command.operation == operation else apply(world, command)

    return refused


def said(command: Command) -> Mapping[str, Any]:
    """The arguments of a command that the model admitted: they have the types they should have."""
    return command.arguments


def wrote(world: World, outcome: Outcome) -> Step:
    """A step that wrote this world and answered this."""
    return attrs.evolve(apply(world, Command("run.get", {"runId": RUN}, 0)), world=world, outcome=outcome)


def with_row(world: World, **columns: Any) -> World:
    """The world with other columns in the run's row, and a revision for it."""
    return revisions.update_run(world, attrs.evolve(world.runs[RUN], **columns))


def with_unspent_row(world: World, run: Run) -> World:
    """The world with another row, without a revision for it."""
    return attrs.evolve(world, runs={**world.runs, RUN: run})


def lease_of(world: World) -> Lease:
    """The lease of the run, empty where there is none."""
    return world.leases.get(RUN, Lease(None, None))


def _keeps_the_old_owner(world: World, _: Command, step: Step) -> World | None:
    old, new = lease_of(world).ownership, lease_of(step.world).ownership
    if old is None or new is None:
        return None
    return with_lease(step.world, RUN, Lease(attrs.evolve(new, owner=old.owner), None))


def _forgets_the_rows_stamp(world: World, _: Command, step: Step) -> World:
    return with_unspent_row(step.world, world.runs[RUN])


def _forgets_the_rows_claim(world: World, _: Command, step: Step) -> World:
    return with_unspent_row(step.world, world.runs[RUN])


def _keeps_the_leases_claim(world: World, _: Command, step: Step) -> World:
    return attrs.evolve(step.world, leases=world.leases)


def _only_the_status(world: World, command: Command, _: Step) -> World | None:
    return with_row(world, status="suspended") if said(command)["toStatus"] == "suspended" else None


def _keeps_the_stamp(world: World, command: Command, step: Step) -> World | None:
    stamp_ms, after = world.runs[RUN].heartbeat_at_ms, step.world.runs[RUN]
    return (
        None if after.owner is not None else with_unspent_row(step.world, attrs.evolve(after, heartbeat_at_ms=stamp_ms))
    )


def _creates_what_is_missing(world: World, _: Command, __: Step) -> Step:
    made = apply(world, Command("run.create", {"runId": RUN, "stateJson": "{}"}, 0)).world
    return wrote(made, SnapshotChanged())


def _removes_settled_rounds(world: World, _: Command, step: Step) -> World:
    found = step.world
    for run in world.runs.values():
        if run.finished_at_ms is not None:
            found = revisions.delete_run(found, run.run_id)
    return found


def _removes_what_is_completed(_: World, command: Command, step: Step) -> World | None:
    return revisions.delete_run(step.world, RUN) if said(command)["toStatus"] == "completed" else None


def rewriting_settled_rounds(**columns: Any) -> Apply:
    """``requestCancelLineage`` writes other columns to rounds that are settled."""

    def rewritten(world: World, _: Command, step: Step) -> World:
        found = step.world
        for run in world.runs.values():
            if run.status == "completed":
                found = revisions.update_run(found, attrs.evolve(run, **columns))
        return found

    return after("requestCancelLineage", CancelRequested, rewritten)


def owns_settled_runs(world: World, command: Command) -> Step:
    """``claimAndOwn`` takes a settled run for a suspended one."""
    run = world.runs.get(RUN)
    if command.operation != "run.claimAndOwn" or run is None or run.finished_at_ms is None:
        return apply(world, command)
    step = apply(with_unspent_row(world, attrs.evolve(run, status="suspended")), command)
    return step if isinstance(step.outcome, Activated) else apply(world, command)


def _writes_late_state(world: World, command: Command, step: Step) -> World | None:
    run, text = world.runs[RUN], said(command).get("stateJson", ABSENT)
    return None if text is ABSENT or run.finished_at_ms is None else with_row(world, state_json=text)


def _stamps_what_it_is_told(world: World, command: Command, step: Step) -> World:
    now_ms, held = said(command)["nowMs"], lease_of(world)
    assert isinstance(now_ms, int)
    assert held.ownership is not None
    stamped = with_lease(world, RUN, Lease(attrs.evolve(held.ownership, heartbeat_at_ms=now_ms), held.claim))
    return with_row(stamped, heartbeat_at_ms=now_ms)


def _requests_again(world: World, command: Command, _: Step) -> Step:
    now_ms = said(command)["nowMs"]
    return wrote(with_row(world, cancel_requested_at_ms=now_ms), CancelRequested(now_ms))


def _acknowledges_again(_: World, command: Command, step: Step) -> World:
    owner, now_ms = said(command)["owner"], said(command)["nowMs"]
    return with_unspent_row(
        step.world, attrs.evolve(step.world.runs[RUN], acknowledgement=Acknowledgement(now_ms, owner))
    )


def _requests_other_rounds_again(world: World, command: Command, step: Step) -> World:
    found = step.world
    for run in world.runs.values():
        if run.cancel_requested_at_ms is not None and run.run_id != RUN:
            found = revisions.update_run(found, attrs.evolve(run, cancel_requested_at_ms=said(command)["nowMs"]))
    return found


def claims(world: World, claimant: OwnerId, token_ms: int, transition: Literal["claimed", "stolen"]) -> Step:
    """A claim is laid, whoever owns the run, on row and lease, and told."""
    claim = Claim(claimant, token_ms)
    claimed = with_row(with_lease(world, RUN, Lease(lease_of(world).ownership, claim)), claim=claim)
    return wrote(facts.record(claimed, RUN, transition, claimant, token_ms), Claimed(token_ms))


def owns(world: World, claimant: OwnerId, token_ms: int, stamp_ms: int) -> Step:
    """Somebody owns the run, on row and lease, whatever stood; both facts are told."""
    leased = lease.install(world, RUN, claimant, token_ms, stamp_ms)
    owned = with_row(
        leased, status="running", finished_at_ms=None, owner=claimant, heartbeat_at_ms=stamp_ms, claim=None
    )
    told = facts.record(owned, RUN, "claimed", claimant, token_ms)
    return wrote(facts.record(told, RUN, "activated", claimant, token_ms), Activated())


def clears(world: World, transition: Literal["expired", "released"]) -> World:
    """The claim that stands is gone from row and lease, and that is told."""
    claim = world.runs[RUN].claim
    assert claim is not None
    cleared = with_row(lease.drop_claim(world, RUN), claim=None)
    return facts.record(cleared, RUN, transition, claim.claimant, claim.claimed_at_ms)


def _steals_from_the_living(world: World, command: Command, _: Step) -> Step | None:
    run = world.runs[RUN]
    if not row_is(run, said(command)["expected"]) or run.claim is not None:
        return None
    return claims(world, said(command)["claimant"], said(command)["nowMs"], "stolen")


def _steals_with_a_later_token(world: World, command: Command, _: Step) -> Step | None:
    run = world.runs[RUN]
    if not row_is(run, said(command)["expected"]) or run.claim is not None or run.heartbeat_at_ms is None:
        return None
    return claims(world, said(command)["claimant"], run.heartbeat_at_ms + HEARTBEAT_STALE_AFTER_MS + 1, "stolen")


def _steals_whatever_the_proof(world: World, command: Command, _: Step) -> Step | None:
    run, now_ms = world.runs.get(RUN), said(command)["nowMs"]
    if run is None or run.claim is not None or not is_stale(run.heartbeat_at_ms, now_ms):
        return None
    return claims(world, said(command)["claimant"], now_ms, "stolen")


def _takes_over_without_proof(world: World, command: Command, _: Step) -> Step:
    now_ms = said(command)["nowMs"]
    return owns(world, said(command)["owner"], now_ms, now_ms)


def _takes_over_the_living(world: World, command: Command, _: Step) -> Step | None:
    run, proof, now_ms = world.runs[RUN], said(command).get("evidence"), said(command)["nowMs"]
    if not isinstance(proof, LivenessEvidence) or (proof.expected_owner, proof.checked_at_ms) != (run.owner, now_ms):
        return None
    return owns(world, said(command)["owner"], now_ms, now_ms) if run.claim is None else None


def _claims_later(world: World, command: Command, _: Step) -> Step:
    return claims(world, said(command)["claimant"], said(command)["nowMs"] + 1, "claimed")


def _claims_for_the_other(world: World, command: Command, _: Step) -> Step:
    return claims(world, other_than(said(command)["claimant"]), said(command)["nowMs"], "claimed")


def _claims_what_it_recovered(_: World, command: Command, step: Step) -> World:
    return claims(step.world, said(command)["observer"], said(command)["nowMs"], "claimed").world


def _owns_what_it_claimed(world: World, command: Command, _: Step) -> Step:
    now_ms = said(command)["nowMs"]
    return attrs.evolve(owns(world, said(command)["claimant"], now_ms, now_ms), outcome=Claimed(now_ms))


def _owns_for_the_other(world: World, command: Command, step: Step) -> Step | None:
    now_ms = said(command)["nowMs"]
    return owns(world, other_than(said(command)["owner"]), now_ms, now_ms) if world.runs[RUN].owner is None else None


def _owns_by_another_token(world: World, command: Command, step: Step) -> Step:
    now_ms = said(command)["nowMs"]
    return owns(world, said(command)["owner"], now_ms + 1, now_ms)


def other_than(owner: OwnerId) -> OwnerId:
    """The other of the two owners."""
    one, two = TWO_OWNERS.owners
    return two if owner == one else one


def owns_under_a_claim(world: World, command: Command) -> Step:
    """``claimAndOwn`` looks at no claim, and leaves the one that stands."""
    run = world.runs.get(RUN)
    if command.operation != "run.claimAndOwn" or run is None or run.claim is None or run.owner is not None:
        return apply(world, command)
    unclaimed = lease.drop_claim(with_unspent_row(world, attrs.evolve(run, claim=None)), RUN)
    step = apply(unclaimed, command)
    if not isinstance(step.outcome, Activated):
        return apply(world, command)
    owned = with_unspent_row(step.world, attrs.evolve(step.world.runs[RUN], claim=run.claim))
    owned = with_lease(owned, RUN, Lease(lease_of(owned).ownership, run.claim))
    claimant, token_ms = run.claim.claimant, run.claim.claimed_at_ms
    return attrs.evolve(step, world=facts.record(owned, RUN, "claimed", claimant, token_ms))


def _gives_the_run_back_too(_: World, command: Command, step: Step) -> World | None:
    owner = step.world.runs[RUN].owner
    if owner is None:
        return None
    released = lease.release(step.world, RUN, owner)
    suspended = attrs.evolve(released.runs[RUN], status="suspended", owner=None, heartbeat_at_ms=None)
    return facts.record(with_unspent_row(released, suspended), RUN, "released", owner, None)


def _recovers_anyway(world: World, command: Command, _: Step) -> Step:
    return wrote(clears(world, "expired"), Recovered())


def _recovers_whatever_the_proof(world: World, command: Command, _: Step) -> Step | None:
    run = world.runs.get(RUN)
    if run is None or run.claim != Claim(said(command)["staleClaimant"], said(command)["claimedAtMs"]):
        return None
    stale = is_stale(run.claim.claimed_at_ms, said(command)["nowMs"])
    return wrote(clears(world, "expired"), Recovered()) if stale else None


def _recovers_whatever_the_token(world: World, command: Command, _: Step) -> Step | None:
    claim = world.runs[RUN].claim
    if claim is None or claim.claimant != said(command)["staleClaimant"]:
        return None
    stale = is_stale(claim.claimed_at_ms, said(command)["nowMs"])
    return wrote(clears(world, "expired"), Recovered()) if stale else None


def _abandons_whatever_the_token(world: World, command: Command, _: Step) -> Step | None:
    run = world.runs.get(RUN)
    if run is None or run.claim is None or run.claim.claimant != said(command)["claimant"]:
        return None
    return wrote(clears(world, "released"), Abandoned())


def _ends_a_claim_by_its_token(outcome: Abandoned | Recovered) -> Callable[[World, Command, Step], Step | None]:
    """Whoever knows the token of a claim ends it, whoever claims; a recovery waits until it is stale."""

    def ends(world: World, command: Command, _: Step) -> Step | None:
        run, now_ms = world.runs.get(RUN), said(command).get("nowMs")
        if run is None or run.claim is None or run.claim.claimed_at_ms != said(command)["claimedAtMs"]:
            return None
        if now_ms is not None and not is_stale(run.claim.claimed_at_ms, now_ms):
            return None
        return wrote(clears(world, "expired"), outcome)

    return ends


def _clears_while_running(_: World, command: Command, step: Step) -> World | None:
    after = step.world.runs[RUN]
    return None if after.status != "running" or after.claim is None else clears(step.world, "released")


def _clears_the_claim(_: World, command: Command, step: Step) -> World | None:
    return None if step.world.runs[RUN].claim is None else clears(step.world, "released")


def _moves_whatever_the_guard(cancel: CancelGuard) -> Callable[[World, Command, Step], Step | None]:
    def moves(world: World, command: Command, _: Step) -> Step | None:
        arguments = {name: value for name, value in said(command).items() if name != "guard"}
        guarded = said(command)["guard"] == TransitionGuard(cancel)
        return apply(world, attrs.evolve(command, arguments=arguments)) if guarded else None

    return moves


def _claims_over(world: World, command: Command, _: Step) -> Step | None:
    run = world.runs[RUN]
    if run.owner is not None or not row_is(run, said(command)["expected"]):
        return None
    return claims(world, said(command)["claimant"], said(command)["nowMs"], "claimed")


def _takes_facts_back(_: World, __: Command, step: Step) -> World:
    return attrs.evolve(step.world, facts={})


def _activates_the_unclaimed(world: World, command: Command, _: Step) -> Step | None:
    run = world.runs.get(RUN)
    if run is None or run.owner is not None or run.claim is not None or run.finished_at_ms is not None:
        return None
    return owns(world, said(command)["claimant"], said(command)["claimedAtMs"], int(command.clock_ms))


def _activates_and_tells_of_no_claim(world: World, command: Command, step: Step) -> Step | None:
    activated = _activates_the_unclaimed(world, command, step)
    if activated is None:
        return None
    told = attrs.evolve(activated.world, facts=world.facts)
    told = facts.record(told, RUN, "activated", said(command)["claimant"], said(command)["claimedAtMs"])
    return attrs.evolve(activated, world=told)


def _activates_again(world: World, command: Command, _: Step) -> Step | None:
    run, claimant = world.runs.get(RUN), said(command)["claimant"]
    if run is None or run.owner != claimant or run.claim is not None:
        return None
    return owns(world, claimant, said(command)["claimedAtMs"], int(command.clock_ms))


def _activates_over_an_owner(world: World, command: Command, _: Step) -> Step | None:
    run, claimant = world.runs.get(RUN), said(command)["claimant"]
    if run is None or run.owner in (None, claimant) or run.claim is not None:
        return None
    return owns(world, claimant, said(command)["claimedAtMs"], int(command.clock_ms))


def _activates_by_the_row(world: World, command: Command, _: Step) -> Step | None:
    run, claimant, token_ms = world.runs.get(RUN), said(command)["claimant"], said(command)["claimedAtMs"]
    if run is None or run.claim != Claim(claimant, token_ms):
        return None
    return owns(world, claimant, token_ms, int(command.clock_ms))


def _activates_by_the_lease(world: World, command: Command, _: Step) -> Step | None:
    claim = Claim(said(command)["claimant"], said(command)["claimedAtMs"])
    if RUN not in world.runs or lease_of(world).claim != claim:
        return None
    return owns(world, claim.claimant, claim.claimed_at_ms, int(command.clock_ms))


def _moves_by(*, row: bool) -> Callable[[World, Command, Step], Step | None]:
    """A transition that asks one of row and lease who owns the run, and not the other."""

    def moves(world: World, command: Command, _: Step) -> Step | None:
        run, held = world.runs.get(RUN), lease_of(world).ownership
        if run is None or (run.owner if row else None if held is None else held.owner) != said(command)["owner"]:
            return None
        moved = with_row(without_lease(world, RUN), status="suspended", owner=None, heartbeat_at_ms=None, claim=None)
        return wrote(facts.record(moved, RUN, "released", said(command)["owner"], None), Transitioned())

    return moves


def _moves_for_its_owner(world: World, command: Command, _: Step) -> Step | None:
    run = world.runs.get(RUN)
    owner = None if run is None else run.owner
    if owner is None:
        return None
    return apply(world, attrs.evolve(command, arguments={**command.arguments, "owner": owner}))


def _spends_no_revision(world: World, _: Command, step: Step) -> World:
    return attrs.evolve(step.world, revision=world.revision, changes=world.changes)


def _spends_one_revision(world: World, _: Command, step: Step) -> World:
    revision = step.world.revision
    return attrs.evolve(
        step.world,
        changes={
            run_id: attrs.evolve(change, revision=revision) if change != world.changes.get(run_id) else change
            for run_id, change in step.world.changes.items()
        },
    )


def _gives_a_revision_back(world: World, _: Command, step: Step) -> World | None:
    if step.world.runs[RUN] != world.runs[RUN]:
        return None
    return attrs.evolve(step.world, revision=world.revision - 1)


def _changes_ahead_of_the_source(_: World, __: Command, step: Step) -> World:
    changes = {**step.world.changes, RUN: Change(step.world.revision + 1, deleted=False)}
    return attrs.evolve(step.world, changes=changes)


def _tells_nothing(world: World, _: Command, step: Step) -> World:
    return attrs.evolve(step.world, facts=world.facts)


def _grants_its_own_clock(_: World, command: Command, step: Step) -> World:
    held = lease_of(step.world)
    assert held.ownership is not None
    granted = attrs.evolve(held.ownership, granted_at_ms=int(command.clock_ms) + 1)
    return with_lease(step.world, RUN, Lease(granted, held.claim))


def _tells_another_token(world: World, command: Command, step: Step) -> World:
    owner, told = said(command)["owner"], attrs.evolve(step.world, facts=world.facts)
    for transition in ("claimed", "activated"):
        told = facts.record(told, RUN, transition, owner, said(command)["nowMs"] + 1)
    return told


def _tells_no_claim(world: World, command: Command, step: Step) -> World:
    told = attrs.evolve(step.world, facts=world.facts)
    return facts.record(told, RUN, "activated", said(command)["owner"], said(command)["nowMs"])


def _answers(outcome: Outcome) -> Callable[[World, Command, Step], Step]:
    return lambda _, __, step: attrs.evolve(step, outcome=outcome)


def _gives_up_the_state_too(_: World, __: Command, step: Step) -> World:
    return with_row(step.world, state_json="{}x")


def _writes_nothing(world: World, _: Command, step: Step) -> Step:
    return attrs.evolve(step, world=world)


def _rewrites_the_row(world: World, _: Command, step: Step) -> World:
    return with_row(world)


def _drops_any_claim(world: World, command: Command, _: Step) -> World | None:
    run = world.runs.get(RUN)
    if run is None or run.claim is None:
        return None
    return clears(world, "expired")


@attrs.frozen
class Mutant:
    """A wrong model: the property it is wrong by, and the number of steps of the shortest counterexample.

    ``also`` are the other properties that the same going wrong breaks in as few steps, ``scope`` is where it shows.
    Where a hand breaks properties before the model does, ``alone`` has just the one be asked.
    """

    name: str
    property: str
    apply: Apply
    steps: int
    also: frozenset[str] = frozenset()
    scope: Scope = TWO_OWNERS
    alone: bool = False


MUTANTS: Final = (
    Mutant(
        "takeover-leaves-the-lease",
        "one-owner",
        after("claimAndOwn", Activated, _keeps_the_old_owner),
        4,
        frozenset({"owners-agree", "facts-tell"}),
    ),
    Mutant("heartbeat-forgets-the-row", "owners-agree", after("heartbeat", Updated, _forgets_the_rows_stamp), 3),
    Mutant("steal-forgets-the-row", "claims-agree", after("steal", Claimed, _forgets_the_rows_claim), 4),
    Mutant(
        "abandon-forgets-the-lease",
        "claims-agree",
        after("abandonClaim", Abandoned, _keeps_the_leases_claim),
        3,
        frozenset({"facts-tell"}),
    ),
    Mutant("suspend-keeps-the-owner", "running-is-owned", after("transitionOwned", Transitioned, _only_the_status), 3),
    Mutant(
        "suspend-keeps-the-stamp",
        "running-is-owned",
        after("transitionOwned", Transitioned, _keeps_the_stamp),
        3,
        frozenset({"owners-agree"}),
    ),
    Mutant(
        "claim-creates", "rows-stay", after("claim", NotFound, _creates_what_is_missing), 1, frozenset({"answers-tell"})
    ),
    Mutant(
        "lineage-removes-the-settled",
        "rows-stay",
        after("requestCancelLineage", CancelRequested, _removes_settled_rounds),
        5,
        scope=LINEAGE,
    ),
    Mutant(
        "completion-removes-the-run", "rows-stay", after("transitionOwned", Transitioned, _removes_what_is_completed), 3
    ),
    Mutant("lineage-ends-again", "terminal-stays", rewriting_settled_rounds(finished_at_ms=1), 5, scope=LINEAGE),
    Mutant(
        "lineage-cancels-the-settled", "terminal-stays", rewriting_settled_rounds(status="cancelled"), 5, scope=LINEAGE
    ),
    Mutant("settled-runs-are-claimable", "terminal-stays", owns_settled_runs, 4),
    Mutant(
        "settled-state-is-written",
        "terminal-stays",
        after("transitionOwned", FenceLost, _writes_late_state),
        4,
        frozenset({"answers-tell", "fenced", "guarded"}),
    ),
    Mutant("heartbeat-goes-back", "stamp-never-falls", after("heartbeat", Updated, _stamps_what_it_is_told), 3),
    Mutant("last-request-stands", "written-once", after("requestCancel", AlreadyRequested, _requests_again), 3),
    Mutant("last-acknowledgement-stands", "written-once", after("acknowledgeCancel", True, _acknowledges_again), 5),
    Mutant(
        "lineage-requests-again",
        "written-once",
        after("requestCancelLineage", CancelRequested, _requests_other_rounds_again),
        4,
        scope=LINEAGE,
    ),
    Mutant("own-under-a-claim", "owners-come-in", owns_under_a_claim, 3),
    Mutant("activate-the-unclaimed", "owners-come-in", after("activate", ClaimLost, _activates_the_unclaimed), 2),
    Mutant(
        "activate-untold-claims",
        "owners-come-in",
        after("activate", ClaimLost, _activates_and_tells_of_no_claim),
        2,
        frozenset({"facts-tell"}),
    ),
    Mutant("activate-again", "owners-come-in", after("activate", ClaimLost, _activates_again), 3),
    Mutant(
        "activate-over-an-owner",
        "owners-come-in",
        after("activate", ClaimLost, _activates_over_an_owner),
        3,
        frozenset({"no-theft", "evidence-first"}),
    ),
    Mutant(
        "activate-by-the-row",
        "owners-come-in",
        after("activate", ClaimLost, _activates_by_the_row),
        4,
        scope=LEASE_IN_HAND,
        alone=True,
    ),
    Mutant(
        "activate-by-the-lease",
        "owners-come-in",
        after("activate", ClaimLost, _activates_by_the_lease),
        3,
        scope=LEASE_IN_HAND,
        alone=True,
    ),
    Mutant("claim-owns-at-once", "owners-come-in", after("claim", Claimed, _owns_what_it_claimed), 2),
    Mutant("own-for-the-other", "owners-come-in", after("claimAndOwn", Activated, _owns_for_the_other), 2),
    Mutant("own-by-another-token", "owners-come-in", after("claimAndOwn", Activated, _owns_by_another_token), 2),
    Mutant("steal-from-the-living", "no-theft", after("steal", HeartbeatFresh, _steals_from_the_living), 3),
    Mutant(
        "steal-with-a-later-token",
        "no-theft",
        after("steal", HeartbeatFresh, _steals_with_a_later_token),
        3,
        frozenset({"claims-begin-well"}),
    ),
    Mutant("take-over-the-living", "no-theft", after("claimAndOwn", HeartbeatFresh, _takes_over_the_living), 3),
    Mutant("abandon-gives-the-run-back", "no-theft", after("abandonClaim", Abandoned, _gives_the_run_back_too), 5),
    Mutant("claim-with-a-later-token", "claims-begin-well", after("claim", Claimed, _claims_later), 2),
    Mutant("claim-for-the-other", "claims-begin-well", after("claim", Claimed, _claims_for_the_other), 2),
    Mutant("recovery-claims", "claims-begin-well", after("recoverClaim", Recovered, _claims_what_it_recovered), 4),
    Mutant("recover-a-fresh-claim", "claims-end-well", after("recoverClaim", ClaimFresh, _recovers_anyway), 3),
    Mutant(
        "recover-by-any-token", "claims-end-well", after("recoverClaim", ClaimChanged, _recovers_whatever_the_token), 4
    ),
    Mutant(
        "abandon-by-any-token", "claims-end-well", after("abandonClaim", ClaimLost, _abandons_whatever_the_token), 3
    ),
    Mutant(
        "abandon-by-anybody",
        "claims-end-well",
        after("abandonClaim", ClaimLost, _ends_a_claim_by_its_token(Abandoned())),
        3,
    ),
    Mutant(
        "recover-from-another",
        "claims-end-well",
        after("recoverClaim", ClaimChanged, _ends_a_claim_by_its_token(Recovered())),
        4,
        frozenset({"evidence-first"}),
    ),
    Mutant(
        "running-clears-the-claim", "claims-end-well", after("transitionOwned", Transitioned, _clears_while_running), 5
    ),
    Mutant(
        "request-clears-the-claim", "claims-end-well", after("requestCancel", CancelRequested, _clears_the_claim), 3
    ),
    Mutant("claim-over-a-claim", "claims-end-well", after("claim", AlreadyClaimed, _claims_over), 3),
    Mutant("steal-by-any-proof", "evidence-first", after("steal", LivenessUnconfirmed, _steals_whatever_the_proof), 4),
    Mutant(
        "steal-by-proof-about-another", "evidence-first", after("steal", SnapshotChanged, _steals_whatever_the_proof), 4
    ),
    Mutant("own-without-proof", "evidence-first", after("claimAndOwn", EvidenceRequired, _takes_over_without_proof), 4),
    Mutant(
        "recover-by-any-proof",
        "evidence-first",
        after("recoverClaim", LivenessUnconfirmed, _recovers_whatever_the_proof),
        4,
    ),
    Mutant(
        "absent-is-no-guard", "guarded", after("transitionOwned", GuardFailed, _moves_whatever_the_guard("absent")), 4
    ),
    Mutant(
        "present-is-no-guard", "guarded", after("transitionOwned", GuardFailed, _moves_whatever_the_guard("present")), 3
    ),
    Mutant(
        "strangers-transition",
        "fenced",
        after("transitionOwned", FenceLost, _moves_for_its_owner),
        3,
    ),
    Mutant(
        "transition-by-the-row",
        "fenced",
        after("transitionOwned", FenceLost, _moves_by(row=True)),
        4,
        scope=LEASE_IN_HAND,
        alone=True,
    ),
    Mutant(
        "transition-by-the-lease",
        "fenced",
        after("transitionOwned", FenceLost, _moves_by(row=False)),
        4,
        scope=ROW_IN_HAND,
        alone=True,
    ),
    Mutant("strangers-heartbeat", "fenced", after("heartbeat", FenceLost, _moves_for_its_owner), 3),
    Mutant("strangers-reconfirm", "fenced", after("reconfirm", FenceLost, _moves_for_its_owner), 3),
    Mutant("strangers-acknowledge", "fenced", after("acknowledgeCancel", False, _moves_for_its_owner), 4),
    Mutant("heartbeat-is-no-change", "revision-grows", after("heartbeat", Updated, _spends_no_revision), 3),
    Mutant("late-heartbeat-gives-back", "revision-grows", after("heartbeat", Updated, _gives_a_revision_back), 3),
    Mutant("change-is-ahead", "revision-grows", after("heartbeat", Updated, _changes_ahead_of_the_source), 3),
    Mutant(
        "rounds-share-a-revision",
        "revision-grows",
        after("requestCancelLineage", CancelRequested, _spends_one_revision),
        3,
        scope=LINEAGE,
    ),
    Mutant("recovery-goes-untold", "facts-tell", after("recoverClaim", Recovered, _tells_nothing), 4),
    Mutant("heartbeat-takes-facts-back", "facts-tell", after("heartbeat", Updated, _takes_facts_back), 3),
    Mutant("own-tells-another-token", "facts-tell", after("claimAndOwn", Activated, _tells_another_token), 2),
    Mutant("own-tells-no-claim", "facts-tell", after("claimAndOwn", Activated, _tells_no_claim), 2),
    Mutant(
        "grant-is-not-the-token",
        "facts-tell",
        after("activate", Activated, _grants_its_own_clock),
        3,
        frozenset({"owners-come-in"}),
    ),
    Mutant("heartbeat-is-not-written", "answers-tell", after("heartbeat", Updated, _writes_nothing), 3),
    Mutant("acknowledgement-is-not-written", "answers-tell", after("acknowledgeCancel", True, _writes_nothing), 4),
    Mutant("create-is-not-written", "answers-tell", after("create", None, _writes_nothing), 1),
    Mutant("refused-claim-is-written", "answers-tell", after("claim", SnapshotChanged, _rewrites_the_row), 2),
    Mutant("strangers-are-told-updated", "answers-tell", after("heartbeat", FenceLost, _answers(Updated())), 2),
    Mutant(
        "guards-are-told-transitioned",
        "answers-tell",
        after("transitionOwned", GuardFailed, _answers(Transitioned())),
        3,
    ),
    Mutant("abandon-is-told-lost", "answers-tell", after("abandonClaim", Abandoned, _answers(ClaimLost())), 3),
    Mutant(
        "activate-gives-up-the-state", "answers-tell", after("activate", SnapshotChanged, _gives_up_the_state_too), 3
    ),
    Mutant(
        "any-claim-is-given-up",
        "answers-tell",
        after("activate", ClaimLost, _drops_any_claim),
        3,
        frozenset({"claims-end-well"}),
    ),
)
"""At least one for every property, and one for each thing that a property looks at apart."""
