"""``project``: a fold over a stream (JN-262, JN-263)."""

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar

import attrs

from tenure.journal.streams import EntryStream
from tenure_model.vocabulary.journal import Entry
from tenure_model.vocabulary.journal_errors import JournalUsageError, projection_failed

State = TypeVar("State")


@attrs.frozen
class Projection(Generic[State]):
    """A fold: ``reduce(state, entry)`` answers the next state. The same entries must always give the same states."""

    name: str
    initial: State
    reduce: Callable[[State, Entry], State]


def require_projection(value: object) -> None:
    """``JournalUsageError`` for what is no ``Projection``: it would fail only once there is an entry."""
    if not isinstance(value, Projection):
        raise JournalUsageError("projection must be a tenure.Projection")


class ProjectedStates(Generic[State]):
    """The states of a projection: the initial one, then one for each entry, without an end. ``close`` it to end it.

    It ends with the stream's error, or with ``projection_failed``, whose cause is what ``reduce`` raised.
    Threads may share one: each state goes to one of them.
    """

    __slots__ = ("_has_begun", "_projection", "_state", "_stream", "_turn")

    def __init__(self, projection: Projection[State], stream: EntryStream) -> None:
        self._projection = projection
        self._stream = stream
        self._state = projection.initial
        self._has_begun = False
        # Entries are folded in order, one at a time. A reducer that comes back here does not wait for itself.
        self._turn = threading.RLock()

    def close(self) -> None:
        """End it, from any thread."""
        self._stream.close()

    def __iter__(self) -> "ProjectedStates[State]":
        return self

    def __next__(self) -> State:
        with self._turn:
            if not self._has_begun:
                if self._stream.is_ended:
                    raise StopIteration
                self._has_begun = True
                return self._state
            entry = next(self._stream)
            try:
                self._state = self._projection.reduce(self._state, entry)
            except BaseException as error:
                self.close()
                if isinstance(error, Exception):
                    raise projection_failed(self._projection.name, error) from error
                raise
            return self._state

    def __enter__(self) -> "ProjectedStates[State]":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
