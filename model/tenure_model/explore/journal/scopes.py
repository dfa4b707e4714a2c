"""The scopes of the journal that have a name: what the tests and the table of hazards search."""

from collections.abc import Mapping
from typing import Final

import attrs

from tenure_model.explore.journal.scope import (
    OWNERS,
    START_MS,
    JournalScope,
    Move,
    checkpoint,
    closing,
    compacting,
    crash,
    durable,
    event,
    fenced,
    flushing,
    following,
    lossy,
    options,
    phased,
    transacting,
    writer,
)
from tenure_model.semantics.profiles import Profile
from tenure_model.vocabulary.constants import HEARTBEAT_STALE_AFTER_MS
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.journal import OVERFLOW_POLICIES
from tenure_model.vocabulary.runs import PENDING, RunSnapshot

_STALE_MS: Final = HEARTBEAT_STALE_AFTER_MS + 1


def _overflow(policy: str) -> JournalScope:
    return JournalScope(
        f"overflow-{policy}",
        {"a": options(1, policy, batchSize=1)},
        (
            *(lossy("a", event(source=source), 2) for source in ("p", "q")),
            *writer("a", sink_failures=1),
            *flushing("a"),
        ),
        sources=("p", "q"),
    )


OVERFLOWS: Final = tuple(_overflow(policy) for policy in OVERFLOW_POLICIES)
"""Two producers and a queue with room for one entry, under each policy; one batch may be lost, one flush waits."""

BESIDE: Final = JournalScope(
    "beside",
    {"a": options(2)},
    (*phased("a", times=2), *writer("a"), durable("a"), durable("a", event(sourceSeq=1)), *following("a")),
)
"""A producer that emits on both channels, and a reader beside it: the lossy one in its three phases."""

RETRIES: Final = JournalScope(
    "retries",
    {"a": options(4, sourceEventCache=1)},
    (
        durable("a", event("other", sourceSeq=1, dedupe="identity")),
        lossy("a", event("old", sourceSeq=1)),
        lossy("a", event("new"), 2),
        *writer("a"),
    ),
    before=(
        durable("a", event("old")),
        durable("a", event("old")),
        durable("a", event("old")),
        crash("a"),
        Move("a", "journal.open", {"options": options(4, sourceEventCache=1)}),
    ),
)
"""A process that starts over after three events, remembers one of them, and sends some again by their numbers."""

TWO_INSTANCES: Final = JournalScope(
    "two-instances",
    {"a": options(2), "b": options(2)},
    (
        *(
            move
            for session in ("a", "b")
            for move in (*phased(session, event(session)), *writer(session), durable(session, event(session)))
        ),
    ),
)
"""One producer that two processes emit for."""

_HISTORY: Final = (durable("a"), durable("a"), checkpoint("a", 1))

COMPACTION: Final = JournalScope(
    "compaction",
    {"a": options(4, batchSize=1)},
    (*phased("a", times=1), *writer("a"), durable("a"), *compacting("a", 2), *following("a"), checkpoint("a", 2)),
    owned={"r": "a"},
    before=_HISTORY,
)
"""A compaction beside admissions, the writer, a durable emit and a reader."""

NESTED: Final = JournalScope(
    "nested",
    {"a": options(4)},
    (
        *transacting("a", 2),
        lossy("a", event("inside")),
        *writer("a"),
        durable("a"),
        Move("a", "journal.compact", {"runId": "r", "owner": OWNERS["a"]}, 1),
        Move("a", "changes.open", times=1),
        Move("a", "changes.take"),
        *flushing("a"),
    ),
    owned={"r": "a"},
    before=_HISTORY,
)
"""A transaction, and one inside it, that may be rolled back: emits, a compaction, a flush and a subscriber in it."""

CRASH: Final = JournalScope(
    "crash",
    {"a": options(4)},
    (
        lossy("a"),
        durable("a", times=2),
        *transacting("a"),
        *writer("a"),
        *flushing("a"),
        crash("a"),
        Move("a", "journal.open", {"options": options(4)}, 1),
    ),
)
"""A process that dies at any instant, and starts again."""

CLOSING: Final = JournalScope(
    "closing",
    {"a": options(4, batchSize=1)},
    (lossy("a", times=3), *writer("a", sink_failures=2), *flushing("a", 2), *closing("a")),
)
"""Entries, losses, flushes that wait, and a close."""

_RUNNING: Final = RunSnapshot("running", OWNERS["a"], START_MS)
_CLAIM: Final = {"runId": "r", "claimant": OWNERS["b"]}
_STEAL: Final = {
    "runId": "r",
    "expected": _RUNNING,
    "claimant": OWNERS["b"],
    "nowMs": START_MS + _STALE_MS,
    "evidence": LivenessEvidence(OWNERS["a"], START_MS + _STALE_MS, "lease-expired"),
}
_RENEWED: Final = RunSnapshot("running", OWNERS["a"], START_MS + _STALE_MS)

