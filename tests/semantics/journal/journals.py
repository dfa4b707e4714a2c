"""Small journals for the tests to start from, and short ways to ask them things.

``r`` is a run that ALICE owns, ``s`` one that nobody does. Every event comes from producer ``p`` unless said otherwise.
"""

from collections.abc import Mapping
from typing import Final

from tenure_model.semantics.commands import Command
from tenure_model.semantics.journal.answers import Begun, Waiting
from tenure_model.semantics.journal.commands import apply
from tenure_model.semantics.journal.instance import Instance
from tenure_model.semantics.journal.invariants import violated_between, violated_invariants
from tenure_model.semantics.journal.state import JournalState, JournalStep, empty_state
from tenure_model.semantics.profiles import REFERENCE, Profile
from tenure_model.vocabulary.journal_errors import JournalError, JournalUsageError
from tenure_model.vocabulary.runs import PENDING
from tests.semantics.worlds import ALICE, T

A: Final = "a"
"""The session of most tests; ``B`` is another process."""

B: Final = "b"


def call(
    state: JournalState, operation: str, session: str = A, clock_ms: float = T, /, **arguments: object
) -> JournalStep:
    """One command of a session; arguments go by wire name. The invariants must hold before and after."""
    command = Command(operation, arguments, clock_ms)
    step = apply(state, session, command)

    assert violated_invariants(step.state) == ()
    assert violated_between(state, session, command, step) == ()
    return step


def after(
    state: JournalState, operation: str, session: str = A, clock_ms: float = T, /, **arguments: object
) -> JournalState:
    """The state after a command that must not be refused."""
    step = call(state, operation, session, clock_ms, **arguments)

    assert not isinstance(step.outcome, JournalError | JournalUsageError)
    return step.state


def begun(state: JournalState, operation: str, session: str = A, /, **arguments: object) -> tuple[JournalState, int]:
    """The state after a command that begins something, and the number by which to ask for it."""
    step = call(state, operation, session, **arguments)
    match step.outcome:
        case Waiting(number) | Begun(number):
            return step.state, number
        case int(number):
            return step.state, number
    raise AssertionError(step.outcome)


def event(payload: object = 1, run_id: object = "r", source_id: object = "p", **members: object) -> dict[str, object]:
    """An input under the wire's names."""
    return {"runId": run_id, "sourceId": source_id, "eventType": "t", "payload": payload, **members}


def world(profile: Profile = REFERENCE) -> JournalState:
    """A database with the two runs and no journal open, nor any fact recorded."""
    state = empty_state(profile)
    for run_id in ("r", "s"):
        state = after(state, "run.create", runId=run_id, stateJson="{}")
    return after(state, "run.claimAndOwn", runId="r", expected=PENDING, owner=ALICE, nowMs=T)


def opened(profile: Profile = REFERENCE, session: str = A, /, **options: object) -> JournalState:
    """The runs, and an instance of the session with room for 8 entries that rejects what is over."""
    return also_opened(world(profile), session, **options)


def also_opened(state: JournalState, session: str, **options: object) -> JournalState:
    """The state with an instance of one more session."""
    return after(state, "journal.open", session, options={"capacity": 8, "overflow": "reject", **options})


def emitted(state: JournalState, *payloads: object, **members: object) -> JournalState:
    """The state after durable unfenced emits of these payloads."""
    for payload in payloads:
        state = after(state, "journal.emitDurableUnfenced", input=event(payload, **members))
    return state


def queued(state: JournalState, *payloads: object, **members: object) -> JournalState:
    """The state after lossy emits of these payloads, with the writer holding still."""
    for payload in payloads:
        state = after(state, "journal.emitLossy", input=event(payload, **members))
    return state


def written(state: JournalState, session: str = A) -> JournalState:
    """The state once the session's writer has taken and written a batch, but not settled it."""
    return after(after(state, "writer.take", session), "writer.write", session)


def lost(state: JournalState, session: str = A) -> JournalState:
    """The state once a batch was taken and lost to its storage, and the loss settled."""
    state = after(after(state, "writer.take", session), "writer.write", session, fault="sink")
    return after(state, "writer.settle", session)


def drained(state: JournalState, session: str = A) -> JournalState:
    """The state once the writer has nothing left to do."""
    return after(state, "writer.drain", session)


def compacted(state: JournalState, seq: int, run_id: str = "r", session: str = A) -> JournalState:
    """The state after a checkpoint at ``seq`` and a compaction to it, both by ALICE."""
    state = after(state, "journal.checkpoint", session, runId=run_id, seq=seq, state={"at": seq}, owner=ALICE)
    return after(state, "journal.compact", session, runId=run_id, owner=ALICE)


def planted(
    state: JournalState, seq: int, source_seq: int = 0, run_id: str = "r", source_id: str = "z"
) -> JournalState:
    """The state with a raw row far up."""
    columns = {
        "run_id": run_id,
        "seq": seq,
        "source_id": source_id,
        "source_seq": source_seq,
        "emitted_at_ms": T,
        "event_type": "t",
        "payload_json": "0",
        "meta_json": "null",
    }
    return after(state, "event.write", columns=columns)


def memory(state: JournalState, session: str = A) -> Instance:
    """The session's instance."""
    return state.instances[session]


def history(state: JournalState, run_id: str = "r") -> list[tuple[int, int, str]]:
    """The run's committed events as (seq, source sequence, payload)."""
    events = state.committed.journal.events.get(run_id, ())
    return [(row.seq, row.source_seq, row.content.payload_json) for row in events]


def cached(state: JournalState, session: str = A) -> Mapping[tuple[str, int], tuple[int, str, str]]:
    """What the instance remembers of ``r``: (seq, payload, status) by (source id, source sequence)."""
    return {
        (source_id, source_seq): (held.seq, held.content.payload_json, held.status)
        for (run_id, source_id, source_seq), held in memory(state, session).cache.items()
        if run_id == "r"
    }


def code(step: JournalStep) -> str:
    """The code of the error that the step answered."""
    assert isinstance(step.outcome, JournalError)
    return step.outcome.code
