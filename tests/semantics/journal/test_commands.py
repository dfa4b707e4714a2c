"""The way in: every name, any argument, and nothing ever written to."""

import copy
from random import Random
from typing import Final

import pytest

from tenure_model.semantics.commands import Command
from tenure_model.semantics.journal.commands import OPERATIONS, apply
from tenure_model.semantics.journal.state import JournalState
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.journal_errors import JournalError, JournalUsageError
from tenure_model.vocabulary.journal_operations import JOURNAL_OPERATIONS
from tests.semantics.journal.journals import after, begun, call, compacted, emitted, event, opened, queued, world
from tests.semantics.journal.walks import clocks, next_step


class Hostile:
    """A value whose every inspection fails."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared")

    def __hash__(self) -> int:
        raise AssertionError("hashed")

    def __getattr__(self, name: str) -> object:
        raise AssertionError(name)

    def __len__(self) -> int:
        raise AssertionError("measured")


_SELF: Final[dict[str, object]] = {}
_SELF["runId"] = _SELF
VALUES: Final[tuple[object, ...]] = (
    *(None, True, -1, 2**60, 1.5, float("nan"), "", "r", "\ud800", b"x"),
    *([], [None], {}, {1: 2}, (), _SELF, Hostile(), ABSENT),
)
PARAMETERS: Final = {
    **{name: tuple(signature.parameters) for name, signature in JOURNAL_OPERATIONS.items() if name in OPERATIONS},
    "journal.open": ("options",),
    "lossy.begin": ("input",),
    "lossy.read": ("token",),
    "lossy.finish": ("token",),
    "writer.write": ("fault",),
    "maintenance.step": ("task",),
    "flush.poll": ("ticket",),
    "close.poll": ("ticket",),
    "compact.begin": ("runId", "owner", "upTo"),
    "compact.poll": ("ticket",),
    "stream.open": ("runId", "afterSequence"),
    "stream.page": ("stream",),
    "stream.close": ("stream",),
    "changes.take": ("changes",),
    "changes.close": ("changes",),
    "session.begin": ("raw",),
    "journal.whenCommitted": ("label",),
    "journal.afterCommit": ("label",),
    "event.write": ("columns",),
    "generation.write": ("runId", "generation", "afterSeq"),
}


def busy_state(profile: Profile) -> JournalState:
    """A state with something of everything in it."""
    state = compacted(emitted(opened(profile), 1, 2), 1)
    state, _ = begun(state, "stream.open", runId="r")
    state, _ = begun(state, "changes.open")
    state, _ = begun(queued(state, 3), "flush.begin")
    return after(state, "lossy.begin", input=event(4))


@pytest.mark.parametrize("profile", [REFERENCE, ORIGINAL], ids=lambda profile: profile.name)
@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_any_argument_is_answered(operation: str, profile: Profile) -> None:
    """Whatever is supplied, there is an answer, without or within an instance and a transaction."""
    states = (world(profile), busy_state(profile), after(busy_state(profile), "session.begin"))
    for name in PARAMETERS.get(operation, ()):
        for value in VALUES:
            for state in states:
                assert apply(state, "a", Command(operation, {name: value}, 0)).state is not None
    for state in states:
        for clock_ms in (0, -1, 0.5, float("nan"), 2**60):
            assert apply(state, "a", Command(operation, {}, clock_ms)).state is not None


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_unknown_arguments(operation: str) -> None:
    """An argument that nothing is known of is a fault of the program, and changes nothing."""
    state = opened()

    step = call(state, operation, unknown=1)

    assert isinstance(step.outcome, JournalUsageError)
    assert step.state is state


@pytest.mark.parametrize("operation", ["journal.nothing", "", 7, None])
def test_unknown_operations(operation: object) -> None:
    """What is no operation of the journal is asked of the run store, which refuses it."""
    step = apply(opened(), "a", Command(operation, {}, 0))  # type: ignore[arg-type]  # what a port might send

    assert isinstance(step.outcome, RunStoreError)
    assert step.outcome.code == "invalid_run"


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_written_to(seed: int) -> None:
    """A command leaves the state it is given as it was, and does the same when it is asked again."""
    random = Random(seed)
    state = world()
    for clock_ms, _ in zip(clocks(random), range(150), strict=False):
        session, command = next_step(random, state, clock_ms)
        before = copy.deepcopy(state)

        first = apply(state, session, command)
        second = apply(state, session, command)

        assert state == before
        assert first.state == second.state
        assert type(first.outcome) is type(second.outcome)
        assert str(first.outcome) == str(second.outcome)
        state = first.state


def test_errors_are_values() -> None:
    """A refusal comes as the outcome of its step."""
    assert isinstance(call(world(), "journal.emitLossy", input=1).outcome, JournalError)
