"""Companion facts: every granted transition is an event in the transaction that made it, and nothing else is."""

import json

import pytest

from tenure_model.admission.event_identity import companion_run_id
from tenure_model.semantics.journal.state import JournalState
from tenure_model.semantics.wellformed import replay_facts
from tenure_model.semantics.world import Claim
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.journal import Accepted
from tenure_model.vocabulary.outcomes import Transitioned
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import PENDING
from tests.semantics.journal.journals import (
    B,
    after,
    also_opened,
    call,
    emitted,
    event,
    history,
    memory,
    opened,
    planted,
    world,
)
from tests.semantics.worlds import ALICE, BOB, LATE, T, expired

STREAM = companion_run_id("run-store", "s")


def facts(state: JournalState) -> list[tuple[int, int, str, OwnerId, int | None]]:
    """What the companion stream of ``s`` holds: (seq, source sequence, type, owner, grant)."""
    told = []
    for row in state.committed.journal.events.get(STREAM, ()):
        payload = json.loads(row.content.payload_json)
        assert (row.source_id, row.content.meta_json, payload["runId"]) == ("flows.run-store", '{"runId":"s"}', "s")
        owner = OwnerId(payload["owner"]["hostId"], payload["owner"]["pid"], payload["owner"]["nonce"])
        told.append((row.seq, row.source_seq, row.content.event_type, owner, payload["grantedAtMs"]))
    return told


def owned() -> JournalState:
    """``s`` owned by BOB, with a journal that has recorded it."""
    return after(opened(), "run.claimAndOwn", runId="s", expected=PENDING, owner=BOB, nowMs=T)


def test_owning_in_one_step() -> None:
    """Two facts, in order, in one transaction (JN-131, JN-132, RS-701)."""
    state = owned()

    assert facts(state) == [
        (0, 0, "flows.consensus.claimed", BOB, T),
        (1, 1, "flows.consensus.activated", BOB, T),
    ]
    assert history(state, "s") == []


def test_the_whole_life_of_a_run() -> None:
    """Steal, activation and end are told, heartbeats and refusals are not (JN-132, RS-704)."""
    state = owned()
    expected = {"status": "running", "owner": BOB, "heartbeatAtMs": T}
    for operation, arguments in (
        ("run.heartbeat", {"runId": "s", "owner": ALICE, "nowMs": T}),
        ("run.steal", {"expected": expected, "claimant": ALICE, "nowMs": LATE, "evidence": expired(BOB, LATE)}),
        ("run.steal", {"expected": expected, "claimant": ALICE, "nowMs": LATE, "evidence": expired(BOB, LATE)}),
        ("run.activate", {"claimant": ALICE, "claimedAtMs": LATE, "expected": expected}),
        ("run.heartbeat", {"owner": ALICE, "nowMs": LATE}),
        ("run.transitionOwned", {"owner": ALICE, "toStatus": "completed"}),
    ):
        state = after(state, operation, "a", LATE, **{"runId": "s", **arguments})

    assert [(kind.removeprefix("flows.consensus."), owner, grant) for _, _, kind, owner, grant in facts(state)[2:]] == [
        ("stolen", ALICE, LATE),
        ("activated", ALICE, LATE),
        ("released", ALICE, None),
    ]


def test_facts_give_the_lease() -> None:
    """The stream, replayed, tells who owns and who claims (RS-1007)."""
    state = owned()
    expected = {"status": "running", "owner": BOB, "heartbeatAtMs": T}
    arguments = {"claimant": ALICE, "nowMs": LATE, "evidence": expired(BOB, LATE), "expected": expected}
    state = after(state, "run.steal", "a", LATE, runId="s", **arguments)

    transitions = {f"flows.consensus.{one}": one for one in ("claimed", "activated", "released", "stolen", "expired")}
    replayed = replay_facts(
        OwnershipFact("s", transitions[kind], owner, grant)  # type: ignore[arg-type]  # the literal type of the keys
        for _, _, kind, owner, grant in facts(state)
    )
    lease = state.committed.world.leases["s"]
    assert (replayed.owner, replayed.claim) == (BOB, Claim(ALICE, LATE))
    assert lease.ownership is not None
    assert (lease.ownership.owner, lease.claim) == (replayed.owner, replayed.claim)


