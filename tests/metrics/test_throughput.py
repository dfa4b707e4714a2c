"""Tests of when a settled run counts as throughput."""

import threading
from pathlib import Path

import pytest

import tenure
from tenure.database.engine import DatabaseError
from tenure.database.writer import AfterCommitError
from tests.database.support import raw
from tests.metrics.support import Observed, key, new_observed, swallow
from tests.runs.support import TRANSITIONED, A

THROUGHPUT = key("flows/run/throughput")


def complete(observed: Observed) -> object:
    """Settle the run."""
    return observed.runs.transition_owned("r", A, "completed")


def throughput(observed: Observed) -> int:
    """What the SDK and the store both have."""
    total = observed.store.counters.total("flows/run/throughput")
    assert observed.collected.counts().get(THROUGHPUT, 0) == total
    return total


def test_it_counts_at_the_outermost_commit(observed: Observed) -> None:
    """Not in the transaction, nor at the end of a savepoint in it (RS-394, RS-965)."""
    observed.world.owned()
    seen = []
    with observed.store.transaction():
        with observed.store.transaction():
            outcome = complete(observed)
            seen.append(throughput(observed))
        seen.append(throughput(observed))
    seen.append(throughput(observed))

    assert outcome == TRANSITIONED
    assert seen == [0, 0, 1]


@pytest.mark.parametrize("depth", [1, 2])
def test_a_rollback_counts_nothing(observed: Observed, depth: int) -> None:
    """Of the whole, or of a savepoint in it; the transition itself was counted (RS-961, RS-965)."""
    observed.world.owned()

    def leave() -> None:
        with observed.store.transaction():
            complete(observed)
            raise RuntimeError

    if depth == 1:
        swallow(leave)
    else:
        with observed.store.transaction():
            swallow(leave)

    assert throughput(observed) == 0
    assert observed.store.counters.total("flows_run_transitions", outcome="transitioned") == 1


def test_a_replayed_body_counts_once(observed: Observed) -> None:
    """The body runs three times, and is committed once; each replay was scheduled (RS-965, JN-143)."""
    observed.world.owned()
    observed.fail_with(DatabaseError("busy"), on="COMMIT", times=2)
    with observed.rises() as risen:
        observed.store.write(complete, observed)

    assert risen == {
        THROUGHPUT: 1,
        key("flows_run_transitions", outcome="transitioned", to="completed"): 3,
        key("flows_db_write_retries"): 2,
    }


def test_writes_that_share_a_transaction_count_each_for_itself(tmp_path: Path) -> None:
    """Threads that settle runs of one file at once: each run is one (RS-965)."""
    observed = new_observed(path=tmp_path / "t.db")
    for number in range(40):
        observed.world.owned(f"run-{number}")

    def settle(first: int) -> None:
        for number in range(first, 40, 4):
            observed.runs.transition_owned(f"run-{number}", A, "completed")

    threads = [threading.Thread(target=settle, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert throughput(observed) == 40
    observed.store.close()


def test_an_unknown_outcome_of_the_commit_counts_nothing(observed: Observed) -> None:
    """What may not have happened is no throughput."""
    observed.world.owned()
    observed.fail_with(DatabaseError("io"), on="COMMIT")
    with observed.rises() as risen:
        swallow(lambda: complete(observed))
    observed.mend()

    assert risen == {key("flows_run_transitions", outcome="failure", to="completed"): 1}


def test_work_after_the_commit_that_fails_takes_nothing_back(observed: Observed) -> None:
    """The run has settled, whatever else waited for the commit (JN-147)."""
    observed.world.owned()

    def fail() -> None:
        raise RuntimeError

    def settle() -> None:
        with observed.store.transaction():
            observed.store.after_commit(fail)
            complete(observed)

    with pytest.raises(AfterCommitError):
        settle()

    assert throughput(observed) == 1


def test_a_transaction_that_the_writer_does_not_manage_counts_nothing(tmp_path: Path) -> None:
    """A raw one holds the file, so the transition is refused as busy and never becomes a part of it (RS-965)."""
    observed = new_observed(path=tmp_path / "t.db", retry=tenure.RetryPolicy(attempts=2))
    observed.world.owned()
    outside = raw(tmp_path / "t.db")
    outside.execute("BEGIN IMMEDIATE")
    with observed.rises() as risen, pytest.raises(tenure.RunStoreError):
        complete(observed)
    outside.execute("COMMIT")

    assert risen == {
        key("flows_run_transitions", outcome="failure", to="completed"): 1,
        key("flows_db_write_retries"): 1,
    }
    outside.close()
    observed.store.close()


@pytest.mark.parametrize("explicit", [False, True])
def test_each_scheduled_repetition_is_a_retry(observed: Observed, explicit: bool) -> None:
    """Of a write, and of the BEGIN of a transaction that the caller opens (JN-143)."""
    observed.fail_with(DatabaseError("busy"), times=3)
    with observed.rises() as risen:
        if explicit:
            with observed.store.transaction():
                pass
        else:
            observed.runs.create("r", "{}")

    assert risen == {key("flows_db_write_retries"): 3}


def test_giving_up_is_no_retry(observed: Observed) -> None:
    """Ten attempts are nine repetitions (JN-143)."""
    observed.fail_with(DatabaseError("busy"))
    with observed.rises() as risen:
        swallow(lambda: observed.runs.create("r", "{}"))
    observed.mend()

    assert risen == {key("flows_db_write_retries"): 9}
