"""Every call that can be made in a situation: each move that is left, about each of what it may be about."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from tenure_model.explore.journal.scope import JournalScope
from tenure_model.semantics.commands import Command
from tenure_model.semantics.journal.instance import Instance
from tenure_model.semantics.journal.state import JournalState, is_inside


class Call(NamedTuple):
    """One command of a session, and the place of its move in the scope."""

    move: int
    session: str
    command: Command


def calls(scope: JournalScope, state: JournalState, left: tuple[int, ...]) -> Iterator[Call]:
    """Every call that is left, in the order of the moves: it is the order of counterexamples of equal length.

    ``left`` says of each move how often it may still be made. A session without an instance can only open one.
    """
    for place, move in enumerate(scope.moves):
        if not left[place]:
            continue
        instance = state.instances.get(move.session)
        if instance is None and move.operation not in _WITHOUT_INSTANCE:
            continue
        if move.operation in _ENDS and not is_inside(state, move.session):
            continue
        if instance is not None and move.operation in _WRITER and not _WRITER[move.operation](instance):
            continue
        about = _ABOUT.get(move.operation)
        if about is None or instance is None:
            yield Call(place, move.session, move.command())
            continue
        argument, known = about
        for number in known(instance):
            yield Call(place, move.session, move.command(**{argument: number}))


def _has_results(instance: Instance) -> bool:
    batch = instance.batch
    return batch is not None and (batch.results is not None or batch.failure is not None)


def _flushes(instance: Instance) -> Iterable[int]:
    return [number for number, flush in instance.flushes.items() if not flush.closing]


def _closes(instance: Instance) -> Iterable[int]:
    return [number for number, flush in instance.flushes.items() if flush.closing]


_ABOUT: Final[Mapping[str, tuple[str, Callable[[Instance], Iterable[int]]]]] = {
    "lossy.read": ("token", lambda instance: instance.admissions),
    "lossy.finish": ("token", lambda instance: instance.admissions),
    "flush.poll": ("ticket", _flushes),
    "close.poll": ("ticket", _closes),
    "compact.poll": ("ticket", lambda instance: instance.compactions),
    "stream.page": ("stream", lambda instance: instance.streams),
    "changes.take": ("changes", lambda instance: instance.changes),
    "maintenance.step": ("task", lambda instance: instance.maintenance),
}
"""What a step is about: the argument it takes, and the numbers that the instance knows for it."""

_WRITER: Final[Mapping[str, Callable[[Instance], bool]]] = {
    "writer.take": lambda instance: instance.batch is None and bool(instance.queue),
    "writer.write": lambda instance: instance.batch is not None and not _has_results(instance),
    "writer.settle": _has_results,
}
"""When the writer has something to do: it takes no step otherwise."""

_ENDS: Final = frozenset({"session.commit", "session.rollback"})
_WITHOUT_INSTANCE: Final = frozenset({"journal.open", "session.begin", "session.commit", "session.rollback"})
