"""A journal whose calls a test can stop at (JN-422)."""

import inspect
from collections.abc import Callable, Mapping

import attrs
import pytest

import tenure
from tenure.stubs import NoopJournal
from tenure.testing import Moment, NotifyingJournal, hold_lease, open_store

A = tenure.OwnerId("h1", 1, "a")
EVENT = {"runId": "r", "sourceId": "p", "sourceSeq": 0, "eventType": "e", "payload": None}


@attrs.define
class Watched:
    """A journal, its store, and what its hook was told; ``act`` is called by the hook."""

    store: tenure.Store
    told: list[tuple[str, Moment, Mapping[str, object]]] = attrs.field(factory=list)
    act: Callable[[str, Moment], object] = lambda name, moment: None

    def hook(self, name: str, moment: Moment, arguments: Mapping[str, object]) -> None:
        """Note what happens, then act."""
        self.told.append((name, moment, arguments))
        self.act(name, moment)

    @property
    def journal(self) -> tenure.Journal:
        """The journal that is watched."""
        return NotifyingJournal(self.store.journal, self.hook)

    def rows(self) -> int:
        """How many entries there are, seen from outside any transaction."""
        return len(self.store.journal.entries("r", limit=9).entries)


@pytest.fixture
def watched(tenure_store: tenure.Store) -> Watched:
    """A watched journal, the lease of ``r`` held by ``A``."""
    hold_lease(tenure_store, "r", A)
    return Watched(tenure_store)


CALLS: Mapping[str, tuple[Callable[[tenure.Journal], object], Mapping[str, object]]] = {
    "emit_durable": (lambda journal: journal.emit_durable(EVENT, owner=A), {"input": EVENT, "owner": A}),
    "emit_durable_unfenced": (lambda journal: journal.emit_durable_unfenced(EVENT), {"input": EVENT}),
    "emit_lossy": (lambda journal: journal.emit_lossy(EVENT), {"input": EVENT}),
    "flush": (lambda journal: journal.flush(), {}),
    "entries": (lambda journal: journal.entries("r", limit=3), {"run_id": "r", "limit": 3}),
    "changes": (lambda journal: journal.changes(), {}),
    "latest_checkpoint": (lambda journal: journal.latest_checkpoint("r"), {"run_id": "r"}),
    "transact": (lambda journal: journal.transact(dict), {"body": dict}),
    "when_committed": (lambda journal: journal.when_committed(dict), {"update": dict}),
    "generation": (lambda journal: journal.generation("r"), {"run_id": "r"}),
    "forget": (lambda journal: journal.forget(["r"]), {"run_ids": ["r"]}),
    "close": (lambda journal: journal.close(), {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_hook_comes_before_and_after(watched: Watched, name: str) -> None:
    """JN-422: with the arguments that the caller gave, by their names."""
    call, arguments = CALLS[name]

    call(watched.journal)

    assert watched.told == [(name, "before", arguments), (name, "after", arguments)]


def test_checkpoint_and_compact_are_watched(watched: Watched) -> None:
    """JN-422: and do what they do."""
    watched.journal.emit_durable(EVENT, A)
    watched.journal.checkpoint("r", 0, {}, A)

    assert watched.journal.compact("r", A, up_to=0).checkpoint_seq == 0
    assert [(name, moment) for name, moment, _ in watched.told[2:]] == [
        ("checkpoint", "before"),
        ("checkpoint", "after"),
        ("compact", "before"),
        ("compact", "after"),
    ]
    assert watched.told[-1][2] == {"run_id": "r", "owner": A, "up_to": 0}


@pytest.mark.parametrize("begin", [lambda j: j.stream("r"), lambda j: j.begin_flush(), lambda j: j.instance])
def test_the_rest_is_handed_on(watched: Watched, begin: Callable[[tenure.Journal], object]) -> None:
    """JN-422: what only begins something is as it was, and no hook hears of it."""
    assert type(begin(watched.journal)) is type(begin(watched.store.journal))
    assert watched.told == []


def test_a_projection_is_handed_on(watched: Watched) -> None:
    """JN-422: its states come without a hook."""
    states = watched.journal.project(tenure.Projection("p", 0, lambda state, entry: state + 1), "r")

    assert next(states) == 0
    assert watched.told == []


def test_every_operation_is_watched_or_handed_on() -> None:
    """None is inherited, and so done behind the back of the journal that is wrapped."""
    members = vars(tenure.Journal).items()
    operations = {name for name, member in members if inspect.isfunction(member) and not name.startswith("_")}

    assert operations <= set(vars(NotifyingJournal(NoopJournal(), print)))


def test_no_hook_after_a_failure(watched: Watched) -> None:
    """JN-422: an operation that raised has no after."""
    with pytest.raises(tenure.JournalError):
        watched.journal.entries("r", limit=0)
    with pytest.raises(KeyError), watched.journal.transact():
        raise KeyError

    assert [(name, moment) for name, moment, _ in watched.told] == [("entries", "before"), ("transact", "before")]


def test_a_crash_before_leaves_nothing(watched: Watched) -> None:
    """JN-422: what the hook raises is what the caller gets, and the operation has not begun."""

    def crash(name: str, moment: Moment) -> None:
        raise SystemExit(f"{moment} {name}")

    watched.act = crash
    with pytest.raises(SystemExit, match="before emit_durable"):
        watched.journal.emit_durable(EVENT, A)
    with pytest.raises(SystemExit, match="before transact"), watched.journal.transact():
        raise AssertionError("the block must not begin")

    assert watched.rows() == 0


def test_a_crash_after_leaves_what_was_done(watched: Watched) -> None:
    """JN-422: alone the entry is committed; inside a transaction that the crash ends it is not."""

    def crash(name: str, moment: Moment) -> None:
        if (name, moment) == ("emit_durable", "after"):
            raise SystemExit

    watched.act = crash
    with pytest.raises(SystemExit), watched.journal.transact():
        watched.journal.emit_durable(EVENT, A)
    assert watched.rows() == 0

    with pytest.raises(SystemExit):
        watched.journal.emit_durable(EVENT, A)
    assert watched.rows() == 1


def test_a_block_is_after_its_commit(watched: Watched) -> None:
    """JN-422: when the hook hears of the end of a transaction, others see what it wrote."""
    seen: list[int] = []
    watched.act = lambda name, moment: seen.append(watched.rows()) if (name, moment) == ("transact", "after") else None

    with watched.journal.transact():
        watched.journal.emit_durable(EVENT, A)

    assert seen == [1]


def test_wrong_arguments_reach_no_hook(watched: Watched) -> None:
    """A call that Python refuses is refused before anything is told."""
    with pytest.raises(TypeError, match="limit"):
        watched.journal.entries("r")  # type: ignore[call-arg]  # what the test is about

    assert watched.told == []


def test_a_journal_that_is_not_there_can_be_watched() -> None:
    """A stub is a journal too."""
    told: list[str] = []
    journal = NotifyingJournal(NoopJournal(), lambda name, moment, arguments: told.append(moment))

    assert journal.transact(lambda: 3) == 3
    with pytest.raises(tenure.JournalError, match="flush is unavailable"):
        journal.flush()
    assert told == ["before", "after", "before"]


def test_the_wrapped_journal_is_untouched(watched: Watched) -> None:
    """Who still has the journal itself is not watched."""
    assert watched.journal.generation("r") == watched.store.journal.generation("r")
    assert len(watched.told) == 2
    with open_store() as other:
        other.journal.flush()
    assert len(watched.told) == 2
