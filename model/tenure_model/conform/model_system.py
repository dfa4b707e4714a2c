"""The model as a system that can be driven: the purest there is."""

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from tenure_model.conform.systems import Columns, FactColumns, SystemState, acknowledgement_text
from tenure_model.semantics import transactions
from tenure_model.semantics.attempts import transactions as attempt_transactions
from tenure_model.semantics.attempts.commands import OPERATIONS as ATTEMPT_OPERATIONS
from tenure_model.semantics.attempts.table import NO_ATTEMPTS, AttemptRow, AttemptTable
from tenure_model.semantics.attempts.transactions import AttemptLevels
from tenure_model.semantics.commands import Command
from tenure_model.semantics.profiles import Profile
from tenure_model.semantics.transactions import Database
from tenure_model.semantics.world import Claim, Lease, Run, World, empty_world
from tenure_model.vocabulary.attempts import AttemptOptions, PutMode
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.owners import OwnerId

_NOBODY: Final = (None, None, None)


def _identity(owner: OwnerId | None) -> Columns:
    return _NOBODY if owner is None else (owner.host_id, owner.pid, owner.nonce)


def _claim(claim: Claim | None) -> Columns:
    return (*_NOBODY, None) if claim is None else (*_identity(claim.claimant), claim.claimed_at_ms)


def run_columns(run: Run) -> Columns:
    """A run in the order of ``RUN_COLUMNS``."""
    seen = run.acknowledgement
    return (
        run.run_id,
        run.status,
        run.created_at_ms,
        run.started_at_ms,
        run.finished_at_ms,
        *_identity(run.owner),
        run.heartbeat_at_ms,
        *_claim(run.claim),
        run.parent_run_id,
        run.cancel_requested_at_ms,
        run.lineage_id,
        run.round_ordinal,
        run.state_json,
        None if seen is None else acknowledgement_text(seen.observed_at_ms, *_owner_fields(seen.owner)),
    )


def _owner_fields(owner: OwnerId) -> tuple[str, int, str]:
    return owner.host_id, owner.pid, owner.nonce


def lease_columns(run_id: str, lease: Lease) -> Columns:
    """A lease in the order of ``LEASE_COLUMNS``."""
    held = lease.ownership
    owned = (
        (*_NOBODY, None, None) if held is None else (*_identity(held.owner), held.granted_at_ms, held.heartbeat_at_ms)
    )
    return (run_id, *owned, *_claim(lease.claim))


def fact_columns(fact: OwnershipFact) -> FactColumns:
    """A fact as (transition, host id, pid, nonce, granted at)."""
    return (fact.transition, *_owner_fields(fact.owner), fact.granted_at_ms)


def attempt_columns(row: AttemptRow) -> Columns:
    """An attempt in the order of ``ATTEMPT_COLUMNS``."""
    return attrs.astuple(row)


def world_state(world: World, attempts: AttemptTable = NO_ATTEMPTS) -> SystemState:
    """A world, and the attempts beside it, as tables."""
    return SystemState(
        runs={run_id: run_columns(run) for run_id, run in world.runs.items()},
        leases={run_id: lease_columns(run_id, lease) for run_id, lease in world.leases.items()},
        changes={run_id: (change.revision, int(change.deleted)) for run_id, change in world.changes.items()},
        source=world.revision,
        facts={run_id: tuple(map(fact_columns, facts)) for run_id, facts in world.facts.items()},
        attempts={key: attempt_columns(row) for key, row in attempts.rows.items()},
    )


class ModelSystem:
    """The model under one profile. ``take_fired`` names the repairs that made a difference.

    ``put_mode`` configures the attempt store of every session.
    """

    def __init__(self, profile: Profile, sessions: Sequence[str], put_mode: PutMode = "insert") -> None:
        self._database = Database(empty_world(profile))
        self._attempts = AttemptLevels()
        self._attempt_options = AttemptOptions(put_mode=put_mode)
        self._sessions = tuple(sessions)
        self._last: tuple[World, AttemptTable, SystemState] | None = None
        self._fired: frozenset[str] = frozenset()

    def call(self, session: str, operation: str, arguments: Mapping[str, object], clock_ms: float) -> object:
        """One operation by its wire names; answers its outcome, or its store's error as a value."""
        command = Command(operation, arguments, clock_ms)
        if operation in ATTEMPT_OPERATIONS:
            self._attempts, attempt_step = attempt_transactions.execute(
                self._database, self._attempts, session, self._attempt_options, command
            )
            return attempt_step.outcome
        self._database, step = attempt_transactions.execute_run(self._database, self._attempts, session, command)
        self._fired |= step.fired
        return step.outcome

    def take_fired(self) -> frozenset[str]:
        """The repairs by which the calls since the last ``take_fired`` made a difference."""
        fired, self._fired = self._fired, frozenset()
        return fired

    def control(self, session: str, action: str, clock_ms: float = 0.0) -> bool:
        """A transaction's begin, commit or rollback, or a crash; answers whether it could be."""
        if action == "session.crash":
            self._crash(session)
            return True
        if action == "system.crash":
            for other in self._sessions:
                self._crash(other)
            return True
        act, follow = {
            "session.begin": (transactions.begin, attempt_transactions.begun),
            "session.commit": (transactions.commit, attempt_transactions.committed),
            "session.rollback": (transactions.rollback, attempt_transactions.rolled_back),
        }[action]
        self._database, error = act(self._database, session)
        if error is None:
            self._attempts = follow(self._attempts)
        return error is None

    def _crash(self, session: str) -> None:
        if self._database.writer == session:
            self._attempts = attempt_transactions.crashed(self._attempts)
        self._database = transactions.crash(self._database, session)

    def world(self, session: str) -> World:
        """The world as the session sees it."""
        return transactions.visible(self._database, session)

    def attempts(self, session: str) -> AttemptTable:
        """The attempts as the session sees them."""
        return attempt_transactions.visible(self._database, self._attempts, session)

    def state(self, session: str) -> SystemState:
        """The whole state as the session sees it."""
        world, attempts = self.world(session), self.attempts(session)
        if self._last is None or self._last[0] is not world or self._last[1] is not attempts:
            self._last = world, attempts, world_state(world, attempts)
        return self._last[2]
