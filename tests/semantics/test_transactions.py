"""The database as sessions see it."""

import pytest

from tenure_model.semantics import transactions
from tenure_model.semantics.commands import Command
from tenure_model.semantics.transactions import Database
from tenure_model.semantics.world import World
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.outcomes import (
    Activated,
    AlreadyClaimed,
    CancelRequested,
    Claimed,
    EvidenceRequired,
    LivenessUnconfirmed,
)
from tenure_model.vocabulary.runs import PENDING, RunRow
from tests.semantics.worlds import ALICE, ALICE_AT_T, BOB, CAROL, LATE, T, expired, pending, running

CLAIM = Command("run.claim", {"runId": "r", "expected": PENDING, "claimant": BOB, "nowMs": T}, T)
CANCEL = Command("run.requestCancel", {"runId": "r", "nowMs": T}, T)
GET = Command("run.get", {"runId": "r"}, T)


def begun(world: World) -> Database:
    """A database in which ``a`` has the transaction open."""
    database, error = transactions.begin(Database(world), "a")

    assert error is None
    return database


def claim_of(row: object) -> object:
    """The claim in a row that was read."""
    assert isinstance(row, RunRow)
    return row.claim


def test_a_call_outside_is_a_transaction_of_its_own() -> None:
    """It is committed at once, for everybody (RS-390)."""
    database, step = transactions.execute(Database(pending()), "a", CLAIM)

    assert step.outcome == Claimed(T)
    assert database == Database(step.world)


def test_the_writer_reads_its_own_writes_and_others_do_not() -> None:
    """Others read what is committed until the outermost level is (RS-390)."""
    database, step = transactions.execute(begun(pending()), "a", CLAIM)

    assert step.outcome == Claimed(T)
    assert claim_of(transactions.execute(database, "a", GET)[1].outcome) == BOB
    assert claim_of(transactions.execute(database, "b", GET)[1].outcome) is None

    committed, error = transactions.commit(database, "a")

    assert error is None
    assert claim_of(transactions.execute(committed, "b", GET)[1].outcome) == BOB
    assert committed.writer is None


def test_a_rolled_back_transaction_leaves_nothing() -> None:
    """Rows, leases, revisions and facts all go (RS-393, RS-704)."""
    database, _ = transactions.execute(begun(pending()), "a", CLAIM)
    database, error = transactions.rollback(database, "a")

    assert error is None
    assert database == Database(pending())


def test_a_nested_level_merges_or_goes_back_to_its_savepoint() -> None:
    """Committed, it belongs to its parent; rolled back, only its own writes go (RS-390)."""
    outer, _ = transactions.execute(begun(pending()), "a", CANCEL)
    nested, error = transactions.begin_nested(outer, "a")
    written, step = transactions.execute(nested, "a", CLAIM)

    assert error is None
    assert step.outcome == Claimed(T)
    assert transactions.rollback(written, "a") == (outer, None)

    merged, error = transactions.commit(written, "a")

    assert error is None
    assert merged == Database(pending(), "a", step.world)
    assert transactions.commit(merged, "a") == (Database(step.world), None)
    assert transactions.rollback(merged, "a") == (Database(pending()), None)


def test_levels_nest_to_any_depth() -> None:
    """Each level has its own savepoint, undone from the inside out (RS-390)."""
    one = begun(pending())
    two, _ = transactions.begin(transactions.execute(one, "a", CANCEL)[0], "a")
    three, _ = transactions.begin(transactions.execute(two, "a", CLAIM)[0], "a")

    assert len(three.savepoints) == 2
    assert transactions.commit(three, "a")[0].savepoints == two.savepoints

    back, _ = transactions.rollback(three, "a")
    assert claim_of(transactions.execute(back, "a", GET)[1].outcome) == BOB
    back, _ = transactions.rollback(back, "a")
    assert claim_of(transactions.execute(back, "a", GET)[1].outcome) is None
    assert transactions.rollback(back, "a") == (Database(pending()), None)


def test_a_failed_call_leaves_the_transaction_open() -> None:
    """An error inside undoes that call alone (RS-390)."""
    database, _ = transactions.execute(begun(pending()), "a", CLAIM)
    again = Command("run.create", {"runId": "r", "stateJson": "1"}, T)
    unmoved, step = transactions.execute(database, "a", again)

    assert isinstance(step.outcome, RunStoreError)
    assert step.outcome.code == "constraint"
    assert unmoved == database


BUSY = [
    CLAIM,
    CANCEL,
    Command("run.claim", {"runId": "unknown", "expected": PENDING, "claimant": BOB, "nowMs": T}, T),
    Command("run.create", {"runId": "r", "stateJson": "1"}, T),
    Command("run.heartbeat", {"runId": "r", "owner": ALICE, "nowMs": T}, T),
    Command("run.acknowledgeCancel", {"runId": "r", "owner": ALICE, "nowMs": T}, T),
    Command("run.claimAndOwn", {"runId": "r", "expected": PENDING, "owner": ALICE, "nowMs": T}, T),
    Command("row.delete", {"runId": "unknown"}, T),
]


