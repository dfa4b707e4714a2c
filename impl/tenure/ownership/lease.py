"""What the body of a supervised block holds, and what it is told when the lease is gone."""

import threading
from typing import Literal, TypeAlias

from tenure_model.vocabulary.owners import OwnerId

LossReason: TypeAlias = Literal["fence-lost", "lapsed", "interrupted"]


class LeaseLost(Exception):
    """Nobody keeps the lease of ``run_id`` any more: stop at once, and write nothing more for the run.

    ``reason``: ``fence-lost``, the store answered that the run is no longer the owner's; ``lapsed``, no beat was
    confirmed for too long and reconfirming failed; ``interrupted``, the store was closed or a call was cancelled.
    """

    def __init__(self, run_id: str, reason: LossReason) -> None:
        self.run_id = run_id
        self.reason: LossReason = reason
        super().__init__(run_id, reason)

    def __str__(self) -> str:
        return f"the lease of run {self.run_id} is lost: {self.reason}"


class Lease:
    """The lease of one run while it is supervised. Any thread may look at it.

    ``lost`` is set when the supervision has ended by itself: wait on it, or poll it, where ``check`` cannot be called.
    After the block the run is not supervised, and the lease says no more than it did at its end.
    """

    __slots__ = ("_failure", "lost", "owner", "run_id")

    def __init__(self, run_id: str, owner: OwnerId) -> None:
        self.run_id = run_id
        self.owner = owner
        self.lost = threading.Event()
        self._failure: BaseException | None = None

    @property
    def reason(self) -> LossReason | None:
        """Why it was lost; ``None`` while it is held, and where a failure ended the supervision."""
        return self._failure.reason if isinstance(self._failure, LeaseLost) else None

    def check(self) -> None:
        """Return while the lease is held; raise ``LeaseLost`` once it is lost.

        Where an exception of a hook, or one of a beat that is no error of the store, ended it, that one is raised.
        """
        if self._failure is None:
            return
        if isinstance(self._failure, LeaseLost):
            # A new one each time: one that is raised often would collect all its tracebacks.
            raise LeaseLost(self.run_id, self._failure.reason)
        raise self._failure

    def end(self, failure: BaseException) -> None:
        """The supervision has ended by itself. Only the supervisor calls this, once."""
        self._failure = failure
        self.lost.set()
