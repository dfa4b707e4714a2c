"""The sixteen operations on runs, as a program calls them.

Every operation admits its arguments first and raises ``RunStoreError("invalid_run")`` for the first that is refused;
nothing is read or written then. Every write is one transaction, or a savepoint inside the caller's. A loss is an
answer, never an error (RS-364); storage that fails is ``RunStoreError("persistence_failed")``, or
``CommitOutcomeUnknown`` where the write may have taken effect. Times are whole milliseconds. Records may also be given
as ``dict`` in wire form.
"""

from tenure.metrics import operations
from tenure.runs import beating, cancellation, claims, creation, owning, reading, takeovers, transitions
from tenure.runs.context import RunContext
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

    __slots__ = (
        "_abandon_claim",
        "_acknowledge_cancel",
        "_activate",
        "_claim",
        "_claim_and_own",
        "_create",
        "_get",
        "_heartbeat",
        "_latest_round",
        "_lineage",
        "_reconfirm",
        "_recover_claim",
        "_request_cancel",
        "_request_cancel_lineage",
        "_steal",
        "_transition_owned",
    )

    def __init__(self, context: RunContext) -> None:
        bind = context.observer.bind
        self._create = bind(operations.CREATE, creation.create, context)
        self._get = bind(operations.GET, reading.get, context)
        self._lineage = bind(operations.LINEAGE, reading.lineage, context)
        self._latest_round = bind(operations.LATEST_ROUND, reading.latest_round, context)
        self._request_cancel = bind(operations.REQUEST_CANCEL, cancellation.request_cancel, context)
        self._request_cancel_lineage = bind(
            operations.REQUEST_CANCEL_LINEAGE, cancellation.request_cancel_lineage, context
        )
        self._acknowledge_cancel = bind(operations.ACKNOWLEDGE_CANCEL, cancellation.acknowledge_cancel, context)
        self._claim = bind(operations.CLAIM, claims.claim, context)
        self._claim_and_own = bind(operations.CLAIM_AND_OWN, owning.claim_and_own, context)
        self._activate = bind(operations.ACTIVATE, claims.activate, context)
        self._abandon_claim = bind(operations.ABANDON_CLAIM, claims.abandon_claim, context)
        self._recover_claim = bind(operations.RECOVER_CLAIM, takeovers.recover_claim, context)
        self._heartbeat = bind(operations.HEARTBEAT, beating.heartbeat, context)
        self._reconfirm = bind(operations.RECONFIRM, beating.reconfirm, context)
        self._transition_owned = bind(operations.TRANSITION_OWNED, transitions.transition_owned, context)
        self._steal = bind(operations.STEAL, takeovers.steal, context)

    def create(self, run_id: str, state_json: str, options: CreateOptions | AbsentType | None = ABSENT) -> None:
        """Insert a ``pending`` run whose state is ``state_json``, kept character by character (RS-400..RS-402).

        ``constraint`` where the id or the (lineage, ordinal) is taken or the parent does not exist.
        """
        self._create(run_id, state_json, options)

    def get(self, run_id: str) -> RunRow:
        """The run. ``not_found_row`` if there is none, ``decode_failed`` if its row is corrupt (RS-405..RS-407)."""
        return self._get(run_id)

    def lineage(self, run_id: str) -> tuple[RunRow, ...]:
        """Every round of the logical run that ``run_id`` belongs to, in order; none for an unknown id (RS-740..RS-742).

        One corrupt member fails the whole read with ``decode_failed``.
        """
        return self._lineage(run_id)

    def latest_round(self, run_id: str) -> RunRow:
        """The round with the highest ordinal in the lineage of ``run_id`` (RS-743). Errors as ``get``."""
        return self._latest_round(run_id)

    def request_cancel(self, run_id: str, now_ms: int) -> RequestCancelOutcome:
        """Ask for cancellation of a live run (RS-420..RS-424).

        ``CancelRequested``: recorded at ``now_ms``. ``AlreadyRequested``: an earlier request stands. ``Terminal``: the
        run has settled. ``NotFound``.
        """
        return self._request_cancel(run_id, now_ms)

    def request_cancel_lineage(self, run_id: str, now_ms: int) -> RequestCancelOutcome:
        """Ask for cancellation of every live round of a lineage at once (RS-430..RS-433).

        ``CancelRequested`` if at least one round was newly asked; otherwise as ``request_cancel``, for the last live
        round, or for the last round where all have settled.
        """
        return self._request_cancel_lineage(run_id, now_ms)

    def acknowledge_cancel(self, run_id: str, owner: OwnerId, now_ms: int) -> bool:
        """Record that the owner has seen the request (RS-440..RS-442); only the first record is kept.

        False, and nothing written, unless the run is running under ``owner`` and cancellation is requested.
        """
        return self._acknowledge_cancel(run_id, owner, now_ms)

    def claim(self, run_id: str, expected: RunSnapshot | RunRow, claimant: OwnerId, now_ms: int) -> ClaimOutcome:
        """Claim a pending or suspended run (RS-450..RS-456); ``activate`` makes it yours.

        ``Claimed`` carries the token. ``AlreadyClaimed``: a claim is pending, perhaps your own. ``HeartbeatFresh``: it
        is running. ``SnapshotChanged``: read it again. ``NotFound``.
        """
        return self._claim(run_id, expected, claimant, now_ms)

    def claim_and_own(
        self,
        run_id: str,
        expected: RunSnapshot | RunRow,
        owner: OwnerId,
        now_ms: int,
        evidence: LivenessEvidence | AbsentType = ABSENT,
    ) -> ClaimAndOwnOutcome:
        """Own a run in one step (RS-460..RS-466): unowned, one's own gone stale, or with evidence another's gone stale.

        ``Activated``: yours. ``EvidenceRequired``: its owner is stale and only matching evidence is missing. The losses
        are those of ``claim``.
        """
        return self._claim_and_own(run_id, expected, owner, now_ms, evidence)

    def activate(
        self, run_id: str, claimant: OwnerId, claimed_at_ms: int, expected: RunSnapshot | RunRow
    ) -> ActivateOutcome:
        """Turn a claim into ownership (RS-470..RS-475). Present the snapshot that the claim was made with.

        ``Activated``. ``ClaimLost``: the claim is not the one that stands. ``SnapshotChanged``: the run moved, and the
        claim has been given back.
        """
        return self._activate(run_id, claimant, claimed_at_ms, expected)

    def abandon_claim(self, run_id: str, claimant: OwnerId, claimed_at_ms: int) -> AbandonClaimOutcome:
        """Give a claim back (RS-480). ``Abandoned``, or ``ClaimLost`` where it is not the one that stands."""
        return self._abandon_claim(run_id, claimant, claimed_at_ms)

    def recover_claim(
        self,
        run_id: str,
        stale_claimant: OwnerId,
        claimed_at_ms: int,
        observer: OwnerId,
        now_ms: int,
        evidence: LivenessEvidence,
    ) -> RecoverClaimOutcome:
        """Clear the claim of a claimant that died (RS-485, RS-486); the run stays as it is.

        ``Recovered``. ``LivenessUnconfirmed``: the evidence does not match, nothing was read. ``ClaimChanged``: another
        claim, or none. ``ClaimFresh``: not more than 30 s old. ``NotFound``.
        """
        return self._recover_claim(run_id, stale_claimant, claimed_at_ms, observer, now_ms, evidence)

    def heartbeat(self, run_id: str, owner: OwnerId, now_ms: int) -> HeartbeatOutcome:
        """Renew the lease of a run one owns; the stamp never moves back (RS-490..RS-494).

        ``Updated``. ``FenceLost``: not yours any more, stop working. ``NotFound``.
        """
        return self._heartbeat(run_id, owner, now_ms)

    def reconfirm(self, run_id: str, owner: OwnerId, now_ms: int) -> HeartbeatOutcome:
        """As ``heartbeat``, but ``FenceLost`` as well while anybody's claim is pending (RS-490, RS-493)."""
        return self._reconfirm(run_id, owner, now_ms)

    def transition_owned(
        self,
        run_id: str,
        owner: OwnerId,
        to_status: TargetStatus,
        state_json: str | AbsentType = ABSENT,
        guard: TransitionGuard | AbsentType = ABSENT,
    ) -> TransitionOutcome:
        """Move a run one owns (RS-500..RS-506): ``running`` only rewrites the state, every other status ends ownership.

        A supplied ``state_json`` replaces the state whole. ``Transitioned``. ``FenceLost``: not yours. ``GuardFailed``:
        yours, and the guard refused. ``NotFound``.
        """
        return self._transition_owned(run_id, owner, to_status, state_json, guard)

    def steal(
        self,
        run_id: str,
        expected: RunSnapshot | RunRow,
        claimant: OwnerId,
        now_ms: int,
        evidence: LivenessEvidence,
    ) -> StealOutcome:
        """Claim a running run whose owner's heartbeat is stale and dead by ``evidence`` (RS-510..RS-513).

        ``Claimed`` carries the token to activate with. ``LivenessUnconfirmed``: the evidence does not match, nothing
        was read. The losses are those of ``claim``. The old owner keeps its fence until activation.
        """
        return self._steal(run_id, expected, claimant, now_ms, evidence)
