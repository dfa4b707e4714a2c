"""A scenario with a journal: sessions that emit, write, follow, compact, commit, roll back and crash in between.

Whatever one operation waits for another in goes by small steps, so that others come between: lossy admissions, batches,
flushes, compactions, closes, automatic compaction. Storage fails for whole batches and for reads; rows are planted by
hand, in transactions and outside; the program's own work waits for commits.

Not drawn, as the store hands nobody its connection: operations inside a transaction that a raw statement began on it.
The model has them (``session.begin`` with ``raw``). What the rules say of rows that were written raw, which nobody
publishes, is drawn by ``event.write``.
"""

from typing import Final

from tenure_model.semantics.journal.answers import Begun, Blocked, Waiting
from tests.differential.actions import Action
from tests.differential.cells import Cell, cell
from tests.differential.choice import Chooser, chance, pick
from tests.differential.generator import CommandGenerator, Memory
from tests.differential.journal_generator import RUN_IDS, JournalGenerator
from tests.differential.journal_pair import JournalPair
from tests.differential.scenario import START_MS, Clock

_ADVANCES_MS: Final = (0, 1, 5, 1_000, 30_001)

_KINDS: Final = {
    "lossy.begin": "token",
    "flush.begin": "flush",
    "journal.flush": "flush",
    "compact.begin": "compaction",
    "close.begin": "close",
    "journal.close": "close",
    "stream.open": "stream",
    "changes.open": "changes",
}
"""What the number is for that a step may answer."""


class JournalScenario:
    """Draws one step after another for a pair of systems and takes it on both."""

    def __init__(self, chooser: Chooser, pair: JournalPair) -> None:
        self._chooser = chooser
        self._pair = pair
        self._true_ms = START_MS
        self._clocks = {session: Clock(float(chooser.below(3)), 1.0) for session in pair.sessions}
        self._runs = CommandGenerator(chooser, Memory())
        self._generator = JournalGenerator(chooser, self._runs)
        self._held: dict[str, dict[str, list[int]]] = {session: {} for session in pair.sessions}
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
        operation, arguments = self._possible(session, operation, arguments)
        if journal.memory is None and not operation.startswith(("run.", "journal.open", "event.")):
            operation, arguments = "run.get", {"runId": next(iter(state.runs), "r0")}
        situation = self._situation(session)
        result = self._pair.take(Action(session, operation, arguments, clock_ms))
        self._hold(session, operation, arguments, result)
        return cell(situation, operation, result)

    def _possible(self, session: str, operation: str, arguments: dict[str, object]) -> tuple[str, dict[str, object]]:
        """The step, or another in place of one in which a thread would wait for what is open."""
        if not self._pair.would_wait(session, operation, arguments):
            return operation, arguments
        if operation == "writer.write":
            return operation, {}
        transaction = self._pair.model.model.transaction
        if transaction is not None and transaction.session == session and transaction.compaction is not None:
            if chance(self._chooser, 60):
                return "lossy.begin", {"input": self._generator.event()}
            return "compact.poll", {"ticket": transaction.compaction}
        if operation in ("stream.page", "journal.open"):
            return "run.get", {"runId": pick(self._chooser, RUN_IDS)}
        return "journal.emitDurableUnfenced", {"input": self._generator.event()}

    def _where(self, session: str) -> str:
        """Whose transaction is open: none, the session's own, that of its compaction, another's."""
        transaction = self._pair.model.model.transaction
        if transaction is None:
            return "free"
        if transaction.session != session:
            return "busy"
        return "inside" if transaction.compaction is None else "gated"

    def _situation(self, session: str) -> str:
        memory = self._pair.model.journal(session).memory
        return f"{self._where(session)}/{'none' if memory is None else memory.status}"

    def _hold(self, session: str, operation: str, arguments: dict[str, object], result: object) -> None:
        held = self._held[session]
        number = (
            result.token
            if isinstance(result, Begun)
            else result.ticket
            if isinstance(result, Waiting)
            else result
            if type(result) is int
            else None
        )
        if operation in _KINDS and number is not None:
            held.setdefault(_KINDS[operation], []).append(number)
        elif operation == "compact.poll" and not isinstance(result, Waiting | Blocked):
            held["compaction"] = [other for other in held["compaction"] if other != arguments["ticket"]]
        elif operation == "journal.open" and result is None:
            held.clear()

    def _control(self, session: str) -> str | None:
        chooser = self._chooser
        where = self._where(session)
        if where == "inside" and chance(chooser, 25):
            return pick(chooser, ("session.commit", "session.rollback", "session.begin", "session.commit"))
        if where in ("free", "busy") and chance(chooser, 5):
            return "session.begin"
        if len(self._pair.sessions) > 1 and chance(chooser, 1):
            control = pick(chooser, ("session.crash", "system.crash"))
            for lost in self._pair.sessions if control == "system.crash" else (session,):
                self._held[lost] = {}
            self.crashes += 1
            return control
        return None
