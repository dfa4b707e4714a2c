"""Commands that reach every corner: mostly nearly right, sometimes plainly wrong, often exactly on a boundary.

Everything is drawn from what the acting session can see, so that a snapshot is usually current, evidence usually
matches, and a claim's token is usually the one that was granted; every one of them is also wrong often enough.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import attrs

from tenure_model.conform.systems import RUN_COLUMNS, Columns, SystemState
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.operations import RUN_OPERATIONS
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import PENDING, SUSPENDED, CreateOptions, RunSnapshot, TransitionGuard
from tests.differential.attempt_generator import OPERATIONS, AttemptGenerator
from tests.differential.choice import Chooser, chance, pick

OWNERS: Final = (
    OwnerId("h1", 1, "a"),
    OwnerId("h2", 3, "c"),
    OwnerId("h1", 2, "b"),
    OwnerId("h1", 1, "d"),  # the same process as the first, incarnated again
    OwnerId("h2", 1, "a"),  # equal to the first but for the host
)

RUN_IDS: Final = ("r0", "r1", "r2")
UNKNOWN_RUN_IDS: Final = ("zz", "L", "flows.companion/run-store/zz")
LINEAGES: Final = ("r0", "L", "r1")

GOOD_STATES: Final = (
    "{}",
    '{"step":"checkout"}',
    ' {"b":1,"a":2} ',
    '{"a":1,"a":2}',
    "null",
    '"\\ud83d\\ude00 \\u0000"',
)
BAD_STATES: Final = ("", "{", "NaN", "1e400", '"\\ud800"', "[" * 130 + "]" * 130, "\ufeff{}", None, 5)

BAD_VALUES: Final = (None, True, -1, 1.5, 2**53, "", "x" * 1025, "a\0b", "\ud800", [], {}, {"hostId": "h1"})

_COLUMN: Final = {name: index for index, name in enumerate(RUN_COLUMNS)}

WEIGHTS: Final = (
    ("run.claimAndOwn", 16),
    ("run.claim", 11),
    ("run.activate", 14),
    ("run.transitionOwned", 12),
    ("run.steal", 12),
    ("run.heartbeat", 8),
    ("run.reconfirm", 5),
    ("run.recoverClaim", 10),
    ("run.abandonClaim", 5),
    ("run.create", 8),
    ("run.requestCancel", 4),
    ("run.requestCancelLineage", 6),
    ("run.acknowledgeCancel", 4),
    ("run.get", 2),
    ("run.lineage", 6),
    ("run.latestRound", 2),
    ("row.delete", 4),
    *((operation, 3) for operation in OPERATIONS),
)
_DECK: Final = tuple(operation for operation, weight in WEIGHTS for _ in range(weight))


@attrs.frozen
class Run:
    """One run as the generator looks at it."""

    columns: Columns

    def column(self, name: str) -> object:
        return self.columns[_COLUMN[name]]

    def number(self, name: str) -> int | None:
        value = self.column(name)
        return value if isinstance(value, int) else None

    def identity(self, prefix: str) -> OwnerId | None:
        host_id, pid, nonce = (self.column(f"{prefix}_{part}") for part in ("host_id", "pid", "nonce"))
        if isinstance(host_id, str) and isinstance(pid, int) and isinstance(nonce, str):
            return OwnerId(host_id, pid, nonce)
        return None

    @property
    def snapshot(self) -> RunSnapshot:
        status = self.column("status")
        heartbeat_at_ms = self.number("heartbeat_at_ms")
        return RunSnapshot(status, self.identity("owner"), heartbeat_at_ms)  # type: ignore[arg-type]  # from a CHECKed column


@attrs.define
class Memory:
    """What a scenario remembers so that it can present it again too late: snapshots, tokens, readings."""

    snapshots: list[RunSnapshot] = attrs.field(factory=list)
    tokens: list[tuple[OwnerId, int]] = attrs.field(factory=list)
    readings: list[int] = attrs.field(factory=list)

    def note(self, run: Run) -> None:
        """Remember how a run looked."""
        self.snapshots = [run.snapshot, *self.snapshots[:5]]
        claim, claimed_at_ms = run.identity("claim"), run.number("claimed_at_ms")
        if claim is not None and claimed_at_ms is not None:
            self.tokens = [(claim, claimed_at_ms), *self.tokens[:5]]

    def note_reading(self, now_ms: int) -> None:
        """Remember the reading of a call."""
        self.readings = [now_ms, *self.readings[:3]]


class CommandGenerator:
    """Draws one call at a time for a session that sees ``state`` and whose clock shows ``clock_ms``."""

    def __init__(self, chooser: Chooser, memory: Memory) -> None:
        self._chooser = chooser
        self._memory = memory
        self._state: SystemState | None = None
        self._attempts = AttemptGenerator(chooser, self._owner_of)

    def redirect(self, chooser: Chooser) -> None:
        """Take the next decisions from another source; what is remembered stays."""
        self._chooser = chooser
        self._attempts.redirect(chooser)

    def _owner_of(self, run_id: str) -> object:
        columns = None if self._state is None else self._state.runs.get(run_id)
        return self.owner(None if columns is None else Run(columns).identity("owner"))

    def command(self, state: SystemState, clock_ms: float) -> tuple[str, Mapping[str, object]]:
        """An operation and its arguments by wire names; bad input in about one of fifteen."""
        operation = "run.create" if not state.runs else _DECK[self._chooser.below(len(_DECK))]
        return operation, self.arguments(operation, state, clock_ms)

    def arguments(self, operation: str, state: SystemState, clock_ms: float) -> Mapping[str, object]:
        """The arguments of one operation by wire names."""
        chooser = self._chooser
        run_id = pick(chooser, RUN_IDS) if not chance(chooser, 4) else pick(chooser, UNKNOWN_RUN_IDS)
        columns = state.runs.get(run_id)
        if columns is None and operation != "run.create" and state.runs and not chance(chooser, 10):
            run_id, columns = pick(chooser, tuple(state.runs.items()))
        if operation in OPERATIONS:
            self._state = state
            return self._attempts.arguments(operation, state, run_id, int(clock_ms // 1))
        run = None if columns is None else Run(columns)
        arguments: dict[str, object] = {"runId": run_id}
        draw = _ARGUMENTS.get(operation)
        if draw is not None:
            draw(self, arguments, run, state, int(clock_ms // 1))
        if run is not None:
            self._memory.note(run)
        if operation != "row.delete" and chance(chooser, 6):
            self._spoil(operation, arguments)
        return {name: value for name, value in arguments.items() if value is not ABSENT}

    def _spoil(self, operation: str, arguments: dict[str, object]) -> None:
        chooser = self._chooser
        name = pick(chooser, tuple(RUN_OPERATIONS[operation].parameters))
        if name == "stateJson":
            arguments[name] = pick(chooser, BAD_STATES)
        elif name == "nowMs" and chance(chooser, 30):
            arguments[name] = 10**15
        elif name == "toStatus":
            arguments[name] = pick(chooser, ("pending", "done", None))
        else:
            arguments[name] = pick(chooser, BAD_VALUES)

    def owner(self, *likely: OwnerId | None) -> OwnerId:
        """One of the likely identities, or any."""
        known = [owner for owner in likely if owner is not None]
        if known and not chance(self._chooser, 25):
            return pick(self._chooser, known)
        return pick(self._chooser, OWNERS)

    def reading(self, clock_ms: int, *stamps: int | None) -> int:
        """A reading around the clock, or one on a boundary of a stamp or of the skew allowance."""
        chooser = self._chooser
        known = [stamp for stamp in stamps if stamp is not None]
        if not chance(chooser, 45):
            now_ms = clock_ms
        elif known and not chance(chooser, 40):
            now_ms = pick(chooser, known) + pick(chooser, (30_001, 30_000, 29_999, 0, -1, 1_000))
        else:
            skewed = (clock_ms + 10_000, clock_ms + 10_001, clock_ms - 30_001, clock_ms - 10_000, 0)
            now_ms = pick(chooser, (*skewed, *self._memory.readings))
        now_ms = max(0, now_ms)
        self._memory.note_reading(now_ms)
        return now_ms

    def snapshot(self, run: Run | None) -> RunSnapshot:
        """The current snapshot, or a remembered, a plain or an altered one."""
        chooser = self._chooser
        if run is not None and not chance(chooser, 22):
            return run.snapshot
        remembered = tuple(self._memory.snapshots)
        running = RunSnapshot("running", pick(chooser, OWNERS), pick(chooser, (0, *self._memory.readings)))
        return pick(chooser, (PENDING, SUSPENDED, RunSnapshot("completed", None, None), running, *remembered))

    def running_snapshot(self, run: Run | None) -> RunSnapshot:
        """As ``snapshot``, but where the run is not running often one that once was: nothing else can be stolen."""
        running = [snapshot for snapshot in self._memory.snapshots if snapshot.status == "running"]
        is_running = run is not None and run.column("status") == "running"
        if running and not is_running and not chance(self._chooser, 40):
            return pick(self._chooser, running)
        return self.snapshot(run)

    def token(self, run: Run | None) -> tuple[OwnerId, int]:
        """The pending claim's identity and token, or a remembered or invented one."""
        chooser = self._chooser
        claim = None if run is None else run.identity("claim")
        claimed_at_ms = None if run is None else run.number("claimed_at_ms")
        if claim is not None and claimed_at_ms is not None and not chance(chooser, 25):
            return claim, claimed_at_ms
        invented = (pick(chooser, OWNERS), pick(chooser, (0, *self._memory.readings)))
        nearly = (
            () if claim is None or claimed_at_ms is None else ((claim, claimed_at_ms + 1), (invented[0], claimed_at_ms))
        )
        return pick(chooser, (invented, *nearly, *self._memory.tokens))

    def evidence(self, target: OwnerId | None, observer: OwnerId, now_ms: int) -> LivenessEvidence:
        """Evidence that matches, or that is wrong in its owner, its instant or its kind."""
        chooser = self._chooser
        expected = self.owner(target) if chance(chooser, 12) or target is None else target
        checked_at_ms = now_ms
        if chance(chooser, 12):
            checked_at_ms = pick(chooser, (max(0, now_ms - 1), now_ms + 1, *self._memory.readings))
        local = expected.host_id == observer.host_id
        if chance(chooser, 12):
            local = not local
        kinds = ("lease-expired", "same-host-pid-dead" if local else "cross-host-unreachable-stale")
        return LivenessEvidence(expected, checked_at_ms, pick(chooser, kinds))  # type: ignore[arg-type]  # a str literal


