"""Hazards that no scope exhibits, shown by a fixed history that the model is given, or by one call.

Each answers the lines of what happens, worked out by the model when it is called.
"""

from collections.abc import Iterable
from typing import Final

import attrs

from tenure_model.admission.engine_events.graphs import read_graph
from tenure_model.admission.engine_events.members import MalformedError
from tenure_model.admission.preparation import prepare
from tenure_model.admission.redaction.redactor import DEFAULT_REDACTOR
from tenure_model.explore.journal.scope import (
    OWNERS,
    START_MS,
    Move,
    checkpoint,
    crash,
    durable,
    event,
    lossy,
    options,
)
from tenure_model.explore.journal.telling import told_steps
from tenure_model.semantics.commands import Command
from tenure_model.semantics.journal.commands import apply
from tenure_model.semantics.journal.state import JournalState, JournalStep, empty_state
from tenure_model.semantics.predicates import is_stale
from tenure_model.semantics.profiles import ORIGINAL
from tenure_model.vocabulary.constants import HEARTBEAT_SKEW_ALLOWANCE_MS, HEARTBEAT_STALE_AFTER_MS
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.journal import Generation
from tenure_model.vocabulary.journal_errors import JournalError
from tenure_model.vocabulary.runs import PENDING, RunSnapshot

Lines = tuple[str, ...]

_A, _B = OWNERS["a"], OWNERS["b"]
_YEAR_MS: Final = 365 * 24 * 3_600_000
_CREATE: Final = Move("a", "run.create", {"runId": "r", "stateJson": "{}"})
_OPEN: Final = Move("a", "journal.open", {"options": options()})


def _claim(session: str, at_ms: int = 0) -> Move:
    owner = OWNERS[session]
    arguments = {"runId": "r", "expected": PENDING, "claimant": owner, "nowMs": START_MS + at_ms}
    return Move(session, "run.claim", arguments, at_ms=at_ms)


def _own(session: str) -> Move:
    arguments = {"runId": "r", "expected": PENDING, "owner": OWNERS[session], "nowMs": START_MS}
    return Move(session, "run.claimAndOwn", arguments)


def _after(moves: Iterable[Move]) -> JournalState:
    state = empty_state(ORIGINAL)
    for move in moves:
        state = apply(state, move.session, move.command()).state
    return state


def _played(before: Iterable[Move], moves: Iterable[Move]) -> Lines:
    return _told(_after(before), moves)


def _told(before: JournalState, moves: Iterable[Move]) -> Lines:
    state = before
    steps: list[tuple[str, Command, JournalStep, tuple[str, ...]]] = []
    for move in moves:
        step = apply(state, move.session, move.command())
        steps.append((move.session, move.command(), step, ()))
        state = step.state
    return told_steps(before, steps)


def stuck_claim() -> Lines:
    """HZ-10: the claimant is gone; a year later its claim still stands, until evidence of its death removes it. A lease
    without a stamp is no state of the model, so of that only the comparison is shown.
    """
    proof = LivenessEvidence(_A, START_MS + _YEAR_MS, "cross-host-unreachable-stale")
    recovered = {
        "runId": "r",
        "staleClaimant": _A,
        "claimedAtMs": START_MS,
        "observer": _B,
        "nowMs": START_MS + _YEAR_MS,
        "evidence": proof,
    }
    history = _played(
        (_CREATE,),
        (
            _claim("a"),
            crash("a"),
            _claim("b", _YEAR_MS),
            Move("b", "run.recoverClaim", recovered, at_ms=_YEAR_MS),
            _claim("b", _YEAR_MS),
        ),
    )
    stale = {stamp: is_stale(stamp, START_MS + _YEAR_MS) for stamp in (START_MS, None)}
    return (*history, f"a year later a stamp is stale: {stale[START_MS]}; no stamp is: {stale[None]}")


def clock_ahead() -> Lines:
    """HZ-12: a thief whose clock is ahead by the allowance takes a run whose owner beat 20 seconds ago."""
    at_ms = HEARTBEAT_STALE_AFTER_MS - HEARTBEAT_SKEW_ALLOWANCE_MS + 1
    now_ms = START_MS + at_ms + HEARTBEAT_SKEW_ALLOWANCE_MS
    steal = {
        "runId": "r",
        "expected": RunSnapshot("running", _A, START_MS),
        "claimant": _B,
        "evidence": LivenessEvidence(_A, now_ms, "lease-expired"),
        "nowMs": now_ms,
    }
    return _played((_CREATE, _own("a")), (Move("b", "run.steal", steal, at_ms=at_ms),))


def unknown_commit() -> Lines:
    """HZ-15: the caller hears nothing of two commits and sends both events again, one of them by its number."""
    numbered = durable("a", event("numbered", sourceSeq=7))
    unnumbered = durable("a", event("unnumbered"))
    return _played((_OPEN,), (numbered, numbered, unnumbered, unnumbered))


