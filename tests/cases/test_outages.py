"""Storage that is slow, busy or away, and what an owner may do before and after (BR-22, BR-23, BR-26)."""

import apsw
import pytest

import tenure
from tenure.database.engine import DatabaseError
from tenure.database.sqlite import SqliteEngine
from tests.cases.support import STALE, T0, A, B, StoreSubject, expired, must, owned, stolen, unchanged
from tests.database.support import Faults, FaultyEngine

TOLERANCE = tenure.HEARTBEAT_WRITE_TOLERANCE_MS
INTERVAL = tenure.HEARTBEAT_INTERVAL_MS
STEP_MS = 50


class Outage:
    """An owner that beats while another connection holds the write lock, and a peer that tries to steal, on one file.

    Time is virtual and passes only while the owner waits. The owner's budget counts from ``last``, the reading of its
    last acknowledged beat, and ended at ``stopped_at``; ``stolen_at`` is the peer's success. ``holds`` are the periods
    of the lock, in ms from the start; a further one begins with the acknowledgement after the one before.
    """

    def __init__(self, path, *holds):
        self.owner = owned(lambda: StoreSubject(SqliteEngine(str(path), 0), sleep=self.sleep))
        self.peer = StoreSubject(SqliteEngine(str(path), 0), retry=tenure.RetryPolicy(attempts=1))
        self.now_ms = self.last = T0
        self.snapshot = self.owner.get("r")
        self.stopped_at = self.stolen_at = None
        self.acknowledged = []
        self.lock = apsw.Connection(str(path))
        self.releases = [T0 + hold for hold in holds]
        self.take_lock()

    def take_lock(self):
        """Somebody begins a long transaction, if there is another period left."""
        if self.releases and not self.lock.in_transaction:
            self.lock.execute("BEGIN IMMEDIATE")

    def sleep(self, seconds):
        """Let time pass, and everybody else act meanwhile."""
        for _ in range(max(1, round(seconds * 1_000 / STEP_MS))):
            self.now_ms += STEP_MS
            self.owner.clock_ms = self.peer.clock_ms = self.now_ms
            if self.lock.in_transaction and self.now_ms >= self.releases[0]:
                self.lock.execute("ROLLBACK")
                self.releases.pop(0)
            if self.stopped_at is None and self.now_ms - self.last >= TOLERANCE:
                self.stopped_at = self.now_ms
            if self.stolen_at is None:
                taking = self.peer.steal("r", self.snapshot, B, self.now_ms, expired(A, self.now_ms))
                self.stolen_at = self.now_ms if isinstance(taking, tenure.Claimed) else None

    def count_from(self, sent_ms):
        """The budget starts anew with the reading that the store has."""
        self.last = sent_ms

    def run(self):
        """The owner beats at every interval until its budget is spent, and the peer has its chance."""
        while self.now_ms < T0 + 3 * STALE:
            self.sleep(INTERVAL / 1_000)
            if self.stopped_at is None:
                sent_ms = self.now_ms
                if self.owner.heartbeat("r", A, sent_ms) == tenure.Updated():
                    self.snapshot = self.owner.get("r")
                    self.acknowledged.append((sent_ms, self.now_ms, self.snapshot.heartbeat_at_ms))
                    self.count_from(sent_ms)
                    self.take_lock()
        self.lock.close()
        self.peer.close()
        self.owner.close()
        return self


def stops_in_time(outage):
    """The owner's budget was over before a peer had the run."""
    assert outage.stolen_at is None or (outage.stopped_at is not None and outage.stopped_at < outage.stolen_at)


@pytest.mark.parametrize("hold_ms", [1_000, 10_000, 15_450, 18_000, 19_000, 25_000, 31_000, 45_000])
def test_br_22_an_owner_whose_beats_queue(tmp_path, hold_ms):
    """BR-22: however long the write lock is held, the owner's budget, counted from the reading of its last acknowledged
    beat, ends before a peer steals; the loop that interrupts the work is not part of this store."""
    outage = Outage(tmp_path / "runs.db", hold_ms).run()

    stops_in_time(outage)
    assert (outage.stolen_at is None) == (hold_ms <= 10_000)


def test_br_22_a_late_acknowledgement_extends_nothing(tmp_path):
    """BR-22: a beat that waited 10 s is stored with the reading it was sent with, not with that of its success."""
    outage = Outage(tmp_path / "runs.db", 10_000).run()
    sent_ms, acknowledged_ms, stored_ms = outage.acknowledged[0]

    assert sent_ms == stored_ms == T0 + INTERVAL
    assert acknowledged_ms >= T0 + 10_000


class CountsFromSuccess(Outage):
    """An owner whose budget starts when a beat succeeded."""

    def count_from(self, sent_ms):
        self.last = self.now_ms


def test_br_22_kills_a_budget_from_the_acknowledgement(tmp_path):
    """BR-22: after a beat that waited, and a lock right behind it, an owner that counts from the success of the beat
    still believes in itself when a peer steals; one that counts from its reading does not."""
    stops_in_time(Outage(tmp_path / "right.db", 10_000, 31_100).run())

    with pytest.raises(AssertionError):
        stops_in_time(CountsFromSuccess(tmp_path / "wrong.db", 10_000, 31_100).run())


