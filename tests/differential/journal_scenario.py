"""A scenario with a journal: sessions that emit, write, follow, compact, commit, roll back and crash in between.

Not drawn here, and tested on each side alone: a compaction or a close that stops half way for others to come between,
maintenance stage by stage, lossy entries under an automatic policy (when it counts them is a matter of timing), failing
reads, transactions begun by raw statements.
"""

from typing import Final

from tenure_model.conform.systems import SystemState
from tenure_model.semantics.journal.answers import Begun, Waiting
from tests.differential.actions import Action
from tests.differential.cells import Cell, cell
from tests.differential.choice import Chooser, chance, pick
from tests.differential.generator import CommandGenerator, Memory
from tests.differential.journal_generator import JournalGenerator
from tests.differential.journal_pair import JournalPair
from tests.differential.scenario import START_MS, Clock

_ADVANCES_MS: Final = (0, 1, 5, 1_000, 30_001)

_HELD: Final = {"stream.open": "stream", "changes.open": "changes"}

_WAITS_FOR_THE_DATABASE: Final = (
    "writer.settle",
    "writer.drain",
    "maintenance.finish",
    "journal.flush",
    "journal.compact",
    "journal.close",
)
"""Steps in which a thread would wait while another session has a transaction open: they are drawn when none has."""


class JournalScenario:
    """Draws one step after another for a pair of systems and takes it on both."""

    def __init__(self, chooser: Chooser, pair: JournalPair) -> None:
        self._chooser = chooser
        self._pair = pair
        self._true_ms = START_MS
        self._clocks = {session: Clock(float(chooser.below(3)), 1.0) for session in pair.sessions}
        self._runs = CommandGenerator(chooser, Memory())
        self._generator = JournalGenerator(chooser, self._runs)
        self._depth = dict.fromkeys(pair.sessions, 0)
        self._held: dict[str, dict[str, list[int]]] = {session: {} for session in pair.sessions}
        self._has_policy: dict[str, bool] = {}
        self.crashes = 0

    def redirect(self, chooser: Chooser) -> None:
        """Take the next decisions from another source."""
        self._chooser = chooser
        self._runs.redirect(chooser)
        self._generator.redirect(chooser)

    def step(self) -> Cell | None:
        """Take one step; answers the cell it reached, or ``None`` for a control. Raises ``Divergence``."""
        chooser = self._chooser
        session = pick(chooser, self._pair.sessions)
        clock_ms = self._clocks[session].at(self._true_ms)
        control = self._control(session)
        if control is not None:
            self._pair.take(Action(session, control, {}, clock_ms))
            return None
        if chance(chooser, 40):
            self._true_ms += pick(chooser, _ADVANCES_MS)
            clock_ms = self._clocks[session].at(self._true_ms)
        state, journal = self._pair.model.state(session), self._pair.model.journal(session)
        operation, arguments = self._generator.step(state, journal, self._held[session], clock_ms)
        if operation == "journal.compact" and not any(self._depth.values()):
            # How much the writer does while a compaction waits for it is its own affair: here, everything.
            self._pair.take(Action(session, "writer.drain", {}, clock_ms))
        if self._has_policy.get(session) and operation in ("journal.emitLossy", "lossy.begin", "journal.transact"):
            # When the policy counts the rows of a batch is a matter of timing (JN-301), so its runs are durable here.
            operation, arguments = "journal.emitDurableUnfenced", {"input": self._generator.event()}
        if operation == "writer.write" and any(self._depth.values()):
            # It would wait for the transaction before its storage could fail.
            arguments = {}
        if operation == "journal.open" and any(self._depth.values()):
            # The first of all creates a table (JN-151), and would wait.
            operation, arguments = "run.get", {"runId": next(iter(state.runs), "r0")}
        if operation == "stream.page" and self._depth[session] and len(self._pair.sessions) == 1:
            # A memory database sees its own transaction and nothing else.
            operation, arguments = "run.get", {"runId": next(iter(state.runs), "r0")}
        is_nested = operation == "journal.compact" and self._depth[session] > 0
        if operation in _WAITS_FOR_THE_DATABASE and any(self._depth.values()) and not is_nested:
            operation, arguments = "journal.emitDurableUnfenced", {"input": self._generator.event()}
        if journal.memory is None and not operation.startswith(("run.", "journal.open")):
            operation, arguments = "run.get", {"runId": next(iter(state.runs), "r0")}
        situation = self._situation(session, state)
        result = self._pair.take(Action(session, operation, arguments, clock_ms))
        self._hold(session, operation, result)
        if operation == "journal.open" and result is None:
            options = arguments["options"]
            self._has_policy[session] = isinstance(options, dict) and "compaction" in options
        return cell(situation, operation, result)

    def _situation(self, session: str, state: SystemState) -> str:
        memory = self._pair.model.journal(session).memory
        inside = "inside" if self._depth[session] else "busy" if any(self._depth.values()) else "free"
        return f"{inside}/{'none' if memory is None else memory.status}"

    def _hold(self, session: str, operation: str, result: object) -> None:
        held = self._held[session]
        if isinstance(result, Begun):
            held.setdefault("token", []).append(result.token)
        elif isinstance(result, Waiting):
            held.setdefault("ticket", []).append(result.ticket)
        elif operation in _HELD and type(result) is int:
            held.setdefault(_HELD[operation], []).append(result)
        elif operation == "journal.open" and result is None:
            held.clear()

    def _control(self, session: str) -> str | None:
        chooser = self._chooser
        depth = self._depth[session]
        if depth and chance(chooser, 25):
            control = pick(chooser, ("session.commit", "session.rollback", "session.begin", "session.commit"))
        elif not depth and chance(chooser, 5):
            control = "session.begin"
        elif len(self._pair.sessions) > 1 and chance(chooser, 1):
            control = pick(chooser, ("session.crash", "system.crash"))
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
            self._held[session] = {}
            self.crashes += 1
        elif control == "system.crash":
            self._depth = dict.fromkeys(self._depth, 0)
            self._held = {other: {} for other in self._held}
            self.crashes += 1
        else:
            self._depth[session] -= 1