_Draw = Callable[[CommandGenerator, dict[str, object], Run | None, SystemState, int], None]


def _create(draw: CommandGenerator, arguments: dict[str, object], run: Run | None, state: SystemState, _: int) -> None:
    chooser = draw._chooser
    arguments["stateJson"] = pick(chooser, GOOD_STATES)
    if chance(chooser, 75):
        parents: Sequence[str | None] = (None, *state.runs, "zz")
        lineage = pick(chooser, (None, *LINEAGES))
        ordinal = None if lineage is None else chooser.below(4)
        arguments["options"] = CreateOptions(pick(chooser, parents), lineage, ordinal)


def _claim(
    draw: CommandGenerator, arguments: dict[str, object], run: Run | None, _: SystemState, clock_ms: int
) -> None:
    arguments["expected"] = draw.snapshot(run)
    arguments["claimant"] = draw.owner(None if run is None else run.identity("claim"))
    arguments["nowMs"] = draw.reading(clock_ms, None if run is None else run.number("heartbeat_at_ms"))


def _claim_and_own(
    draw: CommandGenerator, arguments: dict[str, object], run: Run | None, _: SystemState, clock_ms: int
) -> None:
    expected = draw.snapshot(run)
    owner = draw.owner(None if run is None else run.identity("owner"), pick(draw._chooser, OWNERS))
    now_ms = draw.reading(clock_ms, None if run is None else run.number("heartbeat_at_ms"))
    arguments["expected"] = expected
    arguments["owner"] = owner
    arguments["nowMs"] = now_ms
    if chance(draw._chooser, 70 if expected.status == "running" else 10):
        arguments["evidence"] = draw.evidence(expected.owner, owner, now_ms)


