"""Stores that are not there: what stands in for one in a program, or in a test, that has no database.

Each member can be replaced: by a keyword of the constructor, or, with its whole signature checked, in a subclass. What
replaces a member is called with the caller's arguments as they are. The stubs validate nothing and keep nothing.
"""

import threading
from collections.abc import Callable, Collection, Mapping
from types import TracebackType
from typing import Any, Final, TypedDict, Unpack

from tenure.attempts.store import AttemptStore
from tenure.journal.backlog import Ticket
from tenure.journal.changes import Changes
from tenure.journal.journal import Input, Journal
from tenure.journal.projection import ProjectedStates
from tenure.journal.streams import EntryStream
from tenure.journal.transactions import JournalTransaction
from tenure.runs.store import RunStore
from tenure_model.vocabulary.attempt_errors import UNAVAILABLE, AttemptStoreError
from tenure_model.vocabulary.attempt_outcomes import AttemptHeartbeatResult, FinishResult, PatchResult, PutResult
from tenure_model.vocabulary.attempts import Attempt, AttemptId, AttemptOptions, FinishAttempt
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.journal import (
    Checkpoint,
    CompactionResult,
    DurableReceipt,
    EmitReceipt,
    EntriesPage,
    Entry,
    Generation,
)
from tenure_model.vocabulary.journal_errors import unavailable
from tenure_model.vocabulary.outcomes import (
    AbandonClaimOutcome,
    ActivateOutcome,
    ClaimAndOwnOutcome,
    ClaimLost,
    ClaimOutcome,
    HeartbeatOutcome,
    NotFound,
    RecoverClaimOutcome,
    RequestCancelOutcome,
    StealOutcome,
    TransitionOutcome,
)
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import RunRow

NO_RUN_STORE: Final = "no run store in this environment"


class RunStoreMembers(TypedDict, total=False):
    """What may replace the members of a ``NoopRunStore``."""

    create: Callable[..., None]
    get: Callable[[str], RunRow]
    lineage: Callable[[str], tuple[RunRow, ...]]
    latest_round: Callable[[str], RunRow]
    request_cancel: Callable[[str, int], RequestCancelOutcome]
    request_cancel_lineage: Callable[[str, int], RequestCancelOutcome]
    acknowledge_cancel: Callable[[str, OwnerId, int], bool]
    claim: Callable[..., ClaimOutcome]
    claim_and_own: Callable[..., ClaimAndOwnOutcome]
    activate: Callable[..., ActivateOutcome]
    abandon_claim: Callable[[str, OwnerId, int], AbandonClaimOutcome]
    recover_claim: Callable[..., RecoverClaimOutcome]
    heartbeat: Callable[[str, OwnerId, int], HeartbeatOutcome]
    reconfirm: Callable[[str, OwnerId, int], HeartbeatOutcome]
    transition_owned: Callable[..., TransitionOutcome]
    steal: Callable[..., StealOutcome]


class NoopRunStore(RunStore):
    """No runs at all (RS-980).

    ``create``, ``get``, ``lineage``, ``latest_round`` and ``request_cancel_lineage`` raise
    ``RunStoreError("persistence_failed")``, ``acknowledge_cancel`` answers false, ``activate`` and ``abandon_claim``
    answer ``ClaimLost``, the rest ``NotFound``.
    """

    def __init__(self, **members: Unpack[RunStoreMembers]) -> None:
        _put_in_place(self, RunStore, _NO_RUNS, members)


class AttemptStoreMembers(TypedDict, total=False):
    """What may replace the operations of a ``NoopAttemptStore``."""

    put: Callable[[Attempt, OwnerId], PutResult]
    get: Callable[[AttemptId | Attempt | FinishAttempt], Attempt | None]
    heartbeat: Callable[..., AttemptHeartbeatResult]
    finish: Callable[[FinishAttempt, OwnerId], FinishResult]
    patch: Callable[..., PatchResult]


class NoopAttemptStore(AttemptStore):
    """No attempts at all: every operation raises ``AttemptStoreError("unknown")`` (RS-981)."""

    def __init__(self, **members: Unpack[AttemptStoreMembers]) -> None:
        _put_in_place(self, AttemptStore, _NO_ATTEMPTS, members)

    @property
    def options(self) -> AttemptOptions:
        """The policy of a store that was told nothing."""
        return AttemptOptions()


