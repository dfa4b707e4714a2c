"""Revisions of one cancelled lineage, told in round order whatever order a system visited the rounds in.

One statement that changes several rows gives them consecutive revisions in an order nobody may rely on (RS-163). Two
systems that are both right would differ in it for ever after, so a driven system is seen through this.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from tenure_model.conform.systems import RUN_COLUMNS, System, SystemState

_ORDINAL: Final = RUN_COLUMNS.index("round_ordinal")
_SEVERAL_ROWS: Final = "run.requestCancelLineage"


class RoundOrder:
    """A system whose state tells the revisions of one ``requestCancelLineage`` by ordinal, then run id."""

    def __init__(self, system: System, sessions: Sequence[str]) -> None:
        self._system = system
        self._sessions = tuple(sessions)
        self._told: dict[tuple[str, int], int] = {}

    def call(self, session: str, operation: str, arguments: Mapping[str, object], clock_ms: float) -> object:
        """One operation; the answer is the system's own."""
        if operation != _SEVERAL_ROWS:
            return self._system.call(session, operation, arguments, clock_ms)
        before = self._system.state(session).source
        result = self._system.call(session, operation, arguments, clock_ms)
        self._note(before, self._system.state(session))
        return result

    def control(self, session: str, action: str, clock_ms: float = 0.0) -> bool:
        """A control; revisions that it undid may be given again, to other rows."""
        done = self._system.control(session, action, clock_ms)
        if self._told and action != "session.begin":
            newest = max(self._system.state(other).source for other in self._sessions)
            self._told = {key: told for key, told in self._told.items() if key[1] <= newest}
        return done

    def state(self, session: str) -> SystemState:
        """The whole state, those revisions in round order."""
        state = self._system.state(session)
        if not self._told:
            return state
        changes = {
            run_id: (self._told.get((run_id, revision), revision), deleted)
            for run_id, (revision, deleted) in state.changes.items()
        }
        return attrs.evolve(state, changes=changes)

    def close(self) -> None:
        """Close the system, if it holds anything."""
        close = getattr(self._system, "close", None)
        if close is not None:
            close()

    def _note(self, before: int, state: SystemState) -> None:
        fresh = {run_id: revision for run_id, (revision, _) in state.changes.items() if revision > before}
        in_order = sorted(fresh, key=lambda run_id: (state.runs[run_id][_ORDINAL] or 0, run_id))
        for run_id, told in zip(in_order, sorted(fresh.values()), strict=True):
            if fresh[run_id] != told:
                self._told[run_id, fresh[run_id]] = told
