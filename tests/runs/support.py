"""A store with a clock to set, owners, runs in every state, and a digest of the whole database."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar

import attrs

import tenure
from tenure.database.engine import Engine, SqlRow
from tenure_model.vocabulary.evidence import EvidenceKind
from tenure_model.vocabulary.facts import OwnershipFact
from tests.worlds import NOW, A, Clock, StoreWorld, raised

STALE = 30_000
SKEW = 10_000

A_AGAIN = tenure.OwnerId("h1", 1, "a2")
B = tenure.OwnerId("h1", 2, "b")
C = tenure.OwnerId("h2", 3, "c")

NOT_FOUND = tenure.NotFound()
ALREADY_CLAIMED = tenure.AlreadyClaimed()
HEARTBEAT_FRESH = tenure.HeartbeatFresh()
SNAPSHOT_CHANGED = tenure.SnapshotChanged()
FENCE_LOST = tenure.FenceLost()
CLAIM_LOST = tenure.ClaimLost()
ACTIVATED = tenure.Activated()
UPDATED = tenure.Updated()
TRANSITIONED = tenure.Transitioned()
LIVENESS_UNCONFIRMED = tenure.LivenessUnconfirmed()


class Recorder:
    """Keeps facts in a list, or raises what it is told to."""

    def __init__(self) -> None:
        self.facts: list[OwnershipFact] = []
        self.error: BaseException | None = None

    def record(self, fact: OwnershipFact) -> None:
        if self.error is not None:
            raise self.error
        self.facts.append(fact)

    def drain(self) -> list[tuple[str, tenure.OwnerId, int | None]]:
        """What was recorded since the last call: transition, owner, token."""
        facts, self.facts = self.facts, []
        return [(fact.transition, fact.owner, fact.granted_at_ms) for fact in facts]


@attrs.frozen
class World(StoreWorld):
    """One store and everything that is injected into it."""

    TABLES: ClassVar = (
        "flows_runs",
        "flows_attempts",
        "flows_run_source",
        "flows_run_changes",
        "flows_consensus_leases",
    )

    store: tenure.Store
    clock: Clock
    recorder: Recorder

    @property
    def runs(self) -> tenure.RunStore:
        return self.store.runs

    def row(self, run_id: str = "r") -> tenure.RunRow:
        return self.runs.get(run_id)

    def lease(self, run_id: str = "r") -> SqlRow | None:
        """The lease: owner's nonce, granted, heartbeat, claimant's nonce, claimed."""
        rows = self.store.database.read(
            "SELECT owner_nonce, granted_at_ms, heartbeat_at_ms, claim_nonce, claimed_at_ms"
            " FROM flows_consensus_leases WHERE run_id = ?",
            (run_id,),
        )
        return rows[0] if rows else None

    def revision(self, run_id: str = "r") -> int:
        """The newest revision of the run."""
        found: int = self.store.database.read("SELECT revision FROM flows_run_changes WHERE run_id = ?", (run_id,))[0][
            0
        ]
        return found

    def source_revision(self) -> int:
        found: int = self.store.database.read("SELECT revision FROM flows_run_source")[0][0]
        return found

    def owned(self, run_id: str = "r", owner: tenure.OwnerId = A, at: int = NOW) -> tenure.RunSnapshot:
        """Make a run that ``owner`` has run since ``at``; answers the snapshot to present."""
        self.runs.create(run_id, "{}")
        assert self.runs.claim_and_own(run_id, tenure.PENDING, owner, at) == ACTIVATED
        self.recorder.drain()
        return running(owner, at)

    def claimed(self, run_id: str = "r", claimant: tenure.OwnerId = A, at: int = NOW) -> int:
        """Make a pending run that ``claimant`` has claimed; answers the token."""
        self.runs.create(run_id, "{}")
        assert self.runs.claim(run_id, tenure.PENDING, claimant, at) == tenure.Claimed(at)
        self.recorder.drain()
        return at

    def stolen(self, thief: tenure.OwnerId = B, owner: tenure.OwnerId = A) -> tuple[tenure.RunSnapshot, int]:
        """Make a run that ``owner`` left stale and ``thief`` has stolen; answers the snapshot and the token."""
        snapshot = self.owned("r", owner, NOW - STALE - 1)
        outcome = self.runs.steal("r", snapshot, thief, NOW, expired(owner))
        assert outcome == tenure.Claimed(NOW)
        self.recorder.drain()
        return snapshot, NOW

    def settled(self, status: tenure.TerminalRunStatus = "completed") -> None:
        """Make a run that ``A`` has run and settled."""
        self.owned()
        assert self.runs.transition_owned("r", A, status) == TRANSITIONED
        self.recorder.drain()


def new_world(path: str | Engine = ":memory:", **options: object) -> World:
    """A store on a fresh database, at a path or over an engine."""
    clock, recorder = Clock(), Recorder()
    store = tenure.open(path, clock=clock, facts=lambda database: recorder, sleep=lambda seconds: None, **options)  # type: ignore[arg-type]  # options of `open`
    return World(store, clock, recorder)


def running(owner: tenure.OwnerId = A, heartbeat_at_ms: int = NOW) -> tenure.RunSnapshot:
    """The snapshot of a running run."""
    return tenure.RunSnapshot("running", owner, heartbeat_at_ms)


def evidence(owner: tenure.OwnerId = A, at: int = NOW, kind: EvidenceKind = "lease-expired") -> tenure.LivenessEvidence:
    """Evidence that ``owner`` is gone."""
    return tenure.LivenessEvidence(owner, at, kind)


expired = evidence


@contextmanager
def unchanged(world: World) -> Iterator[None]:
    """Everything in the database, and every fact, is afterwards what it was before."""
    before, facts = world.digest(), list(world.recorder.facts)
    yield
    assert world.digest() == before
    assert world.recorder.facts == facts


def refused(call: Callable[[], object]) -> tenure.RunStoreError:
    """The error that a call raises."""
    return raised(tenure.RunStoreError, call)
