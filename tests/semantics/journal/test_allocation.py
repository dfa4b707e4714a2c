"""How numbers are handed out: what is read, what is kept, and what both channels take."""

import pytest

from tenure_model.admission.preparation import Prepared
from tenure_model.semantics.journal import allocation
from tenure_model.semantics.journal.instance import COLD, Admission, Floors
from tenure_model.semantics.journal.tables import EMPTY_TABLES, Content, Draft, JournalTables, event_at, with_event
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.journal_errors import JournalError

IMPLICIT = Prepared("r", "p", ABSENT, "content", "t", "1", "null", 0)
EXPLICIT = Prepared("r", "p", 3, "content", "t", "1", "null", 0)
RAISED = Floors(run={"r": 5}, producer={("r", "p"): 4}, warm=frozenset())
WARM = Floors(run={"r": 5}, producer={("r", "p"): 4}, warm=frozenset({("r", "p")}))


def ten_rows() -> JournalTables:
    """Rows 0 to 9 of producer ``p``."""
    tables = EMPTY_TABLES
    for number in range(10):
        draft = Draft("r", "p", number, number, "content", 0, Content("t", "1", "null"))
        tables = with_event(tables, event_at(draft, number))
    return tables


@pytest.mark.parametrize(
    ("floors", "prepared", "profile", "run_floor", "producer_floor", "needless"),
    [
        (COLD, IMPLICIT, REFERENCE, 10, 10, False),
        (COLD, EXPLICIT, REFERENCE, 10, None, False),
        (RAISED, IMPLICIT, REFERENCE, None, 10, True),
        (RAISED, EXPLICIT, REFERENCE, None, None, False),
        (WARM, IMPLICIT, REFERENCE, None, None, False),
        (COLD, IMPLICIT, ORIGINAL, 10, 10, False),
        (RAISED, IMPLICIT, ORIGINAL, None, None, False),
        (RAISED, EXPLICIT, ORIGINAL, None, None, False),
    ],
)
def test_what_is_read(
    floors: Floors,
    prepared: Prepared,
    profile: Profile,
    run_floor: int | None,
    producer_floor: int | None,
    needless: bool,
) -> None:
    """Phase 2 reads what memory does not cover; R-5 trusts only a warm producer (JN-192)."""
    read = allocation.read_floors(floors, ten_rows(), prepared, profile)

    assert (read.run_floor, read.producer_floor, read.needless) == (run_floor, producer_floor, needless)
    assert read.has_read


@pytest.mark.parametrize(
    ("floors", "source_seq", "numbers", "is_warm"),
    [
        (COLD, ABSENT, (10, 10), True),
        (COLD, 3, (10, 3), False),
        (RAISED, ABSENT, (10, 10), True),
        (Floors({"r": 20}, {("r", "p"): 30}, frozenset()), ABSENT, (20, 30), True),
        (Floors({"r": 20}, {("r", "p"): 30}, frozenset()), 3, (20, 3), False),
    ],
)
def test_durable(floors: Floors, source_seq: int | AbsentType, numbers: tuple[int, int], is_warm: bool) -> None:
    """A durable emit takes what is above disk and memory both, and raises memory above it (JN-173)."""
    prepared = Prepared("r", "p", source_seq, "content", "t", "1", "null", 0)
    allocated = allocation.allocate_durable(floors, ten_rows(), prepared)

    assert not isinstance(allocated, JournalError)
    raised, draft = allocated
    assert (draft.seq, draft.source_seq) == numbers
    assert raised.run == {"r": numbers[0] + 1}
    assert raised.producer == {("r", "p"): max(floors.producer.get(("r", "p"), 0), numbers[1] + 1)}
    assert raised.warm == (frozenset({("r", "p")}) if is_warm else frozenset())


@pytest.mark.parametrize(
    ("floors", "admission", "numbers", "is_warm", "differs"),
    [
        (COLD, Admission(IMPLICIT, True, 10, 10), (10, 10), True, False),
        (COLD, Admission(EXPLICIT, True, 10), (10, 3), False, False),
        (RAISED, Admission(IMPLICIT, True), (5, 4), True, False),
        (RAISED, Admission(IMPLICIT, True, 7, 10), (7, 10), True, False),
        (RAISED, Admission(IMPLICIT, True, 7, 10, needless=True), (7, 10), True, True),
        (RAISED, Admission(IMPLICIT, True, 7, 2, needless=True), (7, 4), True, False),
        (WARM, Admission(EXPLICIT, True), (5, 3), True, False),
    ],
)
def test_lossy(floors: Floors, admission: Admission, numbers: tuple[int, int], is_warm: bool, differs: bool) -> None:
    """A lossy admission takes the greater of what was read and what memory has; only an implicit number warms
    (JN-194, R-5).
    """
    allocated = allocation.allocate_lossy(floors, admission)

    assert not isinstance(allocated, JournalError)
    raised, draft, is_different = allocated
    assert (draft.seq, draft.source_seq, is_different) == (*numbers, differs)
    assert raised.run == {"r": numbers[0] + 1}
    assert raised.producer == {("r", "p"): max(floors.producer.get(("r", "p"), 0), numbers[1] + 1)}
    assert raised.warm == (frozenset({("r", "p")}) if is_warm else frozenset())


def test_forget() -> None:
    """A rewound run is forgotten in every respect, and no other (JN-342)."""
    floors = Floors({"r": 1, "s": 2}, {("r", "p"): 3, ("s", "p"): 4}, frozenset({("r", "p"), ("s", "p")}))

    assert allocation.forget_runs(floors, frozenset({"r"})) == Floors(
        {"s": 2}, {("s", "p"): 4}, frozenset({("s", "p")})
    )


def test_floors_never_fall() -> None:
    """Raising them to something lower changes nothing (JN-161)."""
    assert allocation.raise_floors(RAISED, "r", 0, "p", 0) == RAISED
