"""The five operations on attempts, as a program calls them.

Every operation admits its arguments first and raises ``AttemptStoreError("invalid_attempt")`` for the first that is
refused; nothing is read or written then. Every write is fenced on the run's row, running under the caller, in the same
transaction (RS-810), or in a savepoint inside the caller's. A loss is an answer, never an error; storage that fails is
``AttemptStoreError("persistence_failed")``, or ``AttemptCommitOutcomeUnknown`` where the write may have taken effect.
Times are whole milliseconds, judged one by one and against no clock (RS-815). Records may also be given as ``dict`` in
wire form. In a JSON field ``None`` is null, a value, and ``ABSENT`` says nothing (RS-813).
"""

from tenure.attempts import patching, progress, putting, reading
from tenure.attempts.context import AttemptContext
from tenure.metrics import operations
from tenure_model.admission.json_values import JsonValue
from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.attempt_outcomes import AttemptHeartbeatResult, FinishResult, PatchResult, PutResult
from tenure_model.vocabulary.attempts import Attempt, AttemptId, AttemptOptions, AttemptPatch, FinishAttempt
from tenure_model.vocabulary.owners import OwnerId


class AttemptStore:
    """Attempts at the steps of runs, in one database. Obtained as ``store.attempts``."""

    __slots__ = (
        "_context",
        "_finish",
        "_get",
        "_heartbeat",
        "_patch",
        "_put",
    )

    def __init__(self, context: AttemptContext) -> None:
        self._context = context
        bind = context.observer.bind
        self._put = bind(operations.PUT_ATTEMPT, putting.put, context)
        self._get = bind(operations.GET_ATTEMPT, reading.get, context)
        self._heartbeat = bind(operations.HEARTBEAT_ATTEMPT, progress.heartbeat, context)
        self._finish = bind(operations.FINISH_ATTEMPT, progress.finish, context)
        self._patch = bind(operations.PATCH_ATTEMPT, patching.patch, context)

    @property
    def options(self) -> AttemptOptions:
        """The policy that the store was opened with, every default filled in (RS-800..RS-803)."""
        return self._context.options

    def put(self, attempt: Attempt, owner: OwnerId) -> PutResult:
        """Record an attempt, in any state and with any of its optional fields (RS-820..RS-824).

        ``Inserted``. ``Upserted``: in mode ``upsert``, an attempt in progress is overwritten whole. ``RunNotFound``.
        ``FenceLost``: you do not own the run. ``ExistingSame``: the same is recorded already, so a repeated put is
        safe. ``Conflict``: something else is. ``decode_failed`` where what is recorded cannot be compared.
        """
        return self._put(attempt, owner)

    def get(self, id: AttemptId | Attempt | FinishAttempt) -> Attempt | None:
        """The attempt, or ``None``; ``decode_failed`` if its row is corrupt (RS-830). Needs no ownership."""
        return self._get(id)

    def heartbeat(
        self,
        run_id: str,
        step_key_digest: str,
        attempt: int,
        owner: OwnerId,
        now_ms: int,
        checkpoint: JsonValue | AbsentType = ABSENT,
    ) -> AttemptHeartbeatResult:
        """Show that an attempt is still moving, and perhaps save what it would resume from (RS-840..RS-842).

        The stamp never moves back. ``Updated``. ``NotFound``: no such attempt. ``FenceLost``: you do not own the run.
        ``StateChanged``: you do, and the attempt is not in progress.
        """
        return self._heartbeat(run_id, step_key_digest, attempt, owner, now_ms, checkpoint)

    def finish(self, attempt: FinishAttempt, owner: OwnerId) -> FinishResult:
        """End an attempt that is in progress, in a state that is not (RS-850, RS-851).

        What is absent stays as recorded. ``Finished``. ``StateChanged``: it has ended before, and that stands. The
        other losses are those of ``heartbeat``.
        """
        return self._finish(attempt, owner)

    def patch(self, id: AttemptId | Attempt | FinishAttempt, patch: AttemptPatch, owner: OwnerId) -> PatchResult:
        """Replace checkpoint, error, outcome or meta of an attempt in any state (RS-860, RS-861).

        What is absent stays as recorded; state and times never move. ``Patched``, for an empty patch as well.
        ``NotFound``: no such attempt. ``FenceLost``: you do not own the run.
        """
        return self._patch(id, patch, owner)
