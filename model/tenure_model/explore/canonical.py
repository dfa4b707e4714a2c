"""One node a situation: a run's row and lease as a small tuple, free of names and of the hour.

Two worlds are the same situation when a renaming of interchangeable owners and a shift of time carry one into the
other, and nothing that the semantics ever looks at tells them apart. What no rule reads is not kept: times of creation,
start, end, request and acknowledgement, who acknowledged, the state text, the revision, the token a lease was granted
with once it is spent, and facts. Properties that speak of those are judged on each step (``properties``).
"""

from collections.abc import Sequence
from itertools import permutations, product
from typing import Final, NamedTuple, TypeAlias

from tenure_model.explore.scope import Scope
from tenure_model.semantics.world import Acknowledgement, Change, Claim, Lease, Ownership, Run, World
from tenure_model.vocabulary.constants import HEARTBEAT_STALE_AFTER_MS
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import CreateOptions
from tenure_model.vocabulary.statuses import RUN_STATUSES

NOW_MS: Final = 1_000_000_000
"""The instant at which every situation is written down as a world: late enough for any stamp before it."""

NONE: Final = -1
"""Nobody, in a place for an owner's number; no row, in the place for a status."""

NO_STAMP: Final = 1 << 40
"""No stamp, in a place for one: stamps are milliseconds from the instant, mostly negative."""


class RunCode(NamedTuple):
    """One run: its row and its lease. Owners are their numbers in the scope, stamps milliseconds from now."""

    status: int
    owner: int
    heartbeat: int
    claimant: int
    token: int
    requested: bool
    acknowledged: bool
    lease_owner: int
    lease_heartbeat: int
    lease_claimant: int
    lease_token: int


Renaming: TypeAlias = tuple[int, ...]
"""The new number of each owner, by its old one; ``NONE`` as an index answers the last item, which is ``NONE``."""

NO_RUN: Final = RunCode(NONE, NONE, NO_STAMP, NONE, NO_STAMP, False, False, NONE, NO_STAMP, NONE, NO_STAMP)
"""A run that was not created, and has no lease."""

STATUS_NUMBERS: Final = {status: number for number, status in enumerate(RUN_STATUSES)}


def encode(owners: Sequence[OwnerId], world: World, run_id: str, now_ms: int) -> RunCode:
    """The code of one run of a world at an instant, with the owners' numbers as they are."""
    run, lease = world.runs.get(run_id), world.leases.get(run_id)
    status, owner, heartbeat, claimant, token, requested, acknowledged = NO_RUN[:7]
    if run is not None:
        status = STATUS_NUMBERS[run.status]
        requested, acknowledged = run.cancel_requested_at_ms is not None, run.acknowledgement is not None
        if run.owner is not None and run.heartbeat_at_ms is not None:
            owner, heartbeat = owners.index(run.owner), run.heartbeat_at_ms - now_ms
        if run.claim is not None:
            claimant, token = owners.index(run.claim.claimant), run.claim.claimed_at_ms - now_ms
    lease_owner, lease_heartbeat, lease_claimant, lease_token = NO_RUN[7:]
    if lease is not None and lease.ownership is not None:
        lease_owner, lease_heartbeat = owners.index(lease.ownership.owner), lease.ownership.heartbeat_at_ms - now_ms
    if lease is not None and lease.claim is not None:
        lease_claimant, lease_token = owners.index(lease.claim.claimant), lease.claim.claimed_at_ms - now_ms
    return RunCode(
        status,
        owner,
        heartbeat,
        claimant,
        token,
        requested,
        acknowledged,
        lease_owner,
        lease_heartbeat,
        lease_claimant,
        lease_token,
    )


