"""Random walks through the journal: seeded, small, and aimed at what is going on."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

from tenure_model.semantics.commands import Command
from tenure_model.semantics.journal.instance import Instance
from tenure_model.semantics.journal.state import JournalState
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.runs import PENDING, RunSnapshot
from tests.semantics.worlds import ALICE, BOB, T

SESSIONS: Final = ("a", "b")
RUNS: Final = ("r", "s")

_EMITS: Final = ("journal.emitDurable", "journal.emitDurableUnfenced", "journal.emitLossy", "lossy.begin")
_WRITER: Final = (
    "writer.take",
    "writer.write",
    "writer.settle",
    "writer.drain",
    "maintenance.step",
    "maintenance.finish",
)
_CONTROL: Final = ("session.begin", "session.begin", "session.commit", "session.commit", "session.rollback")
_OTHER: Final = (
    "journal.checkpoint",
    "journal.compact",
    "compact.begin",
    "compact.poll",
    "journal.flush",
    "flush.begin",
    "flush.poll",
    "journal.entries",
    "stream.open",
    "stream.page",
    "stream.close",
    "changes.open",
    "changes.take",
    "lossy.read",
    "lossy.finish",
    "journal.whenCommitted",
    "journal.open",
    "journal.transact",
    "run",
)
_RARE: Final = (
    "journal.close",
    "close.begin",
    "close.poll",
    "session.crash",
    "system.crash",
    "journal.forget",
    "changes.close",
)


def next_step(random: Random, state: JournalState, clock_ms: int) -> tuple[str, Command]:
    """A session and a command for it; tickets and numbers are mostly ones that exist."""
    session = random.choice(SESSIONS)
    instance = state.instances.get(session)
    if instance is None or (instance.status == "closed" and random.random() < 0.3):
        return session, Command("journal.open", {"options": _options(random)}, clock_ms)
    kinds: Sequence[str] = random.choices((_EMITS, _WRITER, _CONTROL, _OTHER, _RARE), (35, 25, 10, 28, 2))[0]
    operation = random.choice(kinds)
    if operation == "run":
        return session, _run_command(random, state, clock_ms)
    return session, Command(operation, dict(_arguments(random, operation, instance)), clock_ms)


def _options(random: Random) -> dict[str, object]:
    options: dict[str, object] = {
        "capacity": random.choice((1, 2, 5)),
        "overflow": random.choice(("reject", "drop-newest", "drop-oldest")),
        "batchSize": random.choice((1, 2, 5)),
        "sourceEventCache": random.choice((1, 3, 100)),
    }
    if random.random() < 0.4:
        capture = random.choice(("tail", "tail", "fail", "flush"))
        options["compaction"] = {"entryThreshold": random.choice((1, 3, 6)), "capture": capture}
    return options


def _arguments(random: Random, operation: str, instance: Instance) -> Iterator[tuple[str, object]]:
    if operation in _EMITS:
        yield "input", _event(random)
    if operation in ("journal.emitDurable", "journal.checkpoint", "journal.compact", "compact.begin"):
        yield "owner", random.choice((ALICE, ALICE, ALICE, BOB, None))
    if operation in ("journal.checkpoint", "journal.compact", "compact.begin", "journal.entries", "stream.open"):
        yield "runId", random.choice(RUNS)
    if operation == "journal.checkpoint":
        yield from (("seq", random.randrange(12)), ("state", {"n": 1}))
    if operation == "journal.entries":
        yield "limit", random.choice((0, 1, 3, 100))
        if random.random() < 0.5:
            yield "after", random.randrange(12)
    if operation == "writer.write" and random.random() < 0.15:
        yield "fault", "sink"
    if operation == "session.begin" and random.random() < 0.2:
        yield "raw", True
    if operation == "journal.forget":
        yield "runIds", ["r"]
    if operation == "journal.open":
        yield "options", _options(random)
    if operation in ("journal.whenCommitted", "journal.afterCommit"):
        yield "label", "update"
    if operation == "journal.transact":
        yield "ops", [_operation(random) for _ in range(random.randrange(4))]
    numbers = {
        "lossy.read": ("token", instance.admissions),
        "lossy.finish": ("token", instance.admissions),
        "compact.poll": ("ticket", instance.compactions),
        "flush.poll": ("ticket", instance.flushes),
        "close.poll": ("ticket", instance.flushes),
        "stream.page": ("stream", instance.streams),
        "stream.close": ("stream", instance.streams),
        "changes.take": ("changes", instance.changes),
        "changes.close": ("changes", instance.changes),
    }
    if operation in numbers:
        name, known = numbers[operation]
        yield name, random.choice(tuple(known) or (0,)) if random.random() < 0.95 else None


def _operation(random: Random) -> dict[str, object]:
    operation = random.choice((*_EMITS[:3], "fail", "journal.flush", "journal.transact"))
    if operation in _EMITS:
        owner = {"owner": ALICE} if operation == "journal.emitDurable" else {}
        return {"op": operation, "args": {"input": _event(random), **owner}}
    if operation == "journal.transact":
        return {
            "op": operation,
            "args": {"ops": [{"op": "journal.emitDurableUnfenced", "args": {"input": _event(random)}}]},
        }
    return {"op": operation}


def _event(random: Random) -> dict[str, object]:
    event: dict[str, object] = {
        "runId": random.choice(RUNS),
        "sourceId": random.choice(("p", "q")),
        "eventType": "t",
        "payload": random.choice((0, 0, 0, 1, {"b": 1, "a": [None]})),
    }
    if random.random() < 0.5:
        event["sourceSeq"] = random.randrange(5)
    if random.random() < 0.2:
        event["dedupe"] = "identity"
    return event


def _run_command(random: Random, state: JournalState, clock_ms: int) -> Command:
    run_id = random.choice(RUNS)
    owner = random.choice((ALICE, BOB))
    run = state.committed.world.runs[run_id]
    snapshot = RunSnapshot(run.status, run.owner, run.heartbeat_at_ms)
    operation = random.choice(
        ("run.claimAndOwn", "run.heartbeat", "run.reconfirm", "run.transitionOwned", "run.steal", "run.claim")
    )
    arguments: dict[str, object] = {"runId": run_id, "nowMs": clock_ms}
    match operation:
        case "run.claimAndOwn":
            arguments |= {"expected": snapshot, "owner": owner}
        case "run.claim":
            arguments |= {"expected": PENDING, "claimant": owner}
        case "run.steal":
            evidence = LivenessEvidence(run.owner or ALICE, clock_ms, "lease-expired")
            arguments |= {"expected": snapshot, "claimant": owner, "evidence": evidence}
        case "run.transitionOwned":
            arguments = {"runId": run_id, "owner": owner, "toStatus": "suspended"}
        case _:
            arguments |= {"owner": owner}
    return Command(operation, arguments, clock_ms)


def clocks(random: Random) -> Iterator[int]:
    """A clock that mostly creeps, and sometimes leaps past staleness."""
    clock_ms = T
    while True:
        yield clock_ms
        clock_ms += 40_000 if random.random() < 0.02 else random.randrange(3)
