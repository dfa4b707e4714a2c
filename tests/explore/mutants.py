"""Wrong models, each wrong in one place: what the explorer must find."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import attrs

from tenure_model.explore.scope import Participant, Scope, honest
from tenure_model.explore.scopes import LINEAGE
from tenure_model.semantics import facts, lease, revisions
from tenure_model.semantics.commands import Command, apply
from tenure_model.semantics.predicates import row_is
from tenure_model.semantics.steps import Outcome, Step
from tenure_model.semantics.world import Acknowledgement, Claim, Lease, Run, World, with_lease
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.constants import HEARTBEAT_STALE_AFTER_MS
from tenure_model.vocabulary.outcomes import (
    Abandoned,
    Activated,
    AlreadyClaimed,
    AlreadyRequested,
    CancelRequested,
    Claimed,
    ClaimFresh,
    ClaimLost,
    FenceLost,
    HeartbeatFresh,
    Recovered,
    SnapshotChanged,
    Transitioned,
    Updated,
)
from tenure_model.vocabulary.owners import OwnerId

Apply: TypeAlias = Callable[[World, Command], Step]

RUN: Final = "r"
"""The run that mutants go wrong about."""

TWO_OWNERS: Final = Scope(
    "two-owners",
    (Participant(OwnerId("a", 1, "a1"), honest(0, -1)), Participant(OwnerId("b", 1, "b1"), honest(0))),
    advances=(HEARTBEAT_STALE_AFTER_MS + 1,),
)
"""Two hosts, an owner each, one of them with a clock that may go back."""


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
    old = lease_of(world).ownership
    return None if old is None else with_lease(step.world, RUN, Lease(old, None))


def _forgets_the_rows_stamp(world: World, _: Command, step: Step) -> World:
    return with_unspent_row(step.world, world.runs[RUN])


def _forgets_the_rows_claim(world: World, _: Command, step: Step) -> World:
    return with_unspent_row(step.world, world.runs[RUN])


def _keeps_the_leases_claim(world: World, _: Command, step: Step) -> World:
    return attrs.evolve(step.world, leases=world.leases)


def _only_the_status(world: World, command: Command, _: Step) -> World | None:
    return with_row(world, status="suspended") if said(command)["toStatus"] == "suspended" else None


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


def _steals_from_the_living(world: World, command: Command, _: Step) -> Step | None:
    run, expected, now_ms = world.runs[RUN], said(command)["expected"], said(command)["nowMs"]
    claimant = said(command)["claimant"]
    if not row_is(run, expected) or run.claim is not None:
        return None
    claim = Claim(claimant, now_ms)
    stolen = with_row(with_lease(world, RUN, Lease(lease_of(world).ownership, claim)), claim=claim)
    return wrote(facts.record(stolen, RUN, "stolen", claimant, now_ms), Claimed(now_ms))


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
    claimant, token_ms = said(command)["staleClaimant"], said(command)["claimedAtMs"]
    recovered = with_row(lease.drop_claim(world, RUN), claim=None)
    return wrote(facts.record(recovered, RUN, "expired", claimant, token_ms), Recovered())


def _claims_over(world: World, command: Command, _: Step) -> Step | None:
    run, claim = world.runs[RUN], Claim(said(command)["claimant"], said(command)["nowMs"])
    if run.owner is not None or not row_is(run, said(command)["expected"]):
        return None
    claimed = with_row(with_lease(world, RUN, Lease(None, claim)), claim=claim)
    return wrote(
        facts.record(claimed, RUN, "claimed", claim.claimant, claim.claimed_at_ms), Claimed(claim.claimed_at_ms)
    )


def _takes_facts_back(_: World, __: Command, step: Step) -> World:
    return attrs.evolve(step.world, facts={})


def _activates_without_a_claim(world: World, command: Command, _: Step) -> Step | None:
    run, claimant, token_ms = world.runs.get(RUN), said(command)["claimant"], said(command)["claimedAtMs"]
    if run is None or run.owner in (None, claimant) or run.claim is not None:
        return None
    leased = lease.install(world, RUN, claimant, token_ms, int(command.clock_ms))
    owned = with_row(leased, owner=claimant, heartbeat_at_ms=int(command.clock_ms))
    return wrote(facts.record(owned, RUN, "activated", claimant, token_ms), Activated())


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


def _tells_nothing(world: World, _: Command, step: Step) -> World:
    return attrs.evolve(step.world, facts=world.facts)


def _grants_its_own_clock(_: World, command: Command, step: Step) -> World:
    held = lease_of(step.world)
    assert held.ownership is not None
    granted = attrs.evolve(held.ownership, granted_at_ms=int(command.clock_ms) + 1)
    return with_lease(step.world, RUN, Lease(granted, held.claim))


def _writes_nothing(world: World, _: Command, step: Step) -> Step:
    return attrs.evolve(step, world=world)


def _rewrites_the_row(world: World, _: Command, step: Step) -> World:
    return with_row(world)


def _drops_any_claim(world: World, command: Command, _: Step) -> World | None:
    run = world.runs.get(RUN)
    if run is None or run.claim is None:
        return None
    dropped = with_row(lease.drop_claim(world, RUN), claim=None)
    return facts.record(dropped, RUN, "expired", run.claim.claimant, run.claim.claimed_at_ms)


@attrs.frozen
class Mutant:
    """A wrong model: the property it is wrong by, and the number of steps of the shortest counterexample.

    ``also`` are the other properties that the same going wrong breaks in as few steps, ``scope`` is where it shows.
    """

    name: str
    property: str
    apply: Apply
    steps: int
    also: frozenset[str] = frozenset()
    scope: Scope = TWO_OWNERS


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
    Mutant("settled-runs-are-claimable", "terminal-stays", owns_settled_runs, 4),
    Mutant(
        "settled-state-is-written",
        "terminal-stays",
        after("transitionOwned", FenceLost, _writes_late_state),
        4,
        frozenset({"answers-tell", "fenced"}),
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
    Mutant("steal-from-the-living", "no-theft", after("steal", HeartbeatFresh, _steals_from_the_living), 3),
    Mutant("own-under-a-claim", "no-theft", owns_under_a_claim, 3),
    Mutant("activate-without-a-claim", "no-theft", after("activate", ClaimLost, _activates_without_a_claim), 3),
    Mutant("abandon-gives-the-run-back", "no-theft", after("abandonClaim", Abandoned, _gives_the_run_back_too), 5),
    Mutant("recover-a-fresh-claim", "claims-end-well", after("recoverClaim", ClaimFresh, _recovers_anyway), 3),
    Mutant("claim-over-a-claim", "claims-end-well", after("claim", AlreadyClaimed, _claims_over), 3),
    Mutant(
        "strangers-transition",
        "fenced",
        after("transitionOwned", FenceLost, _moves_for_its_owner),
        3,
        frozenset({"no-theft"}),
    ),
    Mutant("strangers-heartbeat", "fenced", after("heartbeat", FenceLost, _moves_for_its_owner), 3),
    Mutant("strangers-acknowledge", "fenced", after("acknowledgeCancel", False, _moves_for_its_owner), 4),
    Mutant("heartbeat-is-no-change", "revision-grows", after("heartbeat", Updated, _spends_no_revision), 3),
    Mutant(
        "rounds-share-a-revision",
        "revision-grows",
        after("requestCancelLineage", CancelRequested, _spends_one_revision),
        3,
        scope=LINEAGE,
    ),
    Mutant("recovery-goes-untold", "facts-tell", after("recoverClaim", Recovered, _tells_nothing), 4),
    Mutant("heartbeat-takes-facts-back", "facts-tell", after("heartbeat", Updated, _takes_facts_back), 3),
    Mutant("grant-is-not-the-token", "facts-tell", after("activate", Activated, _grants_its_own_clock), 3),
    Mutant("heartbeat-is-not-written", "answers-tell", after("heartbeat", Updated, _writes_nothing), 3),
    Mutant("acknowledgement-is-not-written", "answers-tell", after("acknowledgeCancel", True, _writes_nothing), 4),
    Mutant("create-is-not-written", "answers-tell", after("create", None, _writes_nothing), 1),
    Mutant("refused-claim-is-written", "answers-tell", after("claim", SnapshotChanged, _rewrites_the_row), 2),
    Mutant(
        "any-claim-is-given-up",
        "answers-tell",
        after("activate", ClaimLost, _drops_any_claim),
        3,
        frozenset({"claims-end-well"}),
    ),
)
"""At least one for every property, and one for each thing that a property looks at apart."""