FENCE: Final = JournalScope(
    "fence",
    {"a": options(4), "b": options(4)},
    (
        fenced("a", event(sourceSeq=0), 2),
        fenced("b", event(sourceSeq=0)),
        *(
            Move("a", operation, {"runId": "r", "owner": OWNERS["a"], "nowMs": START_MS + _STALE_MS}, 1, _STALE_MS)
            for operation in ("run.heartbeat", "run.reconfirm")
        ),
        Move("a", "run.transitionOwned", {"runId": "r", "owner": OWNERS["a"], "toStatus": "suspended"}, 1, _STALE_MS),
        Move("b", "run.steal", _STEAL, 1, _STALE_MS),
        *(
            Move("b", "run.activate", {**_CLAIM, "claimedAtMs": START_MS + _STALE_MS, "expected": seen}, 1, _STALE_MS)
            for seen in (_RUNNING, _RENEWED)
        ),
    ),
    owned={"r": "a"},
)
"""An owner whose stamp is just stale, who writes, renews, reconfirms or lets go while another steals its run."""

POLICY: Final = JournalScope(
    "policy",
    {"a": options(4, batchSize=1, compaction={"entryThreshold": 2, "capture": "tail"})},
    (lossy("a", times=2), *writer("a"), durable("a"), Move("a", "maintenance.step"), *flushing("a")),
)
"""Automatic compaction, stage by stage, beside the writer, a durable emit and a flush."""

CAPTURE: Final = attrs.evolve(
    POLICY,
    name="capture",
    instances={"a": options(4, batchSize=1, compaction={"entryThreshold": 1, "capture": "flush"})},
    moves=(lossy("a", times=2), *writer("a"), Move("a", "maintenance.step"), *flushing("a")),
)
"""A policy whose capture flushes the journal, which it must not."""

ACROSS: Final = JournalScope(
    "across",
    {"a": options(4), "b": options(4)},
    (
        lossy("a", event(source="q")),
        *writer("a"),
        *following("a"),
        durable("b", times=2),
        checkpoint("b", 0),
        checkpoint("b", 1),
        *compacting("b"),
    ),
    sources=("p", "q"),
    owned={"r": "b"},
)
"""One process compacts a run that another follows and emits to."""

STREAMS: Final = JournalScope(
    "streams",
    {"a": options(2, batchSize=1)},
    (
        *(lossy("a", event(run=run)) for run in ("r", "s")),
        *writer("a", sink_failures=1),
        *(move for run in ("r", "s") for move in following("a", 1, run)),
    ),
    runs=("r", "s"),
)
"""Two runs, each with a reader, and a batch that may be lost."""

REWIND: Final = JournalScope(
    "rewind",
    {"a": options(4)},
    (lossy("a", times=2), durable("a"), *writer("a"), Move("a", "journal.forget", {"runIds": ("r",)}, 1)),
)
"""A memory that is told to forget a run while something of it is in flight."""

_TOKEN: Final = {"runId": "r", "claimant": OWNERS["a"], "claimedAtMs": START_MS}

ONE_MILLISECOND: Final = JournalScope(
    "one-millisecond",
    {"a": options(4)},
    (
        Move("a", "run.claim", {"runId": "r", "expected": PENDING, "claimant": OWNERS["a"], "nowMs": START_MS}, 2),
        Move("a", "run.abandonClaim", _TOKEN, 1),
        Move("a", "run.activate", {**_TOKEN, "expected": PENDING}, 1),
    ),
    before=(Move("a", "run.create", {"runId": "r", "stateJson": "{}"}),),
)
"""Claims of one identity while its clock stands still."""

UNFENCED: Final = JournalScope(
    "unfenced",
    {"a": options(4, batchSize=1, compaction={"entryThreshold": 2, "capture": "tail"}), "b": options(4)},
    (lossy("a"), *writer("a"), Move("a", "maintenance.step"), durable("b"), checkpoint("b", 1)),
    owned={"r": "b"},
    before=(durable("b"),),
)
"""Automatic compaction by a process that does not own the run, beside its owner."""

SCOPES: Final[Mapping[str, JournalScope]] = {
    scope.name: scope
    for scope in (
        *OVERFLOWS,
        *(BESIDE, RETRIES, TWO_INSTANCES, COMPACTION, NESTED, CRASH, CLOSING, FENCE),
        *(POLICY, CAPTURE, ACROSS, STREAMS, REWIND, ONE_MILLISECOND, UNFENCED),
    )
}
"""Every named scope, under ``reference``."""


def named(name: str, profile: Profile) -> JournalScope:
    """The scope of that name under a profile. ``KeyError`` where there is none."""
    return attrs.evolve(SCOPES[name], profile=profile)
