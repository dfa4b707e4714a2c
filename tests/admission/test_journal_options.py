"""Options of the journal: `tenure_model.admission.journal_options`."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure_model.admission.journal_options import (
    JournalSettings,
    admit_checkpoint_options,
    admit_compact_options,
    admit_entries_options,
    admit_journal_options,
    admit_stream_options,
)
from tenure_model.admission.redaction.redactor import DEFAULT_REDACTOR, Redactor, make_noop_redactor
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.journal import (
    CheckpointOptions,
    CompactionPolicy,
    CompactOptions,
    EntriesOptions,
    JournalOptions,
    StreamOptions,
)
from tenure_model.vocabulary.journal_errors import JournalError
from tests.admission.oracle import ANY_VALUES
from tests.admission.values import VALUES, half_built

Admit = Callable[[object], Any]

NO_NUMBERS: tuple[object, ...] = (-1, 1.0, True, "1", MAX_SAFE_INTEGER, None)


def capture(run_id: str, seq: int) -> object:
    """Some state."""
    return seq


def field(admit: Admit, value: object) -> object:
    """The member a refusal is about, ``None`` for what is admitted."""
    admitted = admit(value)
    return admitted.cause["field"] if type(admitted) is Refusal else None


def message(value: object) -> str | None:
    """Why construction is refused."""
    admitted = admit_journal_options(value)
    return admitted.text if isinstance(admitted, JournalError) else None


@pytest.mark.parametrize(
    ("admit", "wire", "options"),
    [
        (admit_entries_options, {"runId": "r", "limit": 1}, EntriesOptions("r", 1)),
        (
            admit_entries_options,
            {"runId": "r", "limit": 10_000, "after": 0, "eventTypes": ["a", "a"]},
            EntriesOptions("r", 10_000, 0, ("a", "a")),
        ),
        (admit_stream_options, {"runId": "r"}, StreamOptions("r")),
        (admit_stream_options, {"runId": "r", "afterSequence": 7}, StreamOptions("r", 7)),
        (admit_checkpoint_options, {"runId": "r", "seq": 0, "state": None}, CheckpointOptions("r", 0, None)),
        (admit_compact_options, {"runId": "r"}, CompactOptions("r")),
        (
            admit_compact_options,
            {"runId": "r", "upTo": MAX_SAFE_INTEGER - 1},
            CompactOptions("r", MAX_SAFE_INTEGER - 1),
        ),
    ],
)
def test_options_are_admitted_in_both_forms(admit: Admit, wire: dict[str, object], options: object) -> None:
    """As the wire's record, whatever else is in it, and as the frozen class (JN-250, JN-254, JN-270, JN-280)."""
    absent = dict.fromkeys(("after", "eventTypes", "afterSequence", "upTo"), ABSENT)

    assert admit(wire) == options
    assert admit({**absent, "extra": 1, **wire}) == options
    assert admit(options) == options


@pytest.mark.parametrize(
    "admit", [admit_entries_options, admit_stream_options, admit_checkpoint_options, admit_compact_options]
)
@pytest.mark.parametrize("run_id", ["", "a" * 1025, "a\0", "\ud800", 1, None, ABSENT], ids=lambda text: repr(text)[:9])
def test_runs_that_no_writer_accepts_are_refused(admit: Admit, run_id: object) -> None:
    """Reading is as strict as writing (JN-020, JN-250)."""
    assert field(admit, {"runId": run_id, "limit": 1, "seq": 0, "state": 0}) == "runId"


