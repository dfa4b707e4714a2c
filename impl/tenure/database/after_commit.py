"""Work that waits for a commit."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable


class AfterCommitError(ExceptionGroup[Exception]):
    """The data is committed; work that waited for the commit failed (JN-147)."""


class InOrder(ABC):
    """Work for after a commit, of which a part keeps the order of commits.

    Who has committed lets others write before the work runs, and then threads run it in any order.
    """

    __slots__ = ()

    @abstractmethod
    def committed(self) -> object:
        """Take note of the commit, before the next one: called once, by whichever thread committed.

        Everybody who writes waits meanwhile: it is short, and neither uses the database nor raises. An interruption can
        keep it from being called, though the data is committed.
        """

    @abstractmethod
    def __call__(self) -> object:
        """Do the work, in the thread that registered it."""


def note_commit(callbacks: Iterable[Callable[[], object]]) -> None:
    """With the turn, at once after COMMIT: tell the work that keeps the order of commits."""
    for callback in callbacks:
        if isinstance(callback, InOrder):
            callback.committed()


def run_all(callbacks: Iterable[Callable[[], object]]) -> None:
    """Run all of them in order, whatever some of them raise; then raise (JN-147)."""
    failures: list[Exception] = []
    interruption: BaseException | None = None
    for callback in callbacks:
        try:
            callback()
        except Exception as error:  # noqa: BLE001  # raised below, once the others have run
            failures.append(error)
        except BaseException as error:  # noqa: BLE001  # raised below, once the others have run
            interruption = error
    if interruption is not None:
        raise interruption
    if failures:
        raise AfterCommitError("the write is committed; work that waited for it failed", failures)
