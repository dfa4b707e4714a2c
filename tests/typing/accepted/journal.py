# pyright: strict
"""Every operation of the journal."""

from collections.abc import Mapping
from typing import assert_never, assert_type

import tenure


def operations(journal: tenure.Journal, me: tenure.OwnerId) -> None:
    """Inputs are records or mappings under the wire's names; cursors are given by name."""
    event = tenure.JournalInput("r", "p", "step.done", {"n": 1}, source_seq=0, dedupe="content", meta=None)
    wire: Mapping[str, object] = {"runId": "r", "sourceId": "p", "eventType": "e", "payload": None}
    assert_type(journal.emit_durable(event, me), tenure.DurableReceipt)
    assert_type(journal.emit_durable(wire, {"hostId": "h", "pid": 1, "nonce": "n"}), tenure.DurableReceipt)
    assert_type(journal.emit_durable_unfenced(event), tenure.DurableReceipt)
    assert_type(journal.emit_lossy(event), tenure.EmitReceipt)
    journal.flush()
    journal.begin_flush()
    assert_type(journal.entries("r", limit=10), tenure.EntriesPage)
    assert_type(journal.entries("r", limit=10, after=3, event_types=["e"]), tenure.EntriesPage)
    assert_type(journal.entries("r", limit=10, after=tenure.ABSENT), tenure.EntriesPage)
    assert_type(journal.checkpoint("r", 3, {"state": 1}, me), tenure.Checkpoint)
    assert_type(journal.latest_checkpoint("r"), tenure.Checkpoint | None)
    assert_type(journal.compact("r", me), tenure.CompactionResult)
    assert_type(journal.compact("r", me, up_to=3), tenure.CompactionResult)
    assert_type(journal.generation("r"), tenure.Generation)
    journal.forget(["r"])
    journal.forget({"r", "s"})
    journal.close()


def streams(journal: tenure.Journal) -> None:
    """Each is iterated over, and closed by its block."""
    with journal.stream("r") as stream:
        for entry in stream:
            assert_type(entry, tenure.Entry)
    assert_type(journal.stream("r", after_sequence=3), tenure.EntryStream)
    with journal.changes() as changes:
        assert_type(changes.take(), list[tenure.Entry])


def projections(journal: tenure.Journal) -> None:
    """A state is of the type of the first one."""

    def count(state: int, entry: tenure.Entry) -> int:
        return state + entry.seq

    states = journal.project(tenure.Projection("count", 0, count), "r")
    assert_type(states, tenure.ProjectedStates[int])
    assert_type(next(states), int)


def transactions(journal: tenure.Journal) -> str:
    """A body's answer is the answer; a block has none."""
    with journal.transact() as nothing:
        assert_type(nothing, None)
    assert_type(journal.transact(lambda: 3), int)
    assert_type(journal.when_committed(lambda: 3), bool)
    return journal.transact(str)


def received(receipt: tenure.EmitReceipt) -> int | None:
    """Every answer by name."""
    match receipt:
        case tenure.Accepted() | tenure.Duplicate():
            return receipt.seq
        case tenure.Dropped():
            return None
        case _:
            assert_never(receipt)


def refused(error: tenure.JournalError) -> int | None:
    """A number of the history comes with some errors."""
    return None if error.checkpoint_seq is tenure.ABSENT else error.checkpoint_seq
