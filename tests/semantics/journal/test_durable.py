"""The durable channel: receipts, the fence, and the numbers that every outcome spends."""

import pytest

from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.journal import Accepted, Duplicate
from tests.semantics.journal.journals import (
    B,
    after,
    also_opened,
    cached,
    call,
    code,
    compacted,
    drained,
    emitted,
    event,
    history,
    memory,
    opened,
    planted,
    queued,
    world,
)
from tests.semantics.worlds import ALICE, BOB, T

PROFILES = pytest.mark.parametrize("profile", [REFERENCE, ORIGINAL], ids=lambda profile: profile.name)


def test_accepted() -> None:
    """A durable emit answers where it stands on disk, and the next numbers follow (JN-170, JN-173)."""
    first = call(opened(), "journal.emitDurable", input=event("x"), owner=ALICE)
    second = call(first.state, "journal.emitDurableUnfenced", input=event("y"))

    assert first.outcome == Accepted(0, 0)
    assert second.outcome == Accepted(1, 1)
    assert history(second.state) == [(0, 0, '"x"'), (1, 1, '"y"')]


@PROFILES
@pytest.mark.parametrize("payload", ["x", "y"])
def test_fence_outranks_deduplication(profile: Profile, payload: object) -> None:
    """A zombie is told that the fence is lost, whether what it sends stands already or not (JN-085, JN-176)."""
    state = emitted(opened(profile), "x", sourceSeq=0)

    step = call(state, "journal.emitDurable", input=event(payload, sourceSeq=0), owner=BOB)

    assert code(step) == "fence_lost"
    assert history(step.state) == [(0, 0, '"x"')]


@pytest.mark.parametrize("owner", [None, {}, {"hostId": "h1", "pid": True, "nonce": "a"}, "a", 1])
def test_malformed_owner(owner: object) -> None:
    """A missing or malformed owner is invalid, before anything else is looked at (JN-082)."""
    closed = after(opened(), "journal.close")

    step = call(closed, "journal.emitDurable", input="no input", owner=owner)

    assert code(step) == "invalid_event"
    assert str(step.outcome) == "emitDurable requires a well-formed owner fence"


def test_empty_owner_matches_nobody() -> None:
    """An owner without a name is well-formed, and owns nothing (JN-080)."""
    step = call(opened(), "journal.emitDurable", input=event(), owner={"hostId": "", "pid": 0, "nonce": ""})

    assert code(step) == "fence_lost"


def test_fence_names_the_run_it_is_asked_for() -> None:
    """Owning one run does not open another, nor one without a lease (JN-083)."""
    step = call(opened(), "journal.emitDurable", input=event(run_id="s"), owner=ALICE)

    assert str(step.outcome) == "run s is no longer owned by h1:1:a"


def test_released_run_refuses() -> None:
    """Once the run has ended its owner writes no more (JN-086)."""
    state = after(opened(), "run.transitionOwned", runId="r", owner=ALICE, toStatus="completed")

    assert code(call(state, "journal.emitDurable", input=event(), owner=ALICE)) == "fence_lost"


@PROFILES
@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"payload": {"b": 1, "a": 2}}, Duplicate(0, 7, "committed")),
        ({"payload": {"a": 2, "b": 1}}, Duplicate(0, 7, "committed")),
        ({"payload": {"a": 2, "b": 1}, "meta": None}, Duplicate(0, 7, "committed")),
        ({"payload": {"a": 3}}, None),
        ({"payload": {"a": 2, "b": 1}, "meta": 0}, None),
        ({"payload": {"a": 2, "b": 1}, "eventType": "u"}, None),
        ({"payload": {"a": 3}, "dedupe": "identity"}, Duplicate(0, 7, "committed")),
    ],
)
@pytest.mark.parametrize("is_compacted", [False, True])
def test_repeated_identity(
    profile: Profile, members: dict[str, object], expected: Duplicate | None, is_compacted: bool
) -> None:
    """Equal content, or ``identity``, is a duplicate of the row or its tombstone; else a conflict (JN-046, JN-177,
    JN-285).
    """
    state = emitted(opened(profile), {"a": 2, "b": 1}, sourceSeq=7)
    if is_compacted:
        state = compacted(emitted(state, 0), 1)

    step = call(state, "journal.emitDurableUnfenced", input=event(**{"sourceSeq": 7, **members}))

    assert step.outcome == expected if expected is not None else code(step) == "idempotency_conflict"


