"""A scenario: several sessions with clocks of their own, drawing calls, transactions and crashes."""

from collections.abc import Mapping
from typing import Final

import attrs

from tenure_model.conform.systems import RUN_COLUMNS
from tests.differential.actions import Action
from tests.differential.cells import Cell, cell, situation
from tests.differential.choice import Chooser, chance, pick
from tests.differential.generator import CommandGenerator, Memory
from tests.differential.pair import Pair

START_MS: Final = 1_000_000.0

SKEWS_MS: Final = (0.0, 9_999.0, -10_000.0, 10_001.5, -31_000.0)
DRIFTS: Final = (1.0, 1.0005, 0.999)

_ADVANCES_MS: Final = (0, 0, 0, 1, 250.5, 1_000, 1_000, 10_000, 10_001, 19_000, 29_999, 30_000, 30_001, 61_000)
_STAMPS: Final = tuple(RUN_COLUMNS.index(name) for name in ("heartbeat_at_ms", "claimed_at_ms"))


@attrs.define
class Clock:
    """One session's clock: skewed against true time, and drifting from it."""

    skew_ms: float
    rate: float

    def at(self, true_ms: float) -> float:
        """What this clock shows at a true time; never negative."""
        return max(0.0, START_MS + (true_ms - START_MS) * self.rate + self.skew_ms)


def _run_of(arguments: Mapping[str, object]) -> object:
    """The run that a call is about: named beside the other arguments, or in the record of an attempt."""
    for record in (arguments, arguments.get("attempt"), arguments.get("id")):
        if isinstance(record, Mapping) and "runId" in record:
            return record["runId"]
    return None


class Scenario:
    """Draws one step after another for a pair of systems and takes it on both."""

    def __init__(self, chooser: Chooser, pair: Pair) -> None:
        self._chooser = chooser
        self._pair = pair
        self._true_ms = START_MS
        self._clocks = {session: Clock(pick(chooser, SKEWS_MS), pick(chooser, DRIFTS)) for session in pair.sessions}
        self._generator = CommandGenerator(chooser, Memory())
        self._depth = dict.fromkeys(pair.sessions, 0)
        self.crashes = 0

    def redirect(self, chooser: Chooser) -> None:
        """Take the next decisions from another source."""
        self._chooser = chooser
        self._generator.redirect(chooser)

    def step(self) -> Cell | None:
        """Take one step; answers the cell it reached, or ``None`` for a control. Raises ``Divergence``."""
        chooser = self._chooser
        session = pick(chooser, self._pair.sessions)
        control = self._control(session)
        if control is not None:
            self._pair.take(Action(session, control, {}, self._clocks[session].at(self._true_ms)))
            return None
        state = self._pair.model.state(session)
        self._advance(
            [run[stamp] for run in state.runs.values() for stamp in _STAMPS if run[stamp] is not None], session
        )
        clock_ms = self._clocks[session].at(self._true_ms)
        operation, arguments = self._generator.command(state, clock_ms)
        run_id = _run_of(arguments)
        before = situation(state.runs.get(run_id) if isinstance(run_id, str) else None)
        result = self._pair.take(Action(session, operation, arguments, clock_ms))
        return cell(before, operation, result)

    def _advance(self, stamps: list[object], session: str) -> None:
        chooser = self._chooser
        if chance(chooser, 55):
            self._true_ms += pick(chooser, _ADVANCES_MS)
        elif stamps and chance(chooser, 25):
            # To where the session's own clock stands exactly on the boundary of a stamp, if that lies ahead.
            stamp = pick(chooser, stamps)
            clock = self._clocks[session]
            if isinstance(stamp, int):
                target = stamp + pick(chooser, (30_000, 30_001, 29_999))
                ahead = (target - clock.at(self._true_ms)) / clock.rate
                self._true_ms += max(0.0, ahead)

    def _control(self, session: str) -> str | None:
        chooser = self._chooser
        depth = self._depth[session]
        if depth and chance(chooser, 22):
            control = pick(chooser, ("session.commit", "session.rollback", "session.begin", "session.commit"))
        elif not depth and chance(chooser, 4):
            control = "session.begin"
        elif len(self._pair.sessions) > 1 and chance(chooser, 2):
            control = pick(chooser, ("session.crash", "session.crash", "system.crash"))
        else:
            return None
        self._follow(session, control)
        return control

    def _follow(self, session: str, control: str) -> None:
        if control == "session.begin":
            if any(depth for other, depth in self._depth.items() if other != session):
                return  # refused as busy: both systems must say so
            self._depth[session] += 1
        elif control == "session.crash":
            self._depth[session] = 0
            self.crashes += 1
        elif control == "system.crash":
            self._depth = dict.fromkeys(self._depth, 0)
            self.crashes += 1
        else:
            self._depth[session] -= 1
