"""One run under supervision: its machine, its lease, its hooks, and what it waits for."""

from collections.abc import Callable
from typing import TypeAlias

from tenure.ownership.beats import Beat
from tenure.ownership.lease import Lease
from tenure.ownership.machine import SupervisionMachine

Hook: TypeAlias = Callable[[float], object]
"""Called with the milliseconds that the lease went unconfirmed."""


class HookCall:
    """A hook under way; ``open`` until it ended or was given up."""

    __slots__ = ("open",)

    def __init__(self) -> None:
        self.open = True


class SupervisedRun:
    """What the supervisor keeps of one run, under its lock."""

    __slots__ = ("calls", "ended", "lapsing", "lease", "machine", "on_lapse", "on_reconfirm")

    def __init__(
        self, lease: Lease, machine: SupervisionMachine, on_reconfirm: Hook | None, on_lapse: Hook | None
    ) -> None:
        self.lease = lease
        self.machine = machine
        self.on_reconfirm = on_reconfirm
        self.on_lapse = on_lapse
        # The latest call of each kind.
        self.calls: dict[str, Beat | HookCall] = {}
        self.lapsing = False
        self.ended = False

    def opened(self, kind: str, call: Beat | HookCall) -> None:
        """A call of this kind is outstanding from now on."""
        self.calls[kind] = call

    def end(self) -> None:
        """Give up every call that is outstanding."""
        self.ended = True
        for call in self.calls.values():
            call.open = False
        self.calls.clear()