def test_a_conflict_says_which() -> None:
    """The conflict names producer, number and run (JN-403)."""
    step = call(emitted(opened(), 1, sourceSeq=3), "journal.emitDurableUnfenced", input=event(2, sourceSeq=3))

    assert str(step.outcome) == "source event p:3 for run r was reused with different content"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"input": event(1, sourceSeq=0)}, "Duplicate"),
        ({"input": event(2, sourceSeq=0)}, "idempotency_conflict"),
        ({"input": event(2), "owner": BOB}, "fence_lost"),
    ],
)
def test_every_outcome_spends_a_number(arguments: dict[str, object], expected: str) -> None:
    """What comes to nothing leaves a gap in this instance, and none in another (JN-174, JN-243)."""
    state = also_opened(emitted(opened(), 1), B)
    operation = "journal.emitDurable" if "owner" in arguments else "journal.emitDurableUnfenced"

    step = call(state, operation, **arguments)
    here = call(step.state, "journal.emitDurableUnfenced", input=event(3))
    there = call(step.state, "journal.emitDurableUnfenced", B, input=event(3))

    assert expected in (type(step.outcome).__name__, getattr(step.outcome, "code", ""))
    assert here.outcome in (Accepted(2, 1), Accepted(2, 2))
    assert there.outcome == Accepted(1, 1)


def test_a_lost_fence_raises_the_producer_floor() -> None:
    """The number allocated to a fenced emit that lost is spent (JN-174)."""
    state = call(opened(), "journal.emitDurable", input=event(2), owner=BOB).state

    assert call(state, "journal.emitDurableUnfenced", input=event(3)).outcome == Accepted(1, 1)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"input": {"runId": "r"}}, "invalid_event"),
        ({"input": event(2**53)}, "invalid_event"),
        ({"input": event(), "owner": None}, "invalid_event"),
    ],
)
def test_a_refusal_spends_nothing(arguments: dict[str, object], expected: str) -> None:
    """What is refused before allocation changes nothing at all (JN-041)."""
    state = opened()
    operation = "journal.emitDurable" if "owner" in arguments else "journal.emitDurableUnfenced"

    step = call(state, operation, **arguments)

    assert code(step) == expected
    assert step.state is state


def test_a_size_at_the_bound_is_accepted() -> None:
    """The bound counts the stored bytes of payload and meta, and includes itself (JN-045)."""
    state = opened(maxEntryBytes=8)

    assert call(state, "journal.emitDurableUnfenced", input=event("ä")).outcome == Accepted(0, 0)
    assert str(call(state, "journal.emitDurableUnfenced", input=event("äx")).outcome) == (
        "event is 9 bytes, over the 8-byte maxEntryBytes bound"
    )


def test_numbers_start_above_what_is_on_disk() -> None:
    """A fresh instance reads both floors, tombstones included for producers (JN-172)."""
    state = compacted(emitted(emitted(opened(), 1, 2), 3, source_id="q"), 2)
    state = after(after(state, "journal.close"), "journal.open", options={"capacity": 1, "overflow": "reject"})

    assert call(state, "journal.emitDurableUnfenced", input=event()).outcome == Accepted(3, 2)


@pytest.mark.parametrize(
    ("seq", "members", "expected"),
    [
        (MAX_SAFE_INTEGER - 2, {}, Accepted(MAX_SAFE_INTEGER - 1, 0)),
        (MAX_SAFE_INTEGER - 1, {}, None),
        (0, {"sourceSeq": MAX_SAFE_INTEGER - 1}, Accepted(1, MAX_SAFE_INTEGER - 1)),
        (0, {"source_id": "z"}, None),
    ],
)
def test_the_last_numbers(seq: int, members: dict[str, object], expected: Accepted | None) -> None:
    """2**53-2 is the last number of either kind; what would need the next is refused, none spent (JN-173, JN-244)."""
    state = planted(opened(), seq, source_seq=MAX_SAFE_INTEGER - 1)

    step = call(state, "journal.emitDurableUnfenced", input=event(**members))

    assert step.outcome == expected if expected is not None else code(step) == "invalid_event"
    assert expected is not None or memory(step.state).floors == memory(state).floors


