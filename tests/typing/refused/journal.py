# pyright: strict
"""Callers of the journal that are wrong, each in one line."""

from typing import assert_never

import tenure


def forgets(journal: tenure.Journal, event: tenure.JournalInput) -> int:
    """A match without one of the answers."""
    receipt = journal.emit_lossy(event)
    match receipt:
        case tenure.Accepted() | tenure.Duplicate():
            return receipt.seq
        case _:
            assert_never(receipt)  # E: arg-type, reportArgumentType


def wrong_options() -> None:
    """Words and numbers of a journal's options."""
    tenure.JournalOptions(capacity=8)  # E: call-arg, reportCallIssue
    tenure.JournalOptions(capacity="8", overflow="reject")  # E: arg-type, reportArgumentType
    tenure.JournalOptions(capacity=8, overflow="drop")  # E: arg-type, reportArgumentType
    tenure.JournalSetup(tenure.JournalOptions(8, "reject"), writer="process")  # E: arg-type, reportArgumentType
    tenure.CompactionPolicy(100, lambda run_id: {})  # E: misc, arg-type, reportArgumentType
    tenure.JournalInput("r", "p", "e", {}, dedupe="never")  # E: arg-type, reportArgumentType


def wrong_arguments(journal: tenure.Journal, event: tenure.JournalInput, me: tenure.OwnerId) -> None:
    """Types, order and number."""
    journal.emit_durable(event)  # E: call-arg, reportCallIssue
    journal.emit_durable("e", me)  # E: arg-type, reportArgumentType
    journal.entries("r")  # E: call-arg, reportCallIssue
    journal.entries("r", 10)  # E: call-arg, reportCallIssue
    journal.entries("r", limit=10, event_types=3)  # E: arg-type, reportArgumentType
    journal.checkpoint("r", "3", {}, me)  # E: arg-type, reportArgumentType
    journal.forget(3)  # E: arg-type, reportArgumentType
    journal.project(3, "r")  # E: arg-type, reportArgumentType
    journal.transact(3)  # E: call-overload, reportCallIssue, reportArgumentType
    journal.when_committed(3)  # E: arg-type, reportArgumentType


def none_is_not_absent(journal: tenure.Journal, me: tenure.OwnerId) -> None:
    """A cursor is a number, or it is left out."""
    journal.entries("r", limit=10, after=None)  # E: arg-type, reportArgumentType
    journal.stream("r", after_sequence=None)  # E: arg-type, reportArgumentType
    journal.compact("r", me, up_to=None)  # E: arg-type, reportArgumentType


def wrong_states(journal: tenure.Journal) -> None:
    """A fold of texts does not start at a number, and its states are no numbers."""

    def longest(state: str, entry: tenure.Entry) -> str:
        return max(state, entry.event_type, key=len)

    states = journal.project(tenure.Projection("longest", "", longest), "r")
    number: int = next(states)  # E: assignment, reportAssignmentType
    assert number


def wrong_transactions(journal: tenure.Journal, store: tenure.Store) -> int:
    """A body answers for the whole, and a callback takes nothing."""
    with journal.transact() as transaction:
        transaction.commit()  # E: attr-defined, reportAttributeAccessIssue, reportUnknownMemberType
    store.after_commit(store.runs.get)  # E: arg-type, reportArgumentType
    store.write(len)  # E: arg-type, reportArgumentType
    return journal.transact(lambda: "three")  # E: return-value, reportReturnType
