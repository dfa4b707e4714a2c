"""Stores that are not there: what each operation answers, and how one is replaced."""

import inspect
import threading
from collections.abc import Callable, Mapping

import pytest

import tenure
from tenure.stubs import (
    AttemptStoreMembers,
    JournalMembers,
    NoopAttemptStore,
    NoopJournal,
    NoopRunStore,
    RunStoreMembers,
)

A = tenure.OwnerId("h1", 1, "a")

RUN_STORE = {
    "create": "create",
    "get": "get",
    "lineage": "lineage",
    "latest_round": "latestRound",
    "request_cancel_lineage": "requestCancelLineage",
    "request_cancel": tenure.NotFound(),
    "claim": tenure.NotFound(),
    "claim_and_own": tenure.NotFound(),
    "recover_claim": tenure.NotFound(),
    "heartbeat": tenure.NotFound(),
    "reconfirm": tenure.NotFound(),
    "transition_owned": tenure.NotFound(),
    "steal": tenure.NotFound(),
    "activate": tenure.ClaimLost(),
    "abandon_claim": tenure.ClaimLost(),
    "acknowledge_cancel": False,
}
"""What each operation answers, or by which name its error tells of it."""

JOURNAL = {
    "emit_durable": "emitDurable",
    "emit_durable_unfenced": "emitDurableUnfenced",
    "emit_lossy": "emitLossy",
    "flush": "flush",
    "begin_flush": "beginFlush",
    "entries": "entries",
    "stream": "stream",
    "project": "project",
    "checkpoint": "checkpoint",
    "latest_checkpoint": "latestCheckpoint",
    "compact": "compact",
    "generation": "generation",
    "forget": "forget",
}
"""By which name the error of each operation tells of it."""


def operations(kind: type) -> set[str]:
    """The public operations of a store."""
    return {name for name, member in vars(kind).items() if inspect.isfunction(member) and not name.startswith("_")}


@pytest.mark.parametrize(
    ("real", "members"),
    [
        (tenure.RunStore, RunStoreMembers),
        (tenure.AttemptStore, AttemptStoreMembers),
        (tenure.Journal, JournalMembers),
    ],
)
def test_every_operation_can_be_replaced(real: type, members: type) -> None:
    """The keywords of a stub are the operations of the store that it stands in for."""
    assert set(members.__annotations__) == operations(real)


@pytest.mark.parametrize("name", RUN_STORE)
def test_the_run_store(name: str) -> None:
    """Each operation answers as RS-980 says, whatever it is given; errors are those of a store that failed (RS-361)."""
    operation, expected = getattr(NoopRunStore(), name), RUN_STORE[name]

    if not isinstance(expected, str):
        assert operation() == expected
        assert operation(None, owner=3) == expected
        return
    with pytest.raises(tenure.RunStoreError) as raised:
        operation(None)
    assert str(raised.value) == f"persistence_failed: RunStore.{expected}: no run store in this environment"
    assert raised.value.cause == {"method": expected}


def test_the_run_store_has_no_other_operation() -> None:
    """RS-980 speaks of all sixteen."""
    assert set(RUN_STORE) == operations(tenure.RunStore)


@pytest.mark.parametrize("name", sorted(operations(tenure.AttemptStore)))
def test_the_attempt_store(name: str) -> None:
    """Every operation fails, and says that there is no store (RS-981)."""
    with pytest.raises(tenure.AttemptStoreError) as raised:
        getattr(NoopAttemptStore(), name)(None)

    assert raised.value == tenure.AttemptStoreError("unknown", name, "the store is unavailable in this environment")


def test_the_policy_of_no_attempt_store() -> None:
    """It is that of a store that was told nothing."""
    assert NoopAttemptStore().options == tenure.open(":memory:").attempts.options


@pytest.mark.parametrize("name", JOURNAL)
def test_the_journal(name: str) -> None:
    """Every operation but three is refused as on a closed journal, with its name (JN-420)."""
    with pytest.raises(tenure.JournalError) as raised:
        getattr(NoopJournal(), name)(None)

    assert raised.value == tenure.JournalError("journal_closed", f"{JOURNAL[name]} is unavailable")


