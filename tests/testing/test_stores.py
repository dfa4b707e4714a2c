"""Real stores for tests, in one call."""

from pathlib import Path

import pytest

import tenure
from tenure.testing import ManualClock, open_store

A = tenure.OwnerId("h1", 1, "a")


def event(source_seq: int, payload: object = None) -> dict[str, object]:
    """An event of run ``r``."""
    return {"runId": "r", "sourceId": "p", "sourceSeq": source_seq, "eventType": "e", "payload": payload}


def test_both_stores_are_real_and_migrated() -> None:
    """RS-982: runs, attempts and the journal work on one database, from the first call on."""
    with open_store() as store:
        store.runs.create("r", "{}")
        owned = store.runs.claim_and_own("r", tenure.PENDING, A, store.now())
        put = store.attempts.put(tenure.Attempt("r", "s", 1, "running", store.now(), {}), A)
        emitted = store.journal.emit_durable(event(0), A)

        assert owned == tenure.Activated()
        assert put == tenure.Inserted()
        assert isinstance(emitted, tenure.Accepted)


def test_each_has_a_database_of_its_own() -> None:
    """RS-982: a run of one is unknown to the next."""
    with open_store() as one, open_store() as other:
        one.runs.create("r", "{}")

        assert other.runs.lineage("r") == ()


def test_a_file_is_kept(tmp_path: Path) -> None:
    """With a path the database outlives the store."""
    with open_store(tmp_path / "t.db") as store:
        store.runs.create("r", "{}")
    with open_store(tmp_path / "t.db") as store:
        assert store.runs.get("r").run_id == "r"


def test_the_journal_holds_1024_and_rejects_more() -> None:
    """JN-421: the defaults, where no option says otherwise."""
    with open_store() as store:
        settings = store.journal.instance.settings

        assert (settings.capacity, settings.overflow) == (1_024, "reject")


def test_options_of_the_journal_are_handed_on() -> None:
    """JN-421: a mapping adds to the defaults, options and a set-up stand in their place."""
    with open_store(journal={"batchSize": 3, "overflow": "drop-newest"}) as store:
        settings = store.journal.instance.settings

        assert (settings.capacity, settings.overflow, settings.batch_size) == (1_024, "drop-newest", 3)
    options = tenure.JournalOptions(capacity=2, overflow="drop-oldest")
    for given in (options, tenure.JournalSetup(options, writer="manual")):
        with open_store(journal=given) as store:
            assert store.journal.instance.settings.capacity == 2


def test_a_wrong_option_is_refused() -> None:
    """JN-421: as the real journal refuses it."""
    with pytest.raises(tenure.JournalError, match="batchSize must be a positive safe integer"):
        open_store(journal={"batchSize": 0})


def test_the_other_options_are_handed_on() -> None:
    """Policy of attempts, strategy and clock."""
    clock = ManualClock(1_234)
    with open_store(clock=clock, attempts={"putMode": "upsert"}, consensus=tenure.NoopConsensus()) as store:
        store.runs.create("r", "{}")

        assert store.attempts.options.put_mode == "upsert"
        assert store.now() == 1_234
        assert store.runs.claim_and_own("r", tenure.PENDING, A, 1_234) != tenure.Activated()