@pytest.mark.parametrize("number", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize(
    ("admit", "name"),
    [
        (admit_entries_options, "after"),
        (admit_stream_options, "afterSequence"),
        (admit_checkpoint_options, "seq"),
        (admit_compact_options, "upTo"),
    ],
)
def test_cursors_are_sequences(admit: Admit, name: str, number: object) -> None:
    """0 to 2**53-2; null is not absence (JN-022, JN-605)."""
    assert field(admit, {"runId": "r", "limit": 1, "seq": 0, "state": 0, name: number}) == name


@pytest.mark.parametrize("limit", [0, 10_001, 1.0, True, "1", None, ABSENT], ids=repr)
def test_a_page_has_1_to_10000_entries(limit: object) -> None:
    """There is no default (JN-250)."""
    assert field(admit_entries_options, {"runId": "r", "limit": limit}) == "limit"


@pytest.mark.parametrize(
    "event_types", [[], ["a"] * 65, [""], ["a", 1], {"a"}, "a", None, iter("a"), {"a": 1}], ids=lambda t: repr(t)[:9]
)
def test_a_filter_lists_1_to_64_identifiers(event_types: object) -> None:
    """Duplicates count (JN-250)."""
    assert field(admit_entries_options, {"runId": "r", "limit": 1, "eventTypes": event_types}) == "eventTypes"
    assert field(admit_entries_options, {"runId": "r", "limit": 1, "eventTypes": ["a"] * 64}) is None


def test_later_changes_of_the_callers_list_do_not_matter() -> None:
    """The filter is a copy."""
    event_types = ["a"]
    admitted = admit_entries_options({"runId": "r", "limit": 1, "eventTypes": event_types})
    event_types.append("b")

    assert admitted == EntriesOptions("r", 1, ABSENT, ("a",))


def test_a_missing_state_is_refused() -> None:
    """Null is a state, nothing is none (JN-270, JN-024)."""
    assert field(admit_checkpoint_options, {"runId": "r", "seq": 0}) == "state"
    assert field(admit_checkpoint_options, CheckpointOptions("r", 0)) == "state"


def test_half_built_options_are_refused() -> None:
    """A member that was never set is absent."""
    assert field(admit_entries_options, half_built(EntriesOptions, run_id="r")) == "limit"
    assert field(admit_compact_options, half_built(CompactOptions, up_to=1)) == "runId"


def test_settings_take_their_defaults() -> None:
    """Batches of at most 64, 4,096 remembered identities, no bound, the built-in redactor (JN-150)."""
    expected = JournalSettings(10, "reject", 10, 4_096, None, DEFAULT_REDACTOR, None, None)

    assert admit_journal_options(JournalOptions(10, "reject")) == expected
    assert (
        admit_journal_options({"capacity": 10, "overflow": "reject", "batchSize": None, "redact": ABSENT}) == expected
    )


@pytest.mark.parametrize(("capacity", "batch_size", "page"), [(63, 63, 63), (65, 64, 64)])
def test_a_batch_is_no_larger_than_the_queue(capacity: int, batch_size: int, page: int) -> None:
    """Unless it is asked for (JN-150, JN-153)."""
    settings: Any = admit_journal_options(JournalOptions(capacity, "drop-oldest"))
    asked: Any = admit_journal_options(JournalOptions(capacity, "drop-oldest", batch_size=20_000))

    assert (settings.batch_size, settings.stream_page_size) == (batch_size, page)
    assert (asked.batch_size, asked.stream_page_size) == (20_000, 10_000)


def test_what_is_given_is_taken() -> None:
    """Every option, in both forms (JN-150)."""
    redact = make_noop_redactor()
    policy = CompactionPolicy(5, capture)
    options = JournalOptions(1, "drop-newest", 2, 3, 4, redact, policy, repr)
    wire = {
        "capacity": 1,
        "overflow": "drop-newest",
        "batchSize": 2,
        "sourceEventCache": 3,
        "maxEntryBytes": 4,
        "redact": redact,
        "compaction": {"entryThreshold": 5, "capture": capture},
        "default": repr,
    }
    expected = JournalSettings(1, "drop-newest", 2, 3, 4, redact, policy, repr)

    assert admit_journal_options(options) == expected
    assert admit_journal_options(wire) == expected


def test_the_built_in_redactor_knows_the_hook() -> None:
    """What the hook encodes is redacted where it stands (JN-057)."""
    settings: Any = admit_journal_options(JournalOptions(1, "reject", default=repr))

    assert settings.redact == Redactor(default=repr)


@pytest.mark.parametrize("number", [0, -1, 1.0, 1.5, True, "1", MAX_SAFE_INTEGER + 1], ids=repr)
def test_bad_numbers_are_named_in_order(number: object) -> None:
    """The first bad one is named (JN-150, JN-401)."""
    wire: dict[str, object] = {
        "capacity": number,
        "overflow": "reject",
        "batchSize": number,
        "sourceEventCache": number,
        "maxEntryBytes": number,
        "compaction": {"entryThreshold": number, "capture": capture},
    }
    messages = []
    for name, good in (
        ("capacity", 1),
        ("batchSize", 1),
        ("sourceEventCache", 1),
        ("maxEntryBytes", 1),
        ("compaction", {"entryThreshold": 1, "capture": capture}),
    ):
        messages.append(message(wire))
        wire[name] = good

    assert messages == [
        f"{name} must be a positive safe integer"
        for name in ("capacity", "batchSize", "sourceEventCache", "maxEntryBytes", "compaction.entryThreshold")
    ]
    assert message(wire) is None


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"overflow": "drop"}, "overflow must be one of reject, drop-newest, drop-oldest"),
        ({"overflow": None}, "overflow must be one of reject, drop-newest, drop-oldest"),
        ({"capacity": None}, "capacity must be a positive safe integer"),
        ({"capacity": ABSENT}, "capacity must be a positive safe integer"),
        ({"redact": 1}, "redact must be callable"),
        ({"default": 1}, "default must be callable"),
        ({"compaction": 1}, "compaction must be an inert record"),
        ({"compaction": {}}, "compaction.entryThreshold must be a positive safe integer"),
        ({"compaction": {"entryThreshold": 1}}, "compaction.capture must be callable"),
    ],
    ids=repr,
)
def test_other_bad_options_are_named(options: dict[str, object], text: str) -> None:
    """All are caller's faults (JN-150, JN-400)."""
    admitted = admit_journal_options({"capacity": 1, "overflow": "reject", **options})

    assert admitted == JournalError("invalid_event", text)


@pytest.mark.parametrize("name", sorted(VALUES.keys() - {"million arrays"}))
def test_no_code_of_a_value_runs(name: str) -> None:
    """Whatever it is, and wherever it stands."""
    value = VALUES[name]()
    for admit in (admit_entries_options, admit_stream_options, admit_checkpoint_options, admit_compact_options):
        assert type(admit(value)) is Refusal
        for member in ("runId", "after", "eventTypes", "limit", "afterSequence", "seq", "upTo"):
            admit({"runId": "r", "limit": 1, "seq": 0, "state": 0, member: value})
        admit({"runId": "r", "limit": 1, "eventTypes": [value]})

    assert type(admit_journal_options(value)) is JournalError
    for member in ("capacity", "overflow", "batchSize", "maxEntryBytes", "redact", "compaction", "default"):
        admit_journal_options({"capacity": 1, "overflow": "reject", member: value})


@given(
    value=ANY_VALUES,
    members=st.dictionaries(st.sampled_from(["runId", "limit", "after", "eventTypes", "seq", "upTo"]), ANY_VALUES),
)
def test_admission_is_total(value: object, members: dict[str, object]) -> None:
    """Every value is admitted or refused."""
    for admit in (admit_entries_options, admit_stream_options, admit_checkpoint_options, admit_compact_options):
        admit(value)
        admit({"runId": "r", "limit": 1, "seq": 0, "state": 0, **members})

    assert type(admit_journal_options(value)) in (JournalSettings, JournalError)