def _steal(
    draw: CommandGenerator, arguments: dict[str, object], run: Run | None, _: SystemState, clock_ms: int
) -> None:
    expected = draw.running_snapshot(run)
    claimant = draw.owner()
    now_ms = draw.reading(clock_ms, None if run is None else run.number("heartbeat_at_ms"))
    arguments["expected"] = expected
    arguments["claimant"] = claimant
    arguments["nowMs"] = now_ms
    arguments["evidence"] = draw.evidence(expected.owner, claimant, now_ms)


def _activate(draw: CommandGenerator, arguments: dict[str, object], run: Run | None, _: SystemState, __: int) -> None:
    arguments["claimant"], arguments["claimedAtMs"] = draw.token(run)
    arguments["expected"] = draw.snapshot(run)


def _abandon_claim(
    draw: CommandGenerator, arguments: dict[str, object], run: Run | None, _: SystemState, __: int
) -> None:
    arguments["claimant"], arguments["claimedAtMs"] = draw.token(run)


def _recover_claim(
    draw: CommandGenerator, arguments: dict[str, object], run: Run | None, _: SystemState, clock_ms: int
) -> None:
    claimant, claimed_at_ms = draw.token(run)
    observer = draw.owner()
    now_ms = draw.reading(clock_ms, claimed_at_ms)
    arguments["staleClaimant"], arguments["claimedAtMs"] = claimant, claimed_at_ms
    arguments["observer"], arguments["nowMs"] = observer, now_ms
    arguments["evidence"] = draw.evidence(claimant, observer, now_ms)