def test_without_a_journal_nothing_is_recorded() -> None:
    """The operation succeeds all the same (JN-130, RS-702)."""
    state = after(world(), "run.claimAndOwn", runId="s", expected=PENDING, owner=BOB, nowMs=T)

    assert facts(state) == []
    assert state.committed.world.facts == {}
    assert state.committed.world.runs["s"].owner == BOB


def test_a_closed_journal_fails_the_operation() -> None:
    """What cannot be recorded is not done (RS-702); what records nothing is."""
    state = after(owned(), "journal.close")

    step = call(state, "run.transitionOwned", runId="s", owner=BOB, toStatus="completed")

    assert isinstance(step.outcome, RunStoreError)
    assert (step.outcome.code, step.outcome.method) == ("persistence_failed", "transitionOwned")
    assert step.state.committed == state.committed
    assert call(state, "run.heartbeat", runId="s", owner=BOB, nowMs=T).outcome is not None
    assert not isinstance(call(state, "run.create", runId="x", stateJson="{}").outcome, RunStoreError)


@pytest.mark.parametrize("session", ["a", "b"])
def test_a_rollback_leaves_no_fact(session: str) -> None:
    """Facts go with the transaction, and their numbers are spent by this instance alone (JN-130, JN-174)."""
    state = after(also_opened(opened(), B), "session.begin")
    state = after(state, "run.claimAndOwn", runId="s", expected=PENDING, owner=BOB, nowMs=T)
    state = after(state, "session.rollback")
    assert facts(state) == []

    again = after(state, "run.claimAndOwn", session, runId="s", expected=PENDING, owner=BOB, nowMs=T)
    first = 2 if session == "a" else 0
    assert [(seq, source_seq) for seq, source_seq, _, _, _ in facts(again)] == [(first, first), (first + 1, first + 1)]


def test_facts_are_published_with_the_commit() -> None:
    """They are ordinary events of the instance that recorded them (JN-031, JN-179)."""
    assert memory(owned()).published == ((STREAM, 0), (STREAM, 1))


def test_an_exhausted_stream_fails_the_operation() -> None:
    """A fact that finds no number takes its operation back (RS-702)."""
    state = planted(opened(), 2**53 - 3, run_id=STREAM)

    step = call(state, "run.claimAndOwn", runId="s", expected=PENDING, owner=BOB, nowMs=T)

    assert isinstance(step.outcome, RunStoreError)
    assert step.outcome.code == "persistence_failed"
    assert step.state.committed == state.committed
    assert memory(step.state).floors.run == {STREAM: 2**53 - 1}


def test_busy() -> None:
    """While another session holds the transaction an operation that writes is busy, and records nothing (RS-390)."""
    state = after(also_opened(opened(), B), "session.begin")

    step = call(state, "run.claimAndOwn", B, runId="s", expected=PENDING, owner=BOB, nowMs=T)

    assert isinstance(step.outcome, RunStoreError)
    assert step.outcome.cause == {"category": "persistence_failed", "cause": {"code": "busy"}}
    assert step.state is state
    assert call(state, "run.get", B, runId="s").outcome is not None


def test_inside_a_transaction_with_an_entry() -> None:
    """A fact joins whatever else its transaction writes (JN-310)."""
    state = emitted(after(owned(), "session.begin"), "x", run_id="s")
    step = call(state, "run.transitionOwned", runId="s", owner=BOB, toStatus="suspended")

    assert step.outcome == Transitioned()
    assert facts(after(step.state, "session.rollback")) == facts(owned())
    assert len(facts(after(step.state, "session.commit"))) == 3
    assert call(step.state, "journal.emitDurableUnfenced", input=event(1, run_id="s")).outcome == Accepted(1, 1)


def test_raw_writes_pass_through() -> None:
    """What a hand on the run store's tables does is no transition (RS-704)."""
    state = after(owned(), "row.delete", runId="s")

    assert "s" not in state.committed.world.runs
    assert len(facts(state)) == 2
