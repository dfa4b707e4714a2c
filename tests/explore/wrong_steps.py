"""Wrong steps: what a model may do that is wrong in one place, and how it is put into a model that is right."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias

import attrs

from tenure_model.explore.scope import EVERY_OPERATION, WRITE_LEASE, WRITE_ROW, Participant, Scope, honest
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
    CancelRequested,
    Claimed,
    Recovered,
    SnapshotChanged,
    Transitioned,
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


def keeps_the_old_owner(world: World, _: Command, step: Step) -> World | None:
    old, new = lease_of(world).ownership, lease_of(step.world).ownership
    if old is None or new is None:
        return None
    return with_lease(step.world, RUN, Lease(attrs.evolve(new, owner=old.owner), None))


def forgets_the_rows_stamp(world: World, _: Command, step: Step) -> World:
    return with_unspent_row(step.world, world.runs[RUN])


def forgets_the_rows_claim(world: World, _: Command, step: Step) -> World:
    return with_unspent_row(step.world, world.runs[RUN])


def keeps_the_leases_claim(world: World, _: Command, step: Step) -> World:
    return attrs.evolve(step.world, leases=world.leases)


def only_the_status(world: World, command: Command, _: Step) -> World | None:
    return with_row(world, status="suspended") if said(command)["toStatus"] == "suspended" else None


def keeps_the_stamp(world: World, command: Command, step: Step) -> World | None:
    stamp_ms, after = world.runs[RUN].heartbeat_at_ms, step.world.runs[RUN]
    return (
        None if after.owner is not None else with_unspent_row(step.world, attrs.evolve(after, heartbeat_at_ms=stamp_ms))
    )


def creates_what_is_missing(world: World, _: Command, __: Step) -> Step:
    made = apply(world, Command("run.create", {"runId": RUN, "stateJson": "{}"}, 0)).world
    return wrote(made, SnapshotChanged())


def removes_settled_rounds(world: World, _: Command, step: Step) -> World:
    found = step.world
    for run in world.runs.values():
        if run.finished_at_ms is not None:
            found = revisions.delete_run(found, run.run_id)
    return found


def removes_what_is_completed(_: World, command: Command, step: Step) -> World | None:
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


def writes_late_state(world: World, command: Command, step: Step) -> World | None:
    run, text = world.runs[RUN], said(command).get("stateJson", ABSENT)
    return None if text is ABSENT or run.finished_at_ms is None else with_row(world, state_json=text)


def stamps_what_it_is_told(world: World, command: Command, step: Step) -> World:
    now_ms, held = said(command)["nowMs"], lease_of(world)
    assert isinstance(now_ms, int)
    assert held.ownership is not None
    stamped = with_lease(world, RUN, Lease(attrs.evolve(held.ownership, heartbeat_at_ms=now_ms), held.claim))
    return with_row(stamped, heartbeat_at_ms=now_ms)


def requests_again(world: World, command: Command, _: Step) -> Step:
    now_ms = said(command)["nowMs"]
    return wrote(with_row(world, cancel_requested_at_ms=now_ms), CancelRequested(now_ms))


def acknowledges_again(_: World, command: Command, step: Step) -> World:
    owner, now_ms = said(command)["owner"], said(command)["nowMs"]
    return with_unspent_row(
        step.world, attrs.evolve(step.world.runs[RUN], acknowledgement=Acknowledgement(now_ms, owner))
    )


def requests_other_rounds_again(world: World, command: Command, step: Step) -> World:
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


def steals_from_the_living(world: World, command: Command, _: Step) -> Step | None:
    run = world.runs[RUN]
    if not row_is(run, said(command)["expected"]) or run.claim is not None:
        return None
    return claims(world, said(command)["claimant"], said(command)["nowMs"], "stolen")


def steals_with_a_later_token(world: World, command: Command, _: Step) -> Step | None:
    run = world.runs[RUN]
    if not row_is(run, said(command)["expected"]) or run.claim is not None or run.heartbeat_at_ms is None:
        return None
    return claims(world, said(command)["claimant"], run.heartbeat_at_ms + HEARTBEAT_STALE_AFTER_MS + 1, "stolen")


def steals_whatever_the_proof(world: World, command: Command, _: Step) -> Step | None:
    run, now_ms = world.runs.get(RUN), said(command)["nowMs"]
    if run is None or run.claim is not None or not is_stale(run.heartbeat_at_ms, now_ms):
        return None
    return claims(world, said(command)["claimant"], now_ms, "stolen")


def takes_over_without_proof(world: World, command: Command, _: Step) -> Step:
    now_ms = said(command)["nowMs"]
    return owns(world, said(command)["owner"], now_ms, now_ms)


def takes_over_the_living(world: World, command: Command, _: Step) -> Step | None:
    run, proof, now_ms = world.runs[RUN], said(command).get("evidence"), said(command)["nowMs"]
    if not isinstance(proof, LivenessEvidence) or (proof.expected_owner, proof.checked_at_ms) != (run.owner, now_ms):
        return None
    return owns(world, said(command)["owner"], now_ms, now_ms) if run.claim is None else None


def claims_later(world: World, command: Command, _: Step) -> Step:
    return claims(world, said(command)["claimant"], said(command)["nowMs"] + 1, "claimed")


def claims_for_the_other(world: World, command: Command, _: Step) -> Step:
    return claims(world, other_than(said(command)["claimant"]), said(command)["nowMs"], "claimed")


def claims_what_it_recovered(_: World, command: Command, step: Step) -> World:
    return claims(step.world, said(command)["observer"], said(command)["nowMs"], "claimed").world


def owns_what_it_claimed(world: World, command: Command, _: Step) -> Step:
    now_ms = said(command)["nowMs"]
    return attrs.evolve(owns(world, said(command)["claimant"], now_ms, now_ms), outcome=Claimed(now_ms))


def owns_for_the_other(world: World, command: Command, step: Step) -> Step | None:
    now_ms = said(command)["nowMs"]
    return owns(world, other_than(said(command)["owner"]), now_ms, now_ms) if world.runs[RUN].owner is None else None


def owns_by_another_token(world: World, command: Command, step: Step) -> Step:
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


def gives_the_run_back_too(_: World, command: Command, step: Step) -> World | None:
    owner = step.world.runs[RUN].owner
    if owner is None:
        return None
    released = lease.release(step.world, RUN, owner)
    suspended = attrs.evolve(released.runs[RUN], status="suspended", owner=None, heartbeat_at_ms=None)
    return facts.record(with_unspent_row(released, suspended), RUN, "released", owner, None)


def recovers_anyway(world: World, command: Command, _: Step) -> Step:
    return wrote(clears(world, "expired"), Recovered())


def recovers_whatever_the_proof(world: World, command: Command, _: Step) -> Step | None:
    run = world.runs.get(RUN)
    if run is None or run.claim != Claim(said(command)["staleClaimant"], said(command)["claimedAtMs"]):
        return None
    stale = is_stale(run.claim.claimed_at_ms, said(command)["nowMs"])
    return wrote(clears(world, "expired"), Recovered()) if stale else None


def recovers_whatever_the_token(world: World, command: Command, _: Step) -> Step | None:
    claim = world.runs[RUN].claim
    if claim is None or claim.claimant != said(command)["staleClaimant"]:
        return None
    stale = is_stale(claim.claimed_at_ms, said(command)["nowMs"])
    return wrote(clears(world, "expired"), Recovered()) if stale else None


def abandons_whatever_the_token(world: World, command: Command, _: Step) -> Step | None:
    run = world.runs.get(RUN)
    if run is None or run.claim is None or run.claim.claimant != said(command)["claimant"]:
        return None
    return wrote(clears(world, "released"), Abandoned())


def ends_a_claim_by_its_token(outcome: Abandoned | Recovered) -> Callable[[World, Command, Step], Step | None]:
    """Whoever knows the token of a claim ends it, whoever claims; a recovery waits until it is stale."""

    def ends(world: World, command: Command, _: Step) -> Step | None:
        run, now_ms = world.runs.get(RUN), said(command).get("nowMs")
        if run is None or run.claim is None or run.claim.claimed_at_ms != said(command)["claimedAtMs"]:
            return None
        if now_ms is not None and not is_stale(run.claim.claimed_at_ms, now_ms):
            return None
        return wrote(clears(world, "expired"), outcome)

    return ends


def clears_while_running(_: World, command: Command, step: Step) -> World | None:
    after = step.world.runs[RUN]
    return None if after.status != "running" or after.claim is None else clears(step.world, "released")


def clears_the_claim(_: World, command: Command, step: Step) -> World | None:
    return None if step.world.runs[RUN].claim is None else clears(step.world, "released")


def moves_whatever_the_guard(cancel: CancelGuard) -> Callable[[World, Command, Step], Step | None]:
    def moves(world: World, command: Command, _: Step) -> Step | None:
        arguments = {name: value for name, value in said(command).items() if name != "guard"}
        guarded = said(command)["guard"] == TransitionGuard(cancel)
        return apply(world, attrs.evolve(command, arguments=arguments)) if guarded else None

    return moves


def claims_over(world: World, command: Command, _: Step) -> Step | None:
    run = world.runs[RUN]
    if run.owner is not None or not row_is(run, said(command)["expected"]):
        return None
    return claims(world, said(command)["claimant"], said(command)["nowMs"], "claimed")


def takes_facts_back(_: World, __: Command, step: Step) -> World:
    return attrs.evolve(step.world, facts={})


def activates_the_unclaimed(world: World, command: Command, _: Step) -> Step | None:
    run = world.runs.get(RUN)
    if run is None or run.owner is not None or run.claim is not None or run.finished_at_ms is not None:
        return None
    return owns(world, said(command)["claimant"], said(command)["claimedAtMs"], int(command.clock_ms))


def activates_and_tells_of_no_claim(world: World, command: Command, step: Step) -> Step | None:
    activated = activates_the_unclaimed(world, command, step)
    if activated is None:
        return None
    told = attrs.evolve(activated.world, facts=world.facts)
    told = facts.record(told, RUN, "activated", said(command)["claimant"], said(command)["claimedAtMs"])
    return attrs.evolve(activated, world=told)


def activates_again(world: World, command: Command, _: Step) -> Step | None:
    run, claimant = world.runs.get(RUN), said(command)["claimant"]
    if run is None or run.owner != claimant or run.claim is not None:
        return None
    return owns(world, claimant, said(command)["claimedAtMs"], int(command.clock_ms))


def activates_over_an_owner(world: World, command: Command, _: Step) -> Step | None:
    run, claimant = world.runs.get(RUN), said(command)["claimant"]
    if run is None or run.owner in (None, claimant) or run.claim is not None:
        return None
    return owns(world, claimant, said(command)["claimedAtMs"], int(command.clock_ms))


def activates_by_the_row(world: World, command: Command, _: Step) -> Step | None:
    run, claimant, token_ms = world.runs.get(RUN), said(command)["claimant"], said(command)["claimedAtMs"]
    if run is None or run.claim != Claim(claimant, token_ms):
        return None
    return owns(world, claimant, token_ms, int(command.clock_ms))


def activates_by_the_lease(world: World, command: Command, _: Step) -> Step | None:
    claim = Claim(said(command)["claimant"], said(command)["claimedAtMs"])
    if RUN not in world.runs or lease_of(world).claim != claim:
        return None
    return owns(world, claim.claimant, claim.claimed_at_ms, int(command.clock_ms))


def moves_by(*, row: bool) -> Callable[[World, Command, Step], Step | None]:
    """A transition that asks one of row and lease who owns the run, and not the other."""

    def moves(world: World, command: Command, _: Step) -> Step | None:
        run, held = world.runs.get(RUN), lease_of(world).ownership
        if run is None or (run.owner if row else None if held is None else held.owner) != said(command)["owner"]:
            return None
        moved = with_row(without_lease(world, RUN), status="suspended", owner=None, heartbeat_at_ms=None, claim=None)
        return wrote(facts.record(moved, RUN, "released", said(command)["owner"], None), Transitioned())

    return moves


def moves_for_its_owner(world: World, command: Command, _: Step) -> Step | None:
    run = world.runs.get(RUN)
    owner = None if run is None else run.owner
    if owner is None:
        return None
    return apply(world, attrs.evolve(command, arguments={**command.arguments, "owner": owner}))


def spends_no_revision(world: World, _: Command, step: Step) -> World:
    return attrs.evolve(step.world, revision=world.revision, changes=world.changes)


def spends_one_revision(world: World, _: Command, step: Step) -> World:
    revision = step.world.revision
    return attrs.evolve(
        step.world,
        changes={
            run_id: attrs.evolve(change, revision=revision) if change != world.changes.get(run_id) else change
            for run_id, change in step.world.changes.items()
        },
    )


def gives_a_revision_back(world: World, _: Command, step: Step) -> World | None:
    if step.world.runs[RUN] != world.runs[RUN]:
        return None
    return attrs.evolve(step.world, revision=world.revision - 1)


def changes_ahead_of_the_source(_: World, __: Command, step: Step) -> World:
    changes = {**step.world.changes, RUN: Change(step.world.revision + 1, deleted=False)}
    return attrs.evolve(step.world, changes=changes)


def tells_nothing(world: World, _: Command, step: Step) -> World:
    return attrs.evolve(step.world, facts=world.facts)


def grants_its_own_clock(_: World, command: Command, step: Step) -> World:
    held = lease_of(step.world)
    assert held.ownership is not None
    granted = attrs.evolve(held.ownership, granted_at_ms=int(command.clock_ms) + 1)
    return with_lease(step.world, RUN, Lease(granted, held.claim))


def tells_another_token(world: World, command: Command, step: Step) -> World:
    owner, told = said(command)["owner"], attrs.evolve(step.world, facts=world.facts)
    for transition in ("claimed", "activated"):
        told = facts.record(told, RUN, transition, owner, said(command)["nowMs"] + 1)
    return told


def tells_no_claim(world: World, command: Command, step: Step) -> World:
    told = attrs.evolve(step.world, facts=world.facts)
    return facts.record(told, RUN, "activated", said(command)["owner"], said(command)["nowMs"])


def answers(outcome: Outcome) -> Callable[[World, Command, Step], Step]:
    return lambda _, __, step: attrs.evolve(step, outcome=outcome)


def gives_up_the_state_too(_: World, __: Command, step: Step) -> World:
    return with_row(step.world, state_json="{}x")


def writes_nothing(world: World, _: Command, step: Step) -> Step:
    return attrs.evolve(step, world=world)


def rewrites_the_row(world: World, _: Command, step: Step) -> World:
    return with_row(world)


def drops_any_claim(world: World, command: Command, _: Step) -> World | None:
    run = world.runs.get(RUN)
    if run is None or run.claim is None:
        return None
    return clears(world, "expired")
