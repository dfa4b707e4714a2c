"""The sixteen operations on runs, as a task calls them: each is that of ``tenure.RunStore``, in a worker thread.

Parameters, outcomes and errors are those of the operation of the same name there, in full; what cancellation does is
said in ``tenure.aio.workers``.
"""

from tenure.aio.workers import Workers
from tenure.runs.store import RunStore as SyncRunStore
from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.outcomes import (
    AbandonClaimOutcome,
    ActivateOutcome,
    ClaimAndOwnOutcome,
    ClaimOutcome,
    HeartbeatOutcome,
    RecoverClaimOutcome,
    RequestCancelOutcome,
    StealOutcome,
    TransitionOutcome,
)
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import CreateOptions, RunRow, RunSnapshot, TransitionGuard
from tenure_model.vocabulary.statuses import TargetStatus


class RunStore:
    """Runs in one database. Obtained as ``store.runs``."""

    __slots__ = ("_runs", "_workers")

    def __init__(self, workers: Workers, runs: SyncRunStore) -> None:
        self._workers = workers
        self._runs = runs

    async def create(self, run_id: str, state_json: str, options: CreateOptions | AbsentType | None = ABSENT) -> None:
        """Insert a ``pending`` run whose state is ``state_json``, kept character by character."""
        await self._workers.write(self._runs.create, run_id, state_json, options)

    async def get(self, run_id: str) -> RunRow:
        """The run. ``not_found_row`` if there is none, ``decode_failed`` if its row is corrupt."""
        return await self._workers.read(self._runs.get, run_id)

    async def lineage(self, run_id: str) -> tuple[RunRow, ...]:
        """Every round of the logical run that ``run_id`` belongs to, in order; none for an unknown id."""
        return await self._workers.read(self._runs.lineage, run_id)

    async def latest_round(self, run_id: str) -> RunRow:
        """The round with the highest ordinal in the lineage of ``run_id``. Errors as ``get``."""
        return await self._workers.read(self._runs.latest_round, run_id)

    async def request_cancel(self, run_id: str, now_ms: int) -> RequestCancelOutcome:
        """Ask for cancellation of a live run."""
        return await self._workers.write(self._runs.request_cancel, run_id, now_ms)

    async def request_cancel_lineage(self, run_id: str, now_ms: int) -> RequestCancelOutcome:
        """Ask for cancellation of every live round of a lineage at once."""
        return await self._workers.write(self._runs.request_cancel_lineage, run_id, now_ms)

    async def acknowledge_cancel(self, run_id: str, owner: OwnerId, now_ms: int) -> bool:
        """Record that the owner has seen the request; only the first record is kept."""
        return await self._workers.write(self._runs.acknowledge_cancel, run_id, owner, now_ms)

    async def claim(self, run_id: str, expected: RunSnapshot | RunRow, claimant: OwnerId, now_ms: int) -> ClaimOutcome:
        """Claim a pending or suspended run; ``activate`` makes it yours."""
        return await self._workers.write(self._runs.claim, run_id, expected, claimant, now_ms)

    async def claim_and_own(
        self,
        run_id: str,
        expected: RunSnapshot | RunRow,
        owner: OwnerId,
        now_ms: int,
        evidence: LivenessEvidence | AbsentType = ABSENT,
    ) -> ClaimAndOwnOutcome:
        """Own a run in one step: unowned, one's own gone stale, or with evidence another's gone stale."""
        return await self._workers.write(self._runs.claim_and_own, run_id, expected, owner, now_ms, evidence)

    async def activate(
        self, run_id: str, claimant: OwnerId, claimed_at_ms: int, expected: RunSnapshot | RunRow
    ) -> ActivateOutcome:
        """Turn a claim into ownership. Present the snapshot that the claim was made with."""
        return await self._workers.write(self._runs.activate, run_id, claimant, claimed_at_ms, expected)

    async def abandon_claim(self, run_id: str, claimant: OwnerId, claimed_at_ms: int) -> AbandonClaimOutcome:
        """Give a claim back. ``Abandoned``, or ``ClaimLost`` where it is not the one that stands."""
        return await self._workers.write(self._runs.abandon_claim, run_id, claimant, claimed_at_ms)

    async def recover_claim(
        self,
        run_id: str,
        stale_claimant: OwnerId,
        claimed_at_ms: int,
        observer: OwnerId,
        now_ms: int,
        evidence: LivenessEvidence,
    ) -> RecoverClaimOutcome:
        """Clear the claim of a claimant that died; the run stays as it is."""
        return await self._workers.write(
            self._runs.recover_claim, run_id, stale_claimant, claimed_at_ms, observer, now_ms, evidence
        )

    async def heartbeat(self, run_id: str, owner: OwnerId, now_ms: int) -> HeartbeatOutcome:
        """Renew the lease of a run one owns; the stamp never moves back."""
        return await self._workers.write(self._runs.heartbeat, run_id, owner, now_ms)

    async def reconfirm(self, run_id: str, owner: OwnerId, now_ms: int) -> HeartbeatOutcome:
        """As ``heartbeat``, but ``FenceLost`` as well while anybody's claim is pending."""
        return await self._workers.write(self._runs.reconfirm, run_id, owner, now_ms)

    async def transition_owned(
        self,
        run_id: str,
        owner: OwnerId,
        to_status: TargetStatus,
        state_json: str | AbsentType = ABSENT,
        guard: TransitionGuard | AbsentType = ABSENT,
    ) -> TransitionOutcome:
        """Move a run one owns: ``running`` only rewrites the state, every other status ends ownership."""
        return await self._workers.write(self._runs.transition_owned, run_id, owner, to_status, state_json, guard)

    async def steal(
        self,
        run_id: str,
        expected: RunSnapshot | RunRow,
        claimant: OwnerId,
        now_ms: int,
        evidence: LivenessEvidence,
    ) -> StealOutcome:
        """Claim a running run whose owner's heartbeat is stale and dead by ``evidence``."""
        return await self._workers.write(self._runs.steal, run_id, expected, claimant, now_ms, evidence)
