"""Tests of the journal as the keeper of ownership facts."""

from typing import Any

import pytest

import tenure
from tenure_model.admission.event_identity import companion_run_id
from tests.journal.support import NOW, A, B, World, new_world, refused, rolled_back

STALE = 30_001


def facts_of(world: World, run_id: str = "r") -> list[tuple[str, object, object]]:
    """Event type, nonce and token of every fact of a run, in order."""
    page = world.journal.entries(companion_run_id("run-store", run_id), limit=100)
    facts: list[tuple[str, object, object]] = []
    for entry in page.entries:
        payload: Any = entry.payload
        transition = entry.event_type.removeprefix("flows.consensus.")
        facts.append((transition, payload["owner"]["nonce"], payload["grantedAtMs"]))
    return facts


def test_a_fact_is_an_ordinary_event_of_the_companion_stream(world: World) -> None:
    """Source, payload and meta as JN-130 has them; the run's own stream gets none (JN-132)."""
    world.store.runs.create("r", "{}")
    world.store.runs.claim("r", tenure.PENDING, A, NOW)
    stream = companion_run_id("run-store", "r")

    assert world.journal.entries(stream, limit=10).entries == (
        tenure.Entry(
            stream,
            0,
            world.rows("SELECT event_id FROM flows_journal_events")[0][0],
            "flows.run-store",
            0,
            NOW,
            "flows.consensus.claimed",
            {"runId": "r", "owner": {"hostId": "h1", "pid": 1, "nonce": "a"}, "grantedAtMs": NOW},
            {"runId": "r"},
        ),
    )
    assert world.seqs("r") == []


def test_the_facts_of_a_life(world: World) -> None:
    """Replayed in order they give the lease (JN-131, RS-703, RS-1007)."""
    runs = world.store.runs
    runs.create("r", "{}")
    runs.claim("r", tenure.PENDING, A, NOW)
    runs.activate("r", A, NOW, tenure.PENDING)
    runs.heartbeat("r", A, NOW)
    world.clock.ms = now = NOW + STALE
    evidence = tenure.LivenessEvidence(A, now, "lease-expired")
    runs.claim_and_own("r", tenure.RunSnapshot("running", A, NOW), B, now, evidence)
    runs.transition_owned("r", B, "suspended")
    runs.claim("r", tenure.SUSPENDED, A, now)
    runs.abandon_claim("r", A, now)
    runs.request_cancel("r", now)

    assert facts_of(world) == [
        ("claimed", "a", NOW),
        ("activated", "a", NOW),
        ("stolen", "b", now),
        ("activated", "b", now),
        ("released", "b", None),
        ("claimed", "a", now),
        ("released", "a", now),
    ]


def test_refusals_record_nothing(world: World) -> None:
    """A transition that was not granted leaves no fact (JN-132)."""
    world.store.runs.create("r", "{}")
    world.store.runs.claim("r", tenure.PENDING, A, NOW)
    world.store.runs.claim("r", tenure.PENDING, B, NOW)
    world.store.runs.transition_owned("r", B, "completed")

    assert facts_of(world) == [("claimed", "a", NOW)]


def test_a_fact_rolls_back_with_its_transition(world: World) -> None:
    """A rolled-back transition leaves none, nor publishes one (RS-704)."""
    world.store.runs.create("r", "{}")
    changes = world.journal.changes()
    with rolled_back(world.store.transaction()):
        world.store.runs.claim("r", tenure.PENDING, A, NOW)
    world.store.runs.claim("r", tenure.PENDING, B, NOW)

    assert facts_of(world) == [("claimed", "b", NOW)]
    assert [entry.payload["owner"]["nonce"] for entry in changes.take()] == ["b"]  # type: ignore[index]  # a fact's payload is an object


def test_a_closed_journal_fails_the_operation_and_rolls_it_back(world: World) -> None:
    """Present but failing is not absent (RS-702)."""
    world.store.runs.create("r", "{}")
    world.journal.close()
    with pytest.raises(tenure.RunStoreError) as caught:
        world.store.runs.claim("r", tenure.PENDING, A, NOW)

    assert caught.value.code == "persistence_failed"
    assert world.rows("SELECT count(*) FROM flows_consensus_leases") == [(0,)]
    assert world.store.runs.get("r").claim is None


@pytest.mark.parametrize(("code", "category"), [("io", "persistence_failed"), ("constraint", "constraint")])
def test_a_fact_that_cannot_be_written_fails_the_operation(world: World, code: str, category: str) -> None:
    """The code of the database failure behind it is kept (RS-363, RS-393)."""
    world.store.runs.create("r", "{}")
    world.fail(code)
    with pytest.raises(tenure.RunStoreError) as caught:
        world.store.runs.claim("r", tenure.PENDING, A, NOW)
    world.mend()

    assert caught.value.code == category
    assert caught.value.cause == {"category": category, "cause": {"code": code}}
    assert world.rows("SELECT count(*) FROM flows_consensus_leases") == [(0,)]


def test_without_a_journal_nothing_is_recorded() -> None:
    """And the operation succeeds (RS-702)."""
    store = tenure.open(":memory:")
    store.runs.create("r", "{}")

    assert isinstance(store.runs.claim("r", tenure.PENDING, A, store.now()), tenure.Claimed)
    assert store.database.read("SELECT count(*) FROM flows_journal_events") == [(0,)]
    with pytest.raises(tenure.UsageError):
        store.journal  # noqa: B018  # asking for it is the point
    store.close()


def test_a_custom_redactor_sees_facts_too() -> None:
    """They are ordinary events (JN-050)."""
    world = new_world(redact=lambda value: None)
    world.store.runs.create("r", "{}")
    world.store.runs.claim("r", tenure.PENDING, A, NOW)

    assert world.rows("SELECT payload_json, meta_json FROM flows_journal_events") == [("null", "null")]
    world.store.close()


def test_a_fact_that_is_refused_fails_the_operation() -> None:
    """A redactor that raises refuses the event, and with it the transition (RS-702)."""

    def redact(value: object) -> object:
        raise LookupError

    world = new_world(redact=redact)
    world.store.runs.create("r", "{}")
    with pytest.raises(tenure.RunStoreError) as caught:
        world.store.runs.claim("r", tenure.PENDING, A, NOW)

    assert caught.value.code == "persistence_failed"
    assert refused(world.durable).text == "payload could not be redacted"
    world.store.close()