def test_another_process_is_busy() -> None:
    """While another session holds the transaction a durable emit fails, and has spent nothing (RS-390, JN-182)."""
    state = after(also_opened(opened(), B), "session.begin", B)

    step = call(state, "journal.emitDurableUnfenced", input=event())

    assert code(step) == "sink_failed"
    assert step.state is state


def test_without_a_journal() -> None:
    """A session that has opened no journal has none (JN-420)."""
    state = world()

    assert code(call(state, "journal.emitDurable", input=event(), owner=ALICE)) == "journal_closed"
    assert code(call(state, "journal.emitDurableUnfenced", input=event())) == "journal_closed"


def test_a_queued_entry_is_invisible() -> None:
    """A durable emit reads the tables only; a queued entry of its identity then collapses onto its row (JN-183)."""
    state = queued(opened(), 1, sourceSeq=5)

    step = call(state, "journal.emitDurableUnfenced", input=event(1, sourceSeq=5))
    drained = after(step.state, "writer.drain")

    assert step.outcome == Accepted(1, 5)
    assert history(drained) == [(1, 5, "1")]
    assert drained.fates == {0: "collapsed"}


def test_the_clock_is_rounded_down() -> None:
    """What an event says of its time is the whole millisecond of the call (JN-028)."""
    state = after(opened(), "journal.emitDurableUnfenced", "a", T + 0.75, input=event())

    assert state.committed.journal.events["r"][0].emitted_at_ms == T


@PROFILES
@pytest.mark.parametrize("is_compacted", [False, True])
def test_what_is_remembered_of_an_identity_duplicate(profile: Profile, is_compacted: bool) -> None:
    """R-7: what stands is remembered, not what was sent; of a tombstone, only what has its fingerprint (HZ-07)."""
    state = emitted(opened(profile, sourceEventCache=1), "stored", sourceSeq=0)
    if is_compacted:
        state = compacted(emitted(state, "tail"), 1)

    step = call(state, "journal.emitDurableUnfenced", input=event("sent", sourceSeq=0, dedupe="identity"))

    remembered = cached(step.state).get(("p", 0))
    if profile is ORIGINAL:
        assert remembered == (0, '"sent"', "committed")
        assert step.fired == frozenset()
    else:
        assert remembered == (None if is_compacted else (0, '"stored"', "committed"))
        assert step.fired == {"R-7"}


def test_a_matching_memory_of_a_tombstone_stays() -> None:
    """R-7: a committed memory with the tombstone's fingerprint outlives an identity duplicate, in its place."""
    state = compacted(emitted(opened(), "a", "b"), 1)

    step = call(state, "journal.emitDurableUnfenced", input=event("c", sourceSeq=0, dedupe="identity"))

    assert list(cached(step.state).items()) == [
        (("p", 0), (0, '"a"', "committed")),
        (("p", 1), (1, '"b"', "committed")),
    ]


def test_a_pending_memory_of_a_tombstone_goes() -> None:
    """R-7: a memory that was not committed is forgotten, whatever its content."""
    state = emitted(also_opened(opened(sourceEventCache=1), B), "a", "b")
    state = queued(state, "a", sourceSeq=0, dedupe="identity")
    state = compacted(state, 1, session=B)

    assert cached(state) == {("p", 0): (2, '"a"', "pending")}
    assert cached(drained(state)) == {}


def test_false_conflict() -> None:
    """HZ-07: after an identity duplicate the stored content itself is a conflict to the lossy channel of original."""
    outcomes = {}
    for profile in (ORIGINAL, REFERENCE):
        state = emitted(opened(profile), "stored", sourceSeq=0)
        state = after(state, "journal.emitDurableUnfenced", input=event("sent", sourceSeq=0, dedupe="identity"))
        outcomes[profile.name] = call(state, "journal.emitLossy", input=event("stored", sourceSeq=0)).outcome

    assert str(outcomes["original"]) == "source event p:0 for run r was reused with different content"
    assert outcomes["reference"] == Duplicate(0, 0, "committed")
