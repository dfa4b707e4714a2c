"""The journal's errors and operations: `tenure_model.vocabulary.journal_errors` and `.journal_operations`."""

import pickle
from typing import get_args

import pytest

from tenure_model.vocabulary import journal_errors as errors
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal_errors import JOURNAL_ERROR_CODES, JournalError, JournalErrorCode
from tenure_model.vocabulary.journal_operations import JOURNAL_OPERATIONS
from tenure_model.vocabulary.owners import OwnerId


@pytest.mark.parametrize(
    ("error", "code", "text", "checkpoint_seq"),
    [
        (
            errors.fence_required("emitDurable"),
            "invalid_event",
            "emitDurable requires a well-formed owner fence",
            ABSENT,
        ),
        (
            errors.fence_lost("r0", OwnerId("h2", 3, "c")),
            "fence_lost",
            "run r0 is no longer owned by h2:3:c",
            ABSENT,
        ),
        (
            errors.idempotency_conflict("r0", "q", 7),
            "idempotency_conflict",
            "source event q:7 for run r0 was reused with different content",
            ABSENT,
        ),
        (
            errors.entry_too_large(9, 8),
            "invalid_event",
            "event is 9 bytes, over the 8-byte maxEntryBytes bound",
            ABSENT,
        ),
        (errors.not_positive("capacity"), "invalid_event", "capacity must be a positive safe integer", ABSENT),
        (errors.unavailable("flush"), "journal_closed", "flush is unavailable", ABSENT),
        (errors.projection_failed("p", None), "projection_failed", "projection p failed", ABSENT),
        (
            errors.checkpoint_names_no_entry("r0", 4),
            "checkpoint_invalid",
            "checkpoint sequence 4 names no committed entry of run r0",
            ABSENT,
        ),
        (
            errors.checkpoint_at_floor("r0", 4),
            "checkpoint_invalid",
            "run r0 is already compacted through sequence 4",
            4,
        ),
        (errors.no_checkpoint("r0"), "checkpoint_invalid", "run r0 has no checkpoint to compact to", ABSENT),
        (
            errors.no_checkpoint("r0", 4),
            "checkpoint_invalid",
            "run r0 has no checkpoint at sequence 4 to compact to",
            ABSENT,
        ),
        (
            errors.reader_behind("r0", 4),
            "reader_behind",
            "a live stream of run r0 still needs sequences below checkpoint 4",
            4,
        ),
        (
            errors.compacted("r0", 4),
            "compacted",
            "run r0 is compacted through sequence 4; resync from its checkpoint",
            4,
        ),
        (
            errors.dropped_below_floor("r0", 3, 4),
            "compacted",
            "queued sequence 3 for run r0 was dropped below compaction floor 4",
            4,
        ),
    ],
    ids=lambda value: value if type(value) is str else None,
)
def test_an_error_says_what_happened(error: JournalError, code: str, text: str, checkpoint_seq: object) -> None:
    """Code, text and sequence (JN-401, JN-403)."""
    assert (error.code, error.message, str(error)) == (code, text, text)
    assert error.checkpoint_seq == checkpoint_seq


def test_errors_are_equal_by_code_text_and_sequence() -> None:
    """The cause does not matter, everything else does (JN-400)."""
    error = JournalError("compacted", "text", 4)

    assert error == JournalError("compacted", "text", 4, cause=OSError())
    assert hash(error) == hash(JournalError("compacted", "text", 4, cause=OSError()))
    assert error != JournalError("unknown", "text", 4)
    assert error != JournalError("compacted", "other", 4)
    assert error != JournalError("compacted", "text")
    assert error != ValueError("compacted", "text", 4)


def test_errors_survive_pickling() -> None:
    """They cross processes."""
    error = JournalError("compacted", "text", 4, cause={"field": "runId"})
    copy = pickle.loads(pickle.dumps(error))

    assert copy == error
    assert copy.cause == {"field": "runId"}


def test_every_code_is_listed() -> None:
    """There are fourteen codes (JN-400)."""
    assert get_args(JournalErrorCode) == JOURNAL_ERROR_CODES
    assert len(JOURNAL_ERROR_CODES) == 14


@pytest.mark.parametrize(
    ("wire_name", "python_name", "parameters", "optional"),
    [
        ("journal.emitDurable", "emit_durable", {"input": "input", "owner": "owner"}, set()),
        ("journal.flush", "flush", {}, set()),
        (
            "journal.entries",
            "entries",
            {"runId": "run_id", "limit": "limit", "after": "after", "eventTypes": "event_types"},
            {"after", "eventTypes"},
        ),
        ("journal.compact", "compact", {"runId": "run_id", "owner": "owner", "upTo": "up_to"}, {"upTo"}),
    ],
)
def test_operations_are_listed_under_their_wire_names(
    wire_name: str, python_name: str, parameters: dict[str, str], optional: set[str]
) -> None:
    """With the arguments that recorded traces give them."""
    operation = JOURNAL_OPERATIONS[wire_name]

    assert (operation.wire_name, operation.python_name) == (wire_name, python_name)
    assert dict(operation.parameters) == parameters
    assert operation.optional == optional