def test_the_journal_refuses_all_that_it_does_not_do() -> None:
    """JN-420 speaks of every operation; closing is the end of a scope, and none of them."""
    does = {"transact", "when_committed", "changes", "close"}

    assert set(JOURNAL) == operations(tenure.Journal) - does


def test_transact_runs_its_body() -> None:
    """With a body, once, answering what it answered; as a block, around nothing (JN-420)."""
    journal = NoopJournal()
    ran: list[str] = []

    assert journal.transact(lambda: len(ran)) == 0
    with journal.transact():
        ran.append("block")
    assert ran == ["block"]


def test_transact_rolls_nothing_back() -> None:
    """What the body raises leaves it as it is, and an update that it asked for has run (JN-420)."""
    journal = NoopJournal()
    ran: list[str] = []

    def body() -> None:
        assert journal.when_committed(lambda: ran.append("update"))
        raise KeyError("body")

    with pytest.raises(KeyError, match="body"):
        journal.transact(body)
    with pytest.raises(KeyError, match="body"), journal.transact():
        body()

    assert ran == ["update", "update"]


def test_changes_live_and_stay_empty() -> None:
    """Who iterates waits until the subscription is closed; nothing is ever there to take (JN-420)."""
    changes = NoopJournal().changes()
    seen: list[object] = []
    reader = threading.Thread(target=lambda: seen.extend(changes))
    reader.start()

    assert changes.take() == []
    assert reader.is_alive()

    changes.close()
    reader.join(60)

    assert not reader.is_alive()
    assert seen == []


def test_a_stub_of_a_journal_can_be_closed() -> None:
    """As every journal, twice as well."""
    journal = NoopJournal()

    journal.close()
    journal.close()


REPLACEMENTS: Mapping[str, Callable[[Callable[..., object]], object]] = {
    "RunStore": lambda member: NoopRunStore(heartbeat=member).heartbeat("r", A, 3),  # type: ignore[arg-type]  # records
    "AttemptStore": lambda member: NoopAttemptStore(heartbeat=member).heartbeat("r", "s", 1, A, 3),  # type: ignore[arg-type]  # the same
    "Journal": lambda member: NoopJournal(compact=member).compact("r", A),  # type: ignore[arg-type]  # the same
}


@pytest.mark.parametrize("kind", REPLACEMENTS)
def test_a_keyword_replaces_a_member(kind: str) -> None:
    """It is called with the caller's arguments, and what it answers is the answer."""
    calls: list[tuple[object, ...]] = []

    def member(*arguments: object) -> object:
        calls.append(arguments)
        return "answer"

    assert REPLACEMENTS[kind](member) == "answer"
    assert [call[0] for call in calls] == ["r"]


def test_a_subclass_replaces_a_member() -> None:
    """Its method is called; the others are those of the stub, and a keyword is stronger than either."""

    class Beating(NoopRunStore):
        def heartbeat(self, run_id: str, owner: tenure.OwnerId, now_ms: int) -> tenure.HeartbeatOutcome:
            return tenure.Updated()

    def lost(run_id: str, owner: tenure.OwnerId, now_ms: int) -> tenure.HeartbeatOutcome:
        return tenure.FenceLost()

    assert Beating().heartbeat("r", A, 3) == tenure.Updated()
    assert Beating().reconfirm("r", A, 3) == tenure.NotFound()
    assert Beating(heartbeat=lost).heartbeat("r", A, 3) == tenure.FenceLost()


@pytest.mark.parametrize("stub", [NoopRunStore, NoopAttemptStore, NoopJournal])
def test_an_unknown_member_is_refused(stub: Callable[..., object]) -> None:
    """A misspelt keyword does not pass for a replacement."""
    with pytest.raises(TypeError, match="no member 'hartbeat'"):
        stub(hartbeat=print)
