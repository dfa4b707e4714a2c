"""Work that waits for a commit."""

from collections.abc import Callable, Iterable


class AfterCommitError(ExceptionGroup[Exception]):
    """The data is committed; work that waited for the commit failed (JN-147)."""


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
