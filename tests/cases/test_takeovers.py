"""Takeovers against owners that finish, and against storage that fails in the middle (BR-29, BR-32)."""

import pytest

import tenure
from tenure.consensus.strategy import Granted
from tenure.database.engine import CommitUnknownError, DatabaseError
from tenure.database.sqlite import SqliteEngine
from tests.cases.support import (
    STALE,
    T0,
    A,
    B,
    PassThrough,
    StoreSubject,
    WrappedEngine,
    expired,
    must,
    owned,
    stolen,
    unchanged,
)
from tests.database.support import Faults, FaultyEngine

NOW = T0 + STALE + 1


def finished_run_is_not_rescued(make):
    """A snapshot taken before the owner settled or suspended the run takes nothing from it."""
    for status in ("completed", "failed", "cancelled", "suspended"):
        subject = owned(make)
        seen = subject.get("r")
        subject.clock_ms = NOW
        must(subject.transition_owned("r", A, status), tenure.Transitioned)
        with unchanged(subject):
            assert subject.steal("r", seen, B, NOW, expired(A, NOW)) == tenure.SnapshotChanged()
            assert subject.claim_and_own("r", seen, B, NOW, expired(A, NOW)) == tenure.SnapshotChanged()
            assert subject.claim_and_own("r", seen, A, NOW) == tenure.SnapshotChanged()
            assert subject.claim("r", seen, B, NOW) == tenure.SnapshotChanged()
            now_row = subject.get("r")
            assert subject.steal("r", now_row, B, NOW, expired(A, NOW)) == tenure.LivenessUnconfirmed()


def test_br_29_a_rescue_of_a_finished_run(make):
    """BR-29: the owner settles after the snapshot was taken: ``SnapshotChanged``, and the row stays as it is."""
    finished_run_is_not_rescued(make)


class Generous(tenure.LocalConsensus):
    """Grants every steal."""

    def steal(self, run_id, claimant, now_ms, evidence):
        return Granted(now_ms)


ID_ONLY = (r"(claimed_at_ms = \?5\s+WHERE run_id = \?1) AND status = \?6 AND [^;]*?, 0\)", r"\1 AND ?10 IS ?10")


def test_br_29_kills_a_rescue_by_id(kills):
    """BR-29: a rescue whose update checks the id alone puts its claim on a finished run, once the lease lets it."""
    kills(finished_run_is_not_rescued, ID_ONLY, consensus=Generous())


def test_br_29_the_lease_stands_behind_the_row(make_store):
    """BR-29: where only the lease is too generous, the row's own comparison still refuses."""
    finished_run_is_not_rescued(lambda: make_store(consensus=Generous()))


def steal(subject):
    """B steals the stale run."""
    return subject.steal("r", subject.seen, B, NOW, expired(A, NOW))


def seize(subject):
    """B owns the stale run at once."""
    return subject.claim_and_own("r", subject.seen, B, NOW, expired(A, NOW))


def recover(subject):
    """B clears A's claim, which is stale."""
    return subject.recover_claim("claimed", A, T0, B, NOW, expired(A, NOW))


def activate(subject):
    """A thief of another run activates."""
    return subject.activate("stolen", B, NOW, subject.seen)


def abandon(subject):
    """A thief of another run gives its claim back."""
    return subject.abandon_claim("stolen", B, NOW)


def settle(subject):
    """The owner settles."""
    return subject.transition_owned("r", A, "failed", '{"error":1}')


def beat(subject):
    """The owner beats."""
    return subject.heartbeat("r", A, NOW)


CALLS = (steal, seize, recover, activate, abandon, settle, beat)


class Stage:
    """Runs in every situation that the calls need, on a file whose connections fail on demand."""

    def __init__(self, path, wrap=None, retry=None):
        self.faults = Faults()
        engine = FaultyEngine(path, self.faults)
        self.subject = StoreSubject(engine if wrap is None else WrappedEngine(engine, wrap), retry=retry)
        owned(lambda: self.subject)
        for run_id in ("claimed", "stolen"):
            must(self.subject.create(run_id, "{}"), type(None))
        must(self.subject.claim("claimed", tenure.PENDING, A, T0), tenure.Claimed)
        must(self.subject.claim_and_own("stolen", tenure.PENDING, A, T0), tenure.Activated)
        self.subject.clock_ms = NOW
        self.subject.seen = self.subject.get("r")
        must(self.subject.steal("stolen", self.subject.seen, B, NOW, expired(A, NOW)), tenure.Claimed)
        self.statements = 0

    def fail(self, at, code):
        """From now on fail before the statement of this number, once."""
        self.statements = 0

        def before(sql):
            self.statements += 1
            if self.statements == at:
                raise DatabaseError(code)

        self.faults.before = before


