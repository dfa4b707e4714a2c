"""One step of a scenario: who acts, at which clock reading, and what is called."""

from collections.abc import Mapping
from typing import Any

import attrs

from tenure_model.conform.wire import to_wire


@attrs.frozen
class Action:
    """A call or a control by one session. ``clock_ms`` is the session's own clock, fractions included.

    ``begun`` is the number by which later actions name what this one begins, whatever number it is given when a history
    is taken again without some of its steps.
    """

    session: str
    operation: str
    arguments: Mapping[str, object]
    clock_ms: float
    begun: int | None = None

    def to_wire(self) -> dict[str, Any]:
        """The action as a step of a trace, without its answer."""
        return {
            "clock": self.clock_ms,
            "session": self.session,
            "op": self.operation,
            "args": to_wire(dict(self.arguments)),
        }