def tombstones_stay() -> Lines:
    """HZ-27: every round of emits and compaction leaves more identities behind."""
    compact = Move("a", "journal.compact", {"runId": "r", "owner": _A})
    rounds = (move for seq in (1, 3, 5) for move in (durable("a"), durable("a"), checkpoint("a", seq), compact))
    return _played((_CREATE, _own("a"), _OPEN), rounds)


def secrets_look_alike() -> Lines:
    """HZ-28: two different passwords are one event."""
    opened = Move("a", "journal.open", {"options": {"capacity": 4, "overflow": "reject"}})
    emits = (durable("a", event({"password": word}, sourceSeq=0)) for word in ("one", "two"))
    return _played((opened,), emits)


def clock_back() -> Lines:
    """HZ-29: after the clock went back, an instance that remembers one identity remembers the older event."""
    newest = attrs.evolve(durable("a", event("later")), at_ms=-5_000)
    opened = Move("b", "journal.open", {"options": options(sourceEventCache=1)})
    return _played(
        (_OPEN,),
        (
            durable("a", event("first")),
            newest,
            opened,
            lossy("b", event("first", sourceSeq=0)),
            lossy("b", event("later", sourceSeq=1)),
        ),
    )


def corrupt_row() -> Lines:
    """HZ-30: one row with an identifier that is too long keeps the journal shut for every run."""
    columns = {
        "run_id": "s",
        "seq": 0,
        "source_id": "z" * 1_025,
        "source_seq": 0,
        "emitted_at_ms": START_MS,
        "event_type": "t",
        "payload_json": "0",
        "meta_json": "null",
    }
    return _played((), (Move("a", "event.write", {"columns": columns}), _OPEN))


def rewound() -> Lines:
    """HZ-32: a rewinder has cut a run off after its first entry; the follower that saw the second never sees the new
    one of that number.
    """
    followed = {"stream": 1}
    state = _after(
        (
            _OPEN,
            durable("a", event("kept")),
            durable("a", event("cut")),
            Move("a", "stream.open", {"runId": "r"}),
            Move("a", "stream.page", followed),
        )
    )
    tables = state.committed.journal
    cut = attrs.evolve(tables, events={"r": tables.events["r"][:1]}, generations={"r": Generation(1, 0)})
    state = attrs.evolve(state, committed=attrs.evolve(state.committed, journal=cut, receipts={}))
    return _told(
        state,
        (
            Move("a", "journal.forget", {"runIds": ("r",)}),
            Move("a", "journal.generation", {"runId": "r"}),
            durable("a", event("new")),
            Move("a", "stream.page", followed),
        ),
    )


def causes() -> Lines:
    """HZ-34: what a refusal says of an input that carries a secret and has one bad member."""
    refused = prepare({**_input("hunter2"), "dedupe": "no such"}, START_MS, DEFAULT_REDACTOR)
    assert isinstance(refused, JournalError)
    return (
        "an input with payload 'hunter2' and dedupe 'no such' is prepared",
        f"the error: {refused.code}: {refused.text}",
        f"its cause: {refused.cause}",
    )


def starved_compaction() -> Lines:
    """HZ-36: as often as the run has drained, one more entry is there when the compaction looks."""
    drain = (Move("a", "writer.take"), Move("a", "writer.write"))
    poll = Move("a", "compact.poll", {"ticket": 1})
    rounds = [move for _ in range(3) for move in (*drain, lossy("a"), Move("a", "writer.settle"), poll)]
    before = (_CREATE, _own("a"), _OPEN, durable("a"), checkpoint("a", 0))
    begin = Move("a", "compact.begin", {"runId": "r", "owner": _A})
    return _played(before, (begin, lossy("a"), *rounds))


def prose() -> Lines:
    """HZ-38: words that only look like credentials."""
    texts = ("a basic example of use", "the bearer instruments are listed below")
    return tuple(f"{text!r} is stored as {DEFAULT_REDACTOR(text)!r}" for text in texts)


def foreign_paths() -> Lines:
    """HZ-39: an absolute path of another system passes where one with a leading slash is refused."""
    lines = []
    for path in ("src/plan.py", "/home/me/plan.py", "C:\\Users\\me\\plan.py"):
        node = {"id": "n", "kind": "k", "dependsOn": [], "tier": "sealed", "declaredAt": {"path": path, "line": 1}}
        try:
            read_graph({"graph": {"nodes": [node]}}, "graph", "plan")
        except MalformedError:
            lines.append(f"declaredAt {path}: refused as absolute")
        else:
            lines.append(f"declaredAt {path}: accepted")
    return tuple(lines)


def _input(payload: object) -> dict[str, object]:
    return {"runId": "r", "sourceId": "p", "eventType": "t", "payload": payload}