@pytest.mark.parametrize("command", BUSY)
def test_another_session_is_busy_when_it_needs_a_transaction(command: Command) -> None:
    """Whatever the answer would have been, it is ``busy`` and nothing changes (RS-363, RS-390)."""
    database = begun(running())
    unmoved, step = transactions.execute(database, "b", command)

    assert unmoved is database
    assert step.world is database.committed
    assert step.transacted
    assert step.outcome == RunStoreError(
        "persistence_failed",
        command.operation.removeprefix("run."),
        "database operation failed",
        {"category": "persistence_failed", "cause": {"code": "busy"}},
    )


STEAL = {"runId": "r", "expected": ALICE_AT_T, "claimant": BOB, "nowMs": LATE}
OWN = {"runId": "r", "expected": ALICE_AT_T, "owner": BOB, "nowMs": LATE, "evidence": ABSENT}
RECOVER = {"runId": "r", "staleClaimant": BOB, "claimedAtMs": T, "observer": CAROL, "nowMs": LATE}


@pytest.mark.parametrize(
    ("command", "outcome"),
    [
        (Command("run.steal", {**STEAL, "evidence": expired(CAROL, LATE)}, LATE), LivenessUnconfirmed()),
        (Command("run.recoverClaim", {**RECOVER, "evidence": expired(CAROL, LATE)}, LATE), LivenessUnconfirmed()),
        (Command("run.claimAndOwn", OWN, LATE), EvidenceRequired()),
        (Command("run.lineage", {"runId": "unknown"}, LATE), ()),
    ],
)
def test_another_session_is_answered_when_it_needs_none(command: Command, outcome: object) -> None:
    """Reads, unmatched evidence and invalid input pass beside the writer, over what is committed (RS-390)."""
    steal = Command("run.steal", {**STEAL, "evidence": expired(ALICE, LATE)}, LATE)
    database, _ = transactions.execute(begun(running()), "a", steal)
    unmoved, step = transactions.execute(database, "b", command)

    assert unmoved is database
    assert step.outcome == outcome

    committed, _ = transactions.commit(database, "a")
    if command.operation == "run.claimAndOwn":
        assert transactions.execute(committed, "b", command)[1].outcome == AlreadyClaimed()


def test_invalid_input_is_never_busy() -> None:
    """It is refused before a transaction is thought of (RS-300)."""
    _, step = transactions.execute(begun(running()), "b", Command("run.claim", {"runId": ""}, T))

    assert isinstance(step.outcome, RunStoreError)
    assert step.outcome.code == "invalid_run"


def test_a_busy_call_repeated_later_succeeds() -> None:
    """The very same command passes once the writer is done (RS-391)."""
    database = begun(running())
    _, step = transactions.execute(database, "b", CANCEL)
    assert isinstance(step.outcome, RunStoreError)
    database, _ = transactions.rollback(database, "a")

    assert transactions.execute(database, "b", CANCEL)[1].outcome == CancelRequested(T)


def test_two_transactions_cannot_be_open() -> None:
    """The second to begin is busy and can end nothing (RS-390)."""
    database = begun(pending())
    unmoved, error = transactions.begin(database, "b")

    assert unmoved is database
    assert isinstance(error, RunStoreError)
    assert error.cause == {"category": "persistence_failed", "cause": {"code": "busy"}}


@pytest.mark.parametrize("end", [transactions.begin_nested, transactions.commit, transactions.rollback])
@pytest.mark.parametrize("database", [Database(pending()), begun(pending())])
def test_who_has_no_transaction_ends_none(database: Database, end: object) -> None:
    """Nesting, committing and rolling back are for the writer alone."""
    assert callable(end)
    unmoved, error = end(database, "b")

    assert unmoved is database
    assert isinstance(error, RunStoreError)
    assert error.code == "persistence_failed"


def test_a_crash_drops_what_its_session_had_open() -> None:
    """Nested levels too; another session's crash changes nothing."""
    database, _ = transactions.execute(begun(pending()), "a", CLAIM)
    nested, _ = transactions.begin_nested(database, "a")

    assert transactions.crash(nested, "a") == Database(pending())
    assert transactions.crash(nested, "b") is nested
    assert transactions.crash(Database(pending()), "a") == Database(pending())


def test_visible() -> None:
    """The writer sees its working world, everybody else the committed one."""
    own = Command("run.claimAndOwn", {"runId": "r", "expected": PENDING, "owner": ALICE, "nowMs": T}, T)
    database, step = transactions.execute(begun(pending()), "a", own)

    assert step.outcome == Activated()
    assert transactions.visible(database, "a") is step.world
    assert transactions.visible(database, "b") == pending()
