"""Attempts in the database that sessions share: `tenure_model.semantics.attempts.transactions`."""

from collections.abc import Callable

import pytest

from tenure_model.semantics import transactions
from tenure_model.semantics.attempts.table import NO_ATTEMPTS, AttemptTable, has_attempts
from tenure_model.semantics.attempts.transactions import (
    AttemptLevels,
    begun,
    committed,
    crashed,
    execute,
    execute_run,
    rolled_back,
    visible,
)
from tenure_model.semantics.commands import Command
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tenure_model.semantics.steps import violated
from tenure_model.semantics.transactions import Database
from tenure_model.vocabulary.attempt_errors import AttemptStoreError
from tenure_model.vocabulary.attempt_outcomes import Inserted
from tenure_model.vocabulary.errors import RunStoreError
from tests.semantics.attempts.tables import ATTEMPT, BARE, ID, INSERT, holding
from tests.semantics.worlds import ALICE, T, running

PUT = Command("attempt.put", {"attempt": ATTEMPT, "owner": ALICE}, T)
GET = Command("attempt.get", {"id": ID}, T)
DELETE = Command("row.delete", {"runId": "r"}, T)


class Bench:
    """A database with sessions ``a`` and ``b`` on it, and the attempts beside it."""

    def __init__(self, profile: Profile = REFERENCE, attempts: AttemptTable = NO_ATTEMPTS) -> None:
        self.database = Database(running(profile))
        self.attempts = AttemptLevels(attempts)

    def do(self, session: str, command: Command) -> object:
        """One attempt operation; answers its outcome."""
        self.attempts, step = execute(self.database, self.attempts, session, INSERT, command)
        return step.outcome

    def control(self, session: str, name: str) -> None:
        """A level begins or ends, for runs and attempts together."""
        act: Callable[..., tuple[Database, RunStoreError | None]] = getattr(transactions, name)
        follow = {"begin": begun, "commit": committed, "rollback": rolled_back}[name]
        self.database, error = act(self.database, session)

        assert error is None
        self.attempts = follow(self.attempts)

    def counts(self) -> tuple[int, int]:
        """How many attempts ``a`` and ``b`` see."""
        one, other = (visible(self.database, self.attempts, session) for session in ("a", "b"))
        return len(one.rows), len(other.rows)


def another(attempt: int) -> Command:
    """The put of another attempt of the step."""
    return Command("attempt.put", {"attempt": {**ATTEMPT, "attempt": attempt}, "owner": ALICE}, T)


def test_a_call_outside_a_transaction_is_one() -> None:
    """It is committed for all to see at once (RS-390)."""
    bench = Bench()

    assert bench.do("a", PUT) == Inserted()
    assert bench.counts() == (1, 1)
    assert bench.attempts == AttemptLevels(holding(BARE))


def test_an_open_transaction_is_the_writers_own() -> None:
    """Others see its attempts when the outermost level is committed, not before (RS-390)."""
    bench = Bench()

    bench.control("a", "begin")
    bench.do("a", PUT)
    bench.control("a", "begin")
    bench.do("a", another(1))
    assert bench.counts() == (2, 0)
    bench.control("a", "commit")
    assert bench.counts() == (2, 0)
    bench.control("a", "commit")
    assert bench.counts() == (2, 2)
    assert bench.attempts.levels == ()


def test_a_nested_level_goes_back_to_its_savepoint() -> None:
    """What the outer level wrote stays, and it can still be undone as a whole (RS-390)."""
    bench = Bench()

    bench.control("a", "begin")
    bench.do("a", PUT)
    bench.control("a", "begin")
    bench.do("a", another(1))
    bench.control("a", "rollback")
    assert bench.counts() == (1, 0)
    bench.control("a", "begin")
    bench.do("a", another(2))
    bench.control("a", "commit")
    assert bench.counts() == (2, 0)
    bench.control("a", "rollback")
    assert bench.counts() == (0, 0)