ONCE = tenure.RetryPolicy(attempts=1)


def clean_run(tmp_path, call):
    """Outcome, end state and number of statements of the call when nothing fails."""
    stage = Stage(tmp_path / "clean.db", retry=ONCE)
    stage.fail(0, "io")
    outcome = call(stage.subject)
    statements, state = stage.statements, without_identity(stage.subject.state())
    stage.subject.close()
    return outcome, state, statements


def without_identity(state):
    """A database's contents but for its random name and the times of its migrations."""
    return {name: rows for name, rows in state.items() if name not in ("flows_run_source", "flows_migrations")}


def survives_every_fault(tmp_path, call, wrap=None):
    """A failure at any statement leaves the state as it was, and the same call then succeeds as if nothing had been."""
    outcome, end, statements = clean_run(tmp_path, call)
    assert statements >= 4, "BEGIN, row, lease, COMMIT"
    for code in ("busy", "io"):
        stage = Stage(tmp_path / f"{code}.db", wrap, ONCE)
        for at in range(1, statements + 1):
            before = stage.subject.state()
            stage.fail(at, code)
            error = call(stage.subject)
            assert isinstance(error, tenure.RunStoreError), (code, at)
            assert error.code == "persistence_failed"
            assert not isinstance(error, tenure.CommitOutcomeUnknown)
            assert error.cause["cause"] == {"code": code}
            stage.fail(0, code)
            assert stage.subject.state() == before, (code, at)
        assert call(stage.subject) == outcome
        assert without_identity(stage.subject.state()) == end
        stage.subject.close()


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_br_32_a_fault_at_every_statement(tmp_path, call):
    """BR-32: busy or an I/O error at each statement is told, undoes everything, and the call can be repeated."""
    survives_every_fault(tmp_path, call)


class KeepsWhatFailed(PassThrough):
    """Commits where it should roll back."""

    def rollback(self):
        if self.inner.in_transaction:
            self.inner.commit()


@pytest.mark.parametrize("call", [steal, recover], ids=lambda call: call.__name__)
def test_br_32_kills_a_rollback_that_keeps(tmp_path, call):
    """BR-32: half of a takeover left behind by a failure is a third state, and is found."""
    with pytest.raises(AssertionError):
        survives_every_fault(tmp_path, call, KeepsWhatFailed)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_br_32_a_passing_lock_is_not_told(tmp_path, call):
    """BR-32: a lock conflict at any statement that goes away is repeated inside the call, with the same answer."""
    outcome, end, statements = clean_run(tmp_path, call)
    for at in range(1, statements + 1):
        stage = Stage(":memory:")
        stage.fail(at, "busy")
        assert call(stage.subject) == outcome
        assert without_identity(stage.subject.state()) == end
        stage.subject.close()


@pytest.mark.parametrize("applied", [False, True])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_br_32_an_unknown_commit_has_two_ends(tmp_path, call, applied):
    """BR-32: where COMMIT itself fails the caller is told so, and finds the state before or the state after."""
    outcome, end, _ = clean_run(tmp_path, call)
    stage = Stage(tmp_path / "runs.db", retry=ONCE)
    before = without_identity(stage.subject.state())

    def instead_of_commit(connection):
        connection.commit() if applied else connection.rollback()
        raise CommitUnknownError("io")

    stage.faults.instead_of_commit = instead_of_commit
    error = call(stage.subject)
    stage.faults.instead_of_commit = None

    assert isinstance(error, tenure.CommitOutcomeUnknown)
    assert without_identity(stage.subject.state()) == (end if applied else before)
    assert applied or call(stage.subject) == outcome
    stage.subject.close()


def test_br_32_a_thief_whose_takeover_failed_can_go_on(tmp_path):
    """BR-32: after a failed activation the claim stands, and activating again makes the thief the owner."""
    faults = Faults()
    subject = owned(lambda: StoreSubject(FaultyEngine(tmp_path / "runs.db", faults), retry=ONCE))
    token, row = stolen(subject, B, NOW)

    def away(sql):
        raise DatabaseError("io")

    faults.before = away
    failed = subject.activate("r", B, token, row)
    faults.before = lambda sql: None
    subject.close()
    again = StoreSubject(SqliteEngine(str(tmp_path / "runs.db")))
    again.clock_ms = NOW

    assert failed.code == "persistence_failed"
    assert again.activate("r", B, token, row) == tenure.Activated()
    again.close()
