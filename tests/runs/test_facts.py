"""Tests of the seam for ownership facts: when it is called, and what its failure does."""

from collections.abc import Callable

import pytest

import tenure
from tenure.database.engine import DatabaseError
from tenure.database.writer import Database
from tenure_model.vocabulary.facts import OwnershipFact
from tests.runs.support import NOW, STALE, A, B, Recorder, World, evidence, refused, running, unchanged

OLD = NOW - STALE - 1


def grants(world: World) -> dict[str, Callable[[], object]]:
    """Every call that records facts, each on a run of its own in the state it needs."""
    for name in ("activate", "changed", "abandon", "recover"):
        world.claimed(name, at=OLD)
    for name in ("steal", "seize", "retake", "suspend", "settle"):
        world.owned(name, at=OLD)
    for name in ("claim", "own"):
        world.runs.create(name, "{}")
    runs, stale = world.runs, running(A, OLD)
    return {
        "claim": lambda: runs.claim("claim", tenure.PENDING, A, NOW),
        "own": lambda: runs.claim_and_own("own", tenure.PENDING, A, NOW),
        "retake": lambda: runs.claim_and_own("retake", stale, A, NOW),
        "seize": lambda: runs.claim_and_own("seize", stale, B, NOW, evidence()),
        "activate": lambda: runs.activate("activate", A, OLD, tenure.PENDING),
        "changed": lambda: runs.activate("changed", A, OLD, tenure.SUSPENDED),
        "abandon": lambda: runs.abandon_claim("abandon", A, OLD),
        "recover": lambda: runs.recover_claim("recover", A, OLD, B, NOW, evidence()),
        "steal": lambda: runs.steal("steal", stale, B, NOW, evidence()),
        "suspend": lambda: runs.transition_owned("suspend", A, "suspended"),
        "settle": lambda: runs.transition_owned("settle", A, "completed"),
    }


FACTS = {
    "claim": [("claimed", A, NOW)],
    "own": [("claimed", A, NOW), ("activated", A, NOW)],
    "retake": [("released", A, None), ("claimed", A, NOW), ("activated", A, NOW)],
    "seize": [("stolen", B, NOW), ("activated", B, NOW)],
    "activate": [("activated", A, OLD)],
    "changed": [("released", A, OLD)],
    "abandon": [("released", A, OLD)],
    "recover": [("expired", A, OLD)],
    "steal": [("stolen", B, NOW)],
    "suspend": [("released", A, None)],
    "settle": [("released", A, None)],
}


@pytest.mark.parametrize("name", FACTS)
def test_facts_in_order(world: World, name: str) -> None:
    """Each grant hands over its facts in order, all under the run's id (RS-703)."""
    call = grants(world)[name]
    call()

    assert {fact.run_id for fact in world.recorder.facts} == {name}
    assert world.recorder.drain() == FACTS[name]


@pytest.mark.parametrize("name", FACTS)
def test_no_recorder(name: str) -> None:
    """Without a recorder the same calls succeed and record nothing (RS-702)."""
    silent = World(tenure.open(":memory:", clock=lambda: NOW), None, Recorder())  # type: ignore[arg-type]  # no clock to set

    outcome = grants(silent)[name]()

    assert outcome is not None
    assert silent.recorder.facts == []


@pytest.mark.parametrize("name", FACTS)
@pytest.mark.parametrize(
    ("error", "code", "database_code"),
    [
        (ValueError("closed"), "persistence_failed", "unknown"),
        (DatabaseError("constraint"), "constraint", "constraint"),
        (DatabaseError("io"), "persistence_failed", "io"),
    ],
)
def test_failing_recorder(world: World, name: str, error: Exception, code: str, database_code: str) -> None:
    """A fact that cannot be kept fails the whole operation and rolls it back (RS-393, RS-702, RS-363)."""
    call = grants(world)[name]
    world.recorder.error = error
    with unchanged(world):
        failure = refused(call)

    assert (failure.code, failure.text) == (code, "database operation failed")
    assert failure.cause == {"category": code, "cause": {"code": database_code}}
    assert failure.__cause__ is error


def test_recorders_own_run_store_error_passes_through(world: World) -> None:
    """A run store error raised inside the transaction is not wrapped again (RS-363)."""
    call = grants(world)["claim"]
    world.recorder.error = tenure.RunStoreError("decode_failed", "elsewhere", "text", {})

    assert refused(call) is world.recorder.error


def test_interrupted_recorder(world: World) -> None:
    """An interruption rolls back and stays an interruption."""
    call = grants(world)["own"]
    world.recorder.error = KeyboardInterrupt()
    with unchanged(world), pytest.raises(KeyboardInterrupt):
        call()


def test_busy_recorder_makes_the_write_run_again(world: World) -> None:
    """A recorder that meets a lock has the whole operation repeated, with one set of facts in the end (RS-391)."""
    attempts: list[int] = []

    class BusyOnce(Recorder):
        def record(self, fact: OwnershipFact) -> None:
            attempts.append(1)
            if len(attempts) == 1:
                raise DatabaseError("busy")
            super().record(fact)

    recorder = BusyOnce()
    store = tenure.open(":memory:", clock=lambda: NOW, facts=lambda database: recorder, sleep=lambda seconds: None)
    store.runs.create("r", "{}")

    assert store.runs.claim("r", tenure.PENDING, A, NOW) == tenure.Claimed(NOW)
    assert recorder.drain() == [("claimed", A, NOW)]


class TableRecorder:
    """Keeps facts in a table of the store's own database, as a journal would."""

    def __init__(self, database: Database) -> None:
        self._database = database
        database.write(database.rows, "CREATE TABLE IF NOT EXISTS kept (transition TEXT)")

    def record(self, fact: OwnershipFact) -> None:
        self._database.write(self._database.rows, "INSERT INTO kept VALUES (?)", (fact.transition,))
        self._database.after_commit(lambda: None)


def test_facts_roll_back_with_their_transaction() -> None:
    """A recorder that writes through the store's database keeps exactly what the transaction keeps (RS-704)."""
    store = tenure.open(":memory:", clock=lambda: NOW, facts=TableRecorder)
    store.runs.create("r", "{}")

    def outer() -> None:
        with store.transaction():
            store.runs.claim("r", tenure.PENDING, A, NOW)
            assert store.database.rows("SELECT * FROM kept", ()) == [("claimed",)]
            raise LookupError

    with pytest.raises(LookupError):
        outer()
    rolled_back = store.database.read("SELECT * FROM kept")
    store.runs.claim_and_own("r", tenure.PENDING, A, NOW)

    assert rolled_back == []
    assert store.database.read("SELECT * FROM kept") == [("claimed",), ("activated",)]