def test_the_fence_is_what_the_session_sees() -> None:
    """A run that the same transaction gave up is no longer written to (RS-810)."""
    bench = Bench()
    release = Command("run.transitionOwned", {"runId": "r", "owner": ALICE, "toStatus": "suspended"}, T)

    bench.control("a", "begin")
    bench.database, _ = execute_run(bench.database, bench.attempts, "a", release)

    assert type(bench.do("a", PUT)).__name__ == "FenceLost"
    bench.control("a", "rollback")
    assert bench.do("a", PUT) == Inserted()


@pytest.mark.parametrize("levels", [1, 2])
def test_a_crash_undoes_every_level(levels: int) -> None:
    """Whatever was not committed never was."""
    bench = Bench()

    for level in range(levels):
        bench.control("a", "begin")
        bench.do("a", another(level))
    bench.database, bench.attempts = transactions.crash(bench.database, "a"), crashed(bench.attempts)

    assert bench.counts() == (0, 0)


def test_beside_another_writer() -> None:
    """A write is busy and changes nothing, a read passes, and so does invalid input (RS-365, RS-390)."""
    bench = Bench(attempts=holding(BARE))
    bench.control("a", "begin")
    bench.do("a", another(1))
    before = bench.attempts

    busy = bench.do("b", another(2))
    read = bench.do("b", GET)
    unread = bench.do("b", another(-1))

    assert isinstance(busy, AttemptStoreError)
    assert (busy.code, busy.method, busy.text) == ("persistence_failed", "put", "attempt persistence failed")
    assert busy.cause == {"category": "persistence_failed", "reason": "busy", "cause": {"code": "busy"}}
    assert type(read).__name__ == "Attempt"
    assert isinstance(unread, AttemptStoreError)
    assert unread.code == "invalid_attempt"
    assert bench.attempts is before


@pytest.mark.parametrize("profile", [REFERENCE, ORIGINAL])
def test_a_run_with_attempts_is_not_deleted(profile: Profile) -> None:
    """The foreign key stands in the way, so nothing is removed and no repair fires (RS-106)."""
    bench = Bench(profile, holding(BARE))
    before = bench.database

    after, step = execute_run(before, bench.attempts, "a", DELETE)

    assert step == violated(before.committed, "row.delete")
    assert after is before


def test_a_run_without_attempts_is_deleted() -> None:
    """Attempts of another run, and those that were rolled back, hold nothing (RS-106)."""
    bench = Bench(attempts=holding(BARE))
    bench.database, _ = execute_run(
        bench.database, bench.attempts, "a", Command("run.create", {"runId": "q", "stateJson": "{}"}, T)
    )
    delete_other = Command("row.delete", {"runId": "q"}, T)
    _, other = execute_run(bench.database, bench.attempts, "a", delete_other)
    fresh = Bench()
    fresh.control("a", "begin")
    fresh.do("a", PUT)
    _, inside = execute_run(fresh.database, fresh.attempts, "a", DELETE)
    fresh.control("a", "rollback")
    _, outside = execute_run(fresh.database, fresh.attempts, "a", DELETE)

    assert other.outcome is True
    assert isinstance(inside.outcome, RunStoreError)
    assert outside.outcome is True


def test_a_delete_beside_another_writer_is_busy() -> None:
    """The lock comes before the foreign key (RS-390)."""
    bench = Bench(attempts=holding(BARE))
    bench.control("a", "begin")

    _, step = execute_run(bench.database, bench.attempts, "b", DELETE)

    assert isinstance(step.outcome, RunStoreError)
    assert step.outcome.cause["cause"] == {"code": "busy"}


def test_has_attempts_compares_whole_run_ids() -> None:
    """A run is named by all of its id."""
    assert has_attempts(holding(BARE), "r")
    assert not has_attempts(holding(BARE), "rr")
    assert not has_attempts(holding(BARE), "")
