# pyright: strict
"""Every operation of the stores for tasks."""

from collections.abc import Mapping
from typing import assert_never, assert_type

import tenure
from tenure import aio


async def runs(store: aio.Store, me: tenure.OwnerId, now_ms: int) -> None:
    """All sixteen, and what they answer."""
    runs = store.runs
    await runs.create("r", "{}")
    row = assert_type(await runs.get("r"), tenure.RunRow)
    evidence = tenure.LivenessEvidence(me, now_ms, "lease-expired")
    assert_type(await runs.lineage("r"), tuple[tenure.RunRow, ...])
    assert_type(await runs.latest_round("r"), tenure.RunRow)
    assert_type(await runs.request_cancel("r", now_ms), tenure.RequestCancelOutcome)
    assert_type(await runs.request_cancel_lineage("r", now_ms), tenure.RequestCancelOutcome)
    assert_type(await runs.acknowledge_cancel("r", me, now_ms), bool)
    assert_type(await runs.claim("r", row, me, now_ms), tenure.ClaimOutcome)
    assert_type(await runs.claim_and_own("r", row, me, now_ms, evidence), tenure.ClaimAndOwnOutcome)
    assert_type(await runs.activate("r", me, now_ms, row), tenure.ActivateOutcome)
    assert_type(await runs.abandon_claim("r", me, now_ms), tenure.AbandonClaimOutcome)
    assert_type(await runs.recover_claim("r", me, now_ms, me, now_ms, evidence), tenure.RecoverClaimOutcome)
    assert_type(await runs.heartbeat("r", me, now_ms), tenure.HeartbeatOutcome)
    assert_type(await runs.reconfirm("r", me, now_ms), tenure.HeartbeatOutcome)
    assert_type(await runs.transition_owned("r", me, "completed", "{}"), tenure.TransitionOutcome)
    assert_type(await runs.steal("r", row, me, now_ms, evidence), tenure.StealOutcome)


async def attempts(store: aio.Store, attempt: tenure.Attempt, me: tenure.OwnerId, now_ms: int) -> None:
    """All five, and what they answer."""
    attempts = store.attempts
    assert_type(await attempts.put(attempt, me), tenure.PutResult)
    assert_type(await attempts.get(attempt), tenure.Attempt | None)
    assert_type(await attempts.heartbeat("r", "s", 1, me, now_ms, None), tenure.AttemptHeartbeatResult)
    finish = tenure.FinishAttempt("r", "s", 1, "failed", now_ms)
    assert_type(await attempts.finish(finish, me), tenure.FinishResult)
    assert_type(await attempts.patch(attempt, tenure.AttemptPatch(meta=1), me), tenure.PatchResult)
    assert_type(attempts.options, tenure.AttemptOptions)


async def journal(store: aio.Store, wire: Mapping[str, object], me: tenure.OwnerId) -> None:
    """Streams are iterated over in the loop, a transaction is a function."""
    journal = store.journal
    assert_type(await journal.emit_durable(wire, me), tenure.DurableReceipt)
    assert_type(await journal.emit_durable_unfenced(wire), tenure.DurableReceipt)
    assert_type(await journal.emit_lossy(wire), tenure.EmitReceipt)
    await journal.flush()
    assert_type(await journal.entries("r", limit=3, after=2), tenure.EntriesPage)
    assert_type(await journal.checkpoint("r", 3, {}, me), tenure.Checkpoint)
    assert_type(await journal.latest_checkpoint("r"), tenure.Checkpoint | None)
    assert_type(await journal.compact("r", me, up_to=3), tenure.CompactionResult)
    assert_type(await journal.generation("r"), tenure.Generation)
    assert_type(await journal.transact(lambda: 3), int)
    await journal.forget(["r"])
    async with journal.stream("r") as stream:
        async for entry in stream:
            assert_type(entry, tenure.Entry)
    async with journal.changes() as changes:
        assert_type(changes.take(), list[tenure.Entry])
    async with journal.project(tenure.Projection("count", 0, lambda state, _: state + 1), "r") as states:
        async for state in states:
            assert_type(state, int)
    await journal.close()


async def store(me: tenure.OwnerId) -> str:
    """Opening, units of work, supervision."""

    async def reconfirmed(gap_ms: float) -> None:
        assert gap_ms > 0

    async with aio.open("runs.db", journal={"capacity": 8, "overflow": "reject"}, threads=2) as store:
        assert_type(store, aio.Store)
        assert_type(store.now(), int)
        assert_type(await store.write(store.sync.runs.get, "r"), tenure.RunRow)
        async with store.supervise("r", me, on_reconfirm=reconfirmed, on_lapse=print) as lease:
            assert_type(lease, tenure.Lease)
        async with aio.supervise(store, "r", me):
            outcome = await store.runs.heartbeat("r", me, store.now())
        match outcome:
            case tenure.Updated():
                return "mine"
            case tenure.FenceLost() | tenure.NotFound():
                return "lost"
            case _:
                assert_never(outcome)


async def wrapped(store: tenure.Store) -> None:
    """A store that is open already."""
    async with aio.wrap(store, threads=1) as wrapped:
        assert_type(wrapped.sync, tenure.Store)
    await wrapped.close()