def test_br_22_the_simulation_waits(tmp_path):
    """BR-22: without a lock every beat is acknowledged at once, so the waiting above is the lock's."""
    outage = Outage(tmp_path / "runs.db").run()

    assert len(outage.acknowledged) == 3 * STALE // INTERVAL
    assert all(sent_ms == acknowledged_ms for sent_ms, acknowledged_ms, _ in outage.acknowledged)


def reconfirmation(make):
    """After a lapse the same owner renews by ``reconfirm`` unless somebody has claimed the run meanwhile."""
    for lapse_ms in (TOLERANCE, STALE, STALE + 1, 10 * STALE):
        subject = owned(make)
        granted = subject.lease()[:5]
        subject.clock_ms = now_ms = T0 + lapse_ms
        assert subject.reconfirm("r", A, now_ms) == tenure.Updated()
        assert subject.lease()[:5] == granted
        assert subject.get("r").heartbeat_at_ms == now_ms
        assert subject.get("r").owner == A
        now_ms += STALE + 1
        token, _ = stolen(subject, B, now_ms)
        with unchanged(subject):
            assert subject.reconfirm("r", A, now_ms) == tenure.FenceLost()
        must(subject.abandon_claim("r", B, token), tenure.Abandoned)
        assert subject.reconfirm("r", A, now_ms) == tenure.Updated()


def test_br_23_reconfirmation_after_a_lapse(make):
    """BR-23: however long the lapse, an unclaimed owner renews, with owner and grant as before; a claim forbids it."""
    reconfirmation(make)


@pytest.mark.parametrize(
    "rewrite",
    [
        (r"AND claim_host_id IS NULL(\s+RETURNING heartbeat_at_ms)", r"\1"),
        (r"AND claim_host_id IS NULL(\s+RETURNING h)", r"AND claim_host_id IS NULL AND heartbeat_at_ms > ?5 - 19000\1"),
    ],
    ids=["past a claim", "never after a lapse"],
)
def test_br_23_kills_reconfirming_always_or_never(kills, rewrite):
    """BR-23: renewing past a pending claim, and inferring the loss from one's own clock, are both found."""
    kills(reconfirmation, rewrite)


FENCED = {
    "heartbeat": lambda subject, now_ms: subject.heartbeat("r", A, now_ms),
    "reconfirm": lambda subject, now_ms: subject.reconfirm("r", A, now_ms),
    "rewrite": lambda subject, now_ms: subject.transition_owned("r", A, "running", "{}"),
    "settle": lambda subject, now_ms: subject.transition_owned("r", A, "completed"),
}


@pytest.mark.parametrize("first", FENCED)
@pytest.mark.parametrize("replaced", [False, True])
def test_br_26_the_first_write_after_an_outage(tmp_path, first, replaced):
    """BR-26: nothing passes while storage is away. Afterwards a replaced owner's first write of any kind is lost; one
    merely expired may write without beating first, since guards ask for identity and never for age (H-29)."""
    faults = Faults()
    subject = owned(lambda: StoreSubject(FaultyEngine(tmp_path / "runs.db", faults)))

    def away(sql):
        raise DatabaseError("io")

    faults.before = away
    subject.clock_ms = now_ms = T0 + STALE + 1
    during = {name: call(subject, now_ms) for name, call in FENCED.items()}
    faults.before = lambda sql: None
    if replaced:
        peer = StoreSubject(str(tmp_path / "runs.db"))
        token, row = stolen(peer, B, now_ms)
        must(peer.activate("r", B, token, row), tenure.Activated)
        peer.close()
    before = subject.state()
    outcome = FENCED[first](subject, now_ms)

    assert {error.code for error in during.values()} == {"persistence_failed"}
    if replaced:
        assert outcome == tenure.FenceLost()
        assert subject.state() == before
    else:
        assert outcome in (tenure.Updated(), tenure.Transitioned())
    subject.close()


def expired_owner_against_thief(make):
    """An expired owner that writes between a thief's steal and activation costs the thief its claim, never the run."""
    for write, loss in (
        (lambda subject: subject.heartbeat("r", A, subject.clock_ms), tenure.SnapshotChanged()),
        (lambda subject: subject.transition_owned("r", A, "completed"), tenure.ClaimLost()),
        (lambda subject: subject.transition_owned("r", A, "suspended"), tenure.ClaimLost()),
    ):
        subject = owned(make)
        token, row = stolen(subject, B, T0 + STALE + 1)
        must(write(subject), tenure.Updated | tenure.Transitioned)
        owner = subject.get("r").owner
        assert subject.activate("r", B, token, row) == loss
        assert subject.get("r").owner == owner
        assert subject.get("r").claim is None


def test_br_26_an_owner_that_wakes_before_its_thief(make):
    """BR-26: one of the two owns the run at any time: the thief learns by its activation that the owner was back."""
    expired_owner_against_thief(make)


def test_br_26_kills_an_activation_that_does_not_look(kills):
    """BR-26: an activation that ignores what it expected takes the run from an owner that is back at work."""
    kills(expired_owner_against_thief, (r"SELECT status = \?6 AND .* AND heartbeat_at_ms IS \?10", "SELECT ?10 = ?10"))