def _beat(draw: CommandGenerator, arguments: dict[str, object], run: Run | None, _: SystemState, clock_ms: int) -> None:
    arguments["owner"] = draw.owner(None if run is None else run.identity("owner"))
    arguments["nowMs"] = draw.reading(clock_ms, None if run is None else run.number("heartbeat_at_ms"))


def _transition(draw: CommandGenerator, arguments: dict[str, object], run: Run | None, _: SystemState, __: int) -> None:
    chooser = draw._chooser
    arguments["owner"] = draw.owner(None if run is None else run.identity("owner"))
    statuses = ("suspended", "running", "suspended", "completed", "suspended", "running", "failed", "cancelled")
    arguments["toStatus"] = pick(chooser, statuses)
    if chance(chooser, 35):
        arguments["stateJson"] = pick(chooser, GOOD_STATES)
    if chance(chooser, 30):
        arguments["guard"] = pick(chooser, (TransitionGuard("absent"), TransitionGuard("present"), TransitionGuard()))


def _request_cancel(
    draw: CommandGenerator, arguments: dict[str, object], run: Run | None, _: SystemState, clock_ms: int
) -> None:
    arguments["nowMs"] = draw.reading(clock_ms)


_ARGUMENTS: Final[Mapping[str, _Draw]] = {
    "run.create": _create,
    "run.claim": _claim,
    "run.claimAndOwn": _claim_and_own,
    "run.steal": _steal,
    "run.activate": _activate,
    "run.abandonClaim": _abandon_claim,
    "run.recoverClaim": _recover_claim,
    "run.heartbeat": _beat,
    "run.reconfirm": _beat,
    "run.acknowledgeCancel": _beat,
    "run.transitionOwned": _transition,
    "run.requestCancel": _request_cancel,
    "run.requestCancelLineage": _request_cancel,
}
