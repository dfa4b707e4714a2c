"""The five operations on attempts, as a task calls them: those of ``tenure.AttemptStore``, in worker threads."""

from tenure.aio.workers import Workers
from tenure.attempts.store import AttemptStore as SyncAttemptStore
from tenure_model.admission.json_values import JsonValue
from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.attempt_outcomes import AttemptHeartbeatResult, FinishResult, PatchResult, PutResult
from tenure_model.vocabulary.attempts import Attempt, AttemptId, AttemptOptions, AttemptPatch, FinishAttempt
from tenure_model.vocabulary.owners import OwnerId


class AttemptStore:
    """Attempts at the steps of runs, in one database. Obtained as ``store.attempts``.

    Parameters, outcomes and errors are those of the operation of the same name of ``tenure.AttemptStore``.
    """

    __slots__ = ("_attempts", "_workers")

    def __init__(self, workers: Workers, attempts: SyncAttemptStore) -> None:
        self._workers = workers
        self._attempts = attempts

    @property
    def options(self) -> AttemptOptions:
        """The policy that the store was opened with, every default filled in."""
        return self._attempts.options

    async def put(self, attempt: Attempt, owner: OwnerId) -> PutResult:
        """Record an attempt, in any state and with any of its optional fields."""
        return await self._workers.write(self._attempts.put, attempt, owner)

    async def get(self, id: AttemptId | Attempt | FinishAttempt) -> Attempt | None:
        """The attempt, or ``None``; ``decode_failed`` if its row is corrupt. Needs no ownership."""
        return await self._workers.read(self._attempts.get, id)

    async def heartbeat(
        self,
        run_id: str,
        step_key_digest: str,
        attempt: int,
        owner: OwnerId,
        now_ms: int,
        checkpoint: JsonValue | AbsentType = ABSENT,
    ) -> AttemptHeartbeatResult:
        """Show that an attempt is still moving, and perhaps save what it would resume from."""
        return await self._workers.write(
            self._attempts.heartbeat, run_id, step_key_digest, attempt, owner, now_ms, checkpoint
        )

    async def finish(self, attempt: FinishAttempt, owner: OwnerId) -> FinishResult:
        """End an attempt that is in progress, in a state that is not."""
        return await self._workers.write(self._attempts.finish, attempt, owner)

    async def patch(self, id: AttemptId | Attempt | FinishAttempt, patch: AttemptPatch, owner: OwnerId) -> PatchResult:
        """Replace checkpoint, error, outcome or meta of an attempt in any state."""
        return await self._workers.write(self._attempts.patch, id, patch, owner)