def decode(scope: Scope, codes: Sequence[RunCode]) -> World:
    """A world in this situation at ``NOW_MS``: what is not kept has one fixed value.

    A run's facts before are a single old one, so that a step which takes facts back can be told.
    """
    owners = scope.owners
    runs: dict[str, Run] = {}
    facts: dict[str, tuple[OwnershipFact, ...]] = {}
    leases: dict[str, Lease] = {}
    for plan, code in zip(scope.runs, codes, strict=True):
        if code.status != NONE:
            runs[plan.run_id] = _row(owners, plan.run_id, plan.options, code)
            facts[plan.run_id] = (OwnershipFact(plan.run_id, "released", owners[0], None),)
        ownership = claim = None
        if code.lease_owner != NONE:
            stamp_ms = NOW_MS + code.lease_heartbeat
            ownership = Ownership(owners[code.lease_owner], stamp_ms, stamp_ms)
        if code.lease_claimant != NONE:
            claim = Claim(owners[code.lease_claimant], NOW_MS + code.lease_token)
        if ownership is not None or claim is not None:
            leases[plan.run_id] = Lease(ownership, claim)
    changes = {run_id: Change(number, deleted=False) for number, run_id in enumerate(runs, 1)}
    return World(scope.profile, runs, leases, changes, len(runs), facts, source="0" * 32)


def _row(owners: Sequence[OwnerId], run_id: str, options: CreateOptions, code: RunCode) -> Run:
    status = RUN_STATUSES[code.status]
    return Run(
        run_id=run_id,
        status=status,
        created_at_ms=0,
        started_at_ms=None if status == "pending" else 0,
        finished_at_ms=0 if status in ("completed", "failed", "cancelled") else None,
        owner=None if code.owner == NONE else owners[code.owner],
        heartbeat_at_ms=None if code.owner == NONE else NOW_MS + code.heartbeat,
        claim=None if code.claimant == NONE else Claim(owners[code.claimant], NOW_MS + code.token),
        parent_run_id=options.parent_run_id,
        cancel_requested_at_ms=0 if code.requested else None,
        acknowledgement=Acknowledgement(0, owners[0]) if code.acknowledged else None,
        lineage_id=options.lineage_id,
        round_ordinal=options.round_ordinal,
        state_json="{}",
    )


def horizon(scope: Scope) -> int:
    """The stamp below which age makes no difference: stale against every reading of the scope, and so for ever."""
    return min(reading.now_ms for who in scope.participants for reading in who.readings) - HEARTBEAT_STALE_AFTER_MS


def settle(code: RunCode, horizon_ms: int) -> RunCode:
    """The code with stamps beyond the horizon moved up to it. They keep their order, so equal ones stay equal."""
    stamps = (code.heartbeat, code.token, code.lease_heartbeat, code.lease_token)
    if min(stamps) >= horizon_ms:
        return code
    old = sorted({stamp for stamp in stamps if stamp < horizon_ms}, reverse=True)
    moved = {stamp: horizon_ms - rank for rank, stamp in enumerate(old, 1)}
    return code._replace(
        heartbeat=moved.get(code.heartbeat, code.heartbeat),
        token=moved.get(code.token, code.token),
        lease_heartbeat=moved.get(code.lease_heartbeat, code.lease_heartbeat),
        lease_token=moved.get(code.lease_token, code.lease_token),
    )


def shift(code: RunCode, by_ms: int) -> RunCode:
    """The code after so much time has passed: every stamp is that much older."""
    return code._replace(
        heartbeat=code.heartbeat if code.heartbeat == NO_STAMP else code.heartbeat - by_ms,
        token=code.token if code.token == NO_STAMP else code.token - by_ms,
        lease_heartbeat=code.lease_heartbeat if code.lease_heartbeat == NO_STAMP else code.lease_heartbeat - by_ms,
        lease_token=code.lease_token if code.lease_token == NO_STAMP else code.lease_token - by_ms,
    )


def renamings(scope: Scope) -> tuple[Renaming, ...]:
    """Every renaming of owners that changes nothing: among those of one host that take the same readings."""
    groups: dict[object, list[int]] = {}
    for number, who in enumerate(scope.participants):
        key = (who.owner.host_id, who.readings) if scope.symmetric else number
        groups.setdefault(key, []).append(number)
    found = []
    for choice in product(*(permutations(group) for group in groups.values())):
        renaming = [NONE] * (len(scope.participants) + 1)
        for group, image in zip(groups.values(), choice, strict=True):
            for number, other in zip(group, image, strict=True):
                renaming[number] = other
        found.append(tuple(renaming))
    return tuple(sorted(found))


def rename(code: RunCode, renaming: Renaming) -> RunCode:
    """The code with other numbers for the owners."""
    return code._replace(
        owner=renaming[code.owner],
        claimant=renaming[code.claimant],
        lease_owner=renaming[code.lease_owner],
        lease_claimant=renaming[code.lease_claimant],
    )