class JournalMembers(TypedDict, total=False):
    """What may replace the operations of a ``NoopJournal``."""

    emit_durable: Callable[..., DurableReceipt]
    emit_durable_unfenced: Callable[[Input], DurableReceipt]
    emit_lossy: Callable[[Input], EmitReceipt]
    flush: Callable[[], None]
    begin_flush: Callable[[], Ticket]
    entries: Callable[..., EntriesPage]
    stream: Callable[..., EntryStream]
    changes: Callable[[], Changes]
    project: Callable[..., ProjectedStates[Any]]
    checkpoint: Callable[..., Checkpoint]
    latest_checkpoint: Callable[[str], Checkpoint | None]
    compact: Callable[..., CompactionResult]
    transact: Callable[..., Any]
    when_committed: Callable[[Callable[[], object]], bool]
    generation: Callable[[str], Generation]
    forget: Callable[[Collection[str]], None]
    close: Callable[[], None]


class NoopJournal(Journal):
    """No history at all: operations raise ``JournalError("journal_closed")`` (JN-420).

    But ``transact`` runs its body, and nothing is rolled back; ``when_committed`` runs its update now and answers true;
    ``changes`` is a subscription that lives and stays empty; ``close`` does nothing. There is no ``instance``.
    """

    def __init__(self, **members: Unpack[JournalMembers]) -> None:
        _put_in_place(self, Journal, _NO_JOURNAL, members)


class _NoTransaction(JournalTransaction):
    """A block around nothing."""

    def __init__(self) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        pass


class _NoChanges(Changes):
    """A subscription to which nothing is ever published: who waits on it waits until it is closed."""

    def __init__(self) -> None:
        self._closed = threading.Event()

    def take(self) -> list[Entry]:
        return []

    def close(self) -> None:
        self._closed.set()

    def __next__(self) -> Entry:
        self._closed.wait()
        raise StopIteration


def _wire_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _answering(outcome: object) -> Callable[..., object]:
    def operation(*_arguments: object, **_by_name: object) -> object:
        return outcome

    return operation


def _raising(error: Callable[[str], Exception], name: str) -> Callable[..., object]:
    def operation(*_arguments: object, **_by_name: object) -> object:
        raise error(_wire_name(name))

    return operation


def _no_run_store(method: str) -> RunStoreError:
    return RunStoreError("persistence_failed", method, NO_RUN_STORE, {"method": method})


def _no_attempt_store(method: str) -> AttemptStoreError:
    return AttemptStoreError("unknown", method, UNAVAILABLE)


def _transact(body: Callable[[], object] | None = None) -> object:
    return _NoTransaction() if body is None else body()


def _when_committed(update: Callable[[], object]) -> bool:
    update()
    return True


_NO_RUNS: Final[Mapping[str, Callable[..., object]]] = {
    **{
        name: _raising(_no_run_store, name)
        for name in ("create", "get", "lineage", "latest_round", "request_cancel_lineage")
    },
    **{
        name: _answering(NotFound())
        for name in (
            "request_cancel",
            "claim",
            "claim_and_own",
            "recover_claim",
            "heartbeat",
            "reconfirm",
            "transition_owned",
            "steal",
        )
    },
    **{name: _answering(ClaimLost()) for name in ("activate", "abandon_claim")},
    "acknowledge_cancel": _answering(False),
}
_NO_ATTEMPTS: Final[Mapping[str, Callable[..., object]]] = {
    name: _raising(_no_attempt_store, name) for name in AttemptStoreMembers.__annotations__
}
_NO_JOURNAL: Final[Mapping[str, Callable[..., object]]] = {
    **{name: _raising(unavailable, name) for name in JournalMembers.__annotations__},
    "transact": _transact,
    "when_committed": _when_committed,
    "changes": _NoChanges,
    "close": _answering(None),
}


def _put_in_place(
    stub: object, real: type, stand_ins: Mapping[str, Callable[..., object]], members: Mapping[str, object]
) -> None:
    """Hide every operation that the stub has from ``real`` behind its replacement, or behind what stands in for it."""
    for name in members:
        if name not in stand_ins:
            raise TypeError(f"{type(stub).__name__} has no member {name!r} to replace")
    for name, stand_in in stand_ins.items():
        # What a subclass brings is a replacement too.
        if name in members:
            setattr(stub, name, members[name])
        elif getattr(type(stub), name) is getattr(real, name):
            setattr(stub, name, stand_in)
