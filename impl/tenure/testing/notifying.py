"""A journal whose every call a test can stop at: just before it, or just after it succeeded (JN-422)."""

import functools
import inspect
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Literal, TypeAlias

from tenure.journal.journal import Journal
from tenure.journal.transactions import JournalTransaction

Moment: TypeAlias = Literal["before", "after"]
Hook: TypeAlias = Callable[[str, Moment, Mapping[str, object]], object]
"""Given the operation's name, the moment, and the arguments that the caller gave, by their names."""

_NOTIFIED: Final = (
    "emit_durable",
    "emit_durable_unfenced",
    "emit_lossy",
    "flush",
    "entries",
    "changes",
    "checkpoint",
    "latest_checkpoint",
    "compact",
    "when_committed",
    "generation",
    "forget",
    "close",
)
_HANDED_ON: Final = ("begin_flush", "stream", "project")


class NotifyingJournal(Journal):
    """Calls ``hook(name, "before", arguments)``, the operation of ``journal``, then ``hook(name, "after", arguments)``.

    There is no call after an operation that raised. The hook runs in the caller's thread, inside its transaction if it
    has one, so that it can raise, block or kill the process at an exact point: what it raises is what the caller gets.
    ``transact`` used as a block is before its begin, and after its commit. Streams, projections and tickets, which only
    begin something, are handed on as they are.
    """

    def __init__(self, journal: Journal, hook: Hook) -> None:
        # A journal that is not there has no instance.
        if hasattr(journal, "instance"):
            super().__init__(journal.instance)
        for name in _NOTIFIED:
            setattr(self, name, _notified(name, getattr(journal, name), hook))
        for name in _HANDED_ON:
            setattr(self, name, getattr(journal, name))
        with_body = _notified("transact", journal.transact, hook)

        def transact(body: Callable[[], object] | None = None) -> object:
            return _NotifyingTransaction(journal.transact(), hook) if body is None else with_body(body)

        setattr(self, "transact", transact)  # noqa: B010  # a plain assignment to a method is refused by type checkers


class _NotifyingTransaction(JournalTransaction):
    def __init__(self, block: JournalTransaction, hook: Hook) -> None:
        self._block = block
        self._hook = hook

    def __enter__(self) -> None:
        self._hook("transact", "before", {})
        self._block.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._block.__exit__(kind, error, traceback)
        if kind is None:
            self._hook("transact", "after", {})


def _notified(name: str, operation: Callable[..., object], hook: Hook) -> Callable[..., object]:
    signature = inspect.signature(getattr(Journal, name))

    @functools.wraps(operation)
    def notified(*arguments: object, **by_name: object) -> object:
        given = dict(signature.bind(None, *arguments, **by_name).arguments)
        del given["self"]
        hook(name, "before", given)
        result = operation(*arguments, **by_name)
        hook(name, "after", given)
        return result

    return notified
