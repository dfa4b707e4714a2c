"""What is explored of the journal: whose instances, over which runs, which calls and steps, and how often each.

A scope is finite because it says how often a call may be made: what is emitted, begun, lost or crashed is counted. The
steps of what runs in the background need no count, as they come to an end with what there is to do.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

import attrs

from tenure_model.admission.redaction.redactor import make_noop_redactor
from tenure_model.semantics.commands import Command
from tenure_model.semantics.profiles import REFERENCE, Profile
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import PENDING

START_MS: Final = 1_000_000_000
"""What every clock shows at the start, and until the end unless a move says otherwise."""

OWNERS: Final[Mapping[str, OwnerId]] = {"a": OwnerId("h1", 1, "a"), "b": OwnerId("h2", 2, "b")}
"""The owner that each session acts as, where it acts as one."""

Options: TypeAlias = Mapping[str, object]
"""Arguments or options by their wire names."""


@attrs.frozen
class Move:
    """A call or small step that a session may take: ``times`` times in one history, ``None`` for whenever it can.

    ``arguments`` go by wire name; the token, ticket, stream or subscription that a step needs is left out, and ranges
    over all there are. ``at_ms`` is what its clock shows, from ``START_MS``. A step that changes nothing counts for
    nothing.
    """

    session: str
    operation: str
    arguments: Mapping[str, object] = attrs.field(factory=dict)
    times: int | None = None
    at_ms: int = 0

    def command(self, **numbers: object) -> Command:
        """The command, with the number of what it is about."""
        return Command(self.operation, {**self.arguments, **numbers}, START_MS + self.at_ms)


def _distinct(moves: Iterable[Move]) -> tuple[Move, ...]:
    """The moves without repetition: what is put together of groups may name one step several times."""
    distinct: list[Move] = []
    for move in moves:
        if move not in distinct:
            distinct.append(move)
    return tuple(distinct)


@attrs.frozen
class JournalScope:
    """A finite part of the journal that is searched whole.

    ``instances`` maps the sessions to the options that their instance is open with at the start. ``owned`` maps runs
    to the session whose owner has them then; other runs have no row. ``before`` is done before the search begins.
    ``symmetric`` says whether sessions, runs and producers that may do the same are one and the same. ``depth`` bounds
    the number of steps, ``None`` does not.
    """

    name: str
    instances: Mapping[str, Options]
    moves: tuple[Move, ...] = attrs.field(converter=_distinct)
    runs: tuple[str, ...] = ("r",)
    sources: tuple[str, ...] = ("p",)
    owned: Mapping[str, str] = attrs.field(factory=dict)
    before: tuple[Move, ...] = ()
    symmetric: bool = True
    profile: Profile = REFERENCE
    depth: int | None = None

    @property
    def sessions(self) -> tuple[str, ...]:
        """The sessions, in order: their place is their number in states."""
        return tuple(self.instances)

    def opening(self) -> Iterator[Move]:
        """What leads from an empty database to where the search begins."""
        for run_id, session in self.owned.items():
            owner = OWNERS[session]
            yield Move(session, "run.create", {"runId": run_id, "stateJson": "{}"})
            claim = {"runId": run_id, "expected": PENDING, "owner": owner, "nowMs": START_MS}
            yield Move(session, "run.claimAndOwn", claim)
        for session, options in self.instances.items():
            yield Move(session, "journal.open", {"options": options})
        yield from self.before


def options(capacity: int = 4, overflow: str = "reject", **others: object) -> Options:
    """Options of an instance that stores what it is given, without looking for secrets in it."""
    return {"capacity": capacity, "overflow": overflow, "redact": _AS_IT_IS, **others}


_AS_IT_IS: Final = make_noop_redactor()


def event(payload: object = "x", run: str = "r", source: str = "p", **members: object) -> Options:
    """The arguments of an emit."""
    return {"input": {"runId": run, "sourceId": source, "eventType": "t", "payload": payload, **members}}


EVENT: Final = event()
"""An event whose number is left out."""


def lossy(session: str, event: Options = EVENT, times: int = 1) -> Move:
    """A lossy emit, its three phases in a row."""
    return Move(session, "journal.emitLossy", event, times)


def durable(session: str, event: Options = EVENT, times: int = 1) -> Move:
    """A durable emit that belongs to no owner."""
    return Move(session, "journal.emitDurableUnfenced", event, times)


def fenced(session: str, event: Options = EVENT, times: int = 1) -> Move:
    """A durable emit behind the session's fence."""
    return Move(session, "journal.emitDurable", {**event, "owner": OWNERS[session]}, times)


def phased(session: str, event: Options = EVENT, times: int = 1) -> tuple[Move, ...]:
    """A lossy emit in phases that other work may come between (JN-191..JN-194)."""
    return (
        Move(session, "lossy.begin", event, times),
        Move(session, "lossy.read"),
        Move(session, "lossy.finish"),
    )


def writer(session: str, sink_failures: int = 0) -> tuple[Move, ...]:
    """The batch writer, whose storage may fail so many batches (JN-210..JN-216).

    Wherever the storage fails, at the beginning, an insert or the commit, the batch is lost as a whole: one fault
    stands for all, and for a failing writer, whose loss has only another text (JN-213).
    """
    steps = (Move(session, "writer.take"), Move(session, "writer.write"), Move(session, "writer.settle"))
    if not sink_failures:
        return steps
    return (*steps, Move(session, "writer.write", {"fault": "sink"}, sink_failures))


def flushing(session: str, times: int = 1) -> tuple[Move, ...]:
    """Flushes that wait."""
    return (Move(session, "flush.begin", times=times), Move(session, "flush.poll"))


def closing(session: str) -> tuple[Move, ...]:
    """A close that waits (JN-230)."""
    return (Move(session, "close.begin", times=1), Move(session, "close.poll"))


def compacting(session: str, times: int = 1, run: str = "r") -> tuple[Move, ...]:
    """A compaction to the latest checkpoint, by small steps (JN-286)."""
    begin = Move(session, "compact.begin", {"runId": run, "owner": OWNERS[session]}, times)
    return (begin, Move(session, "compact.poll"))


def checkpoint(session: str, seq: int, times: int = 1, run: str = "r") -> Move:
    """A checkpoint at an entry."""
    arguments = {"runId": run, "seq": seq, "state": "s", "owner": OWNERS[session]}
    return Move(session, "journal.checkpoint", arguments, times)


def following(session: str, times: int = 1, run: str = "r") -> tuple[Move, ...]:
    """Streams of a run, from its start."""
    return (Move(session, "stream.open", {"runId": run}, times), Move(session, "stream.page"))


def transacting(session: str, times: int = 1) -> tuple[Move, ...]:
    """Transactions of the session's program, which may be nested so deep."""
    return (
        Move(session, "session.begin", times=times),
        Move(session, "session.commit"),
        Move(session, "session.rollback"),
    )


def crash(session: str) -> Move:
    """The session's process dies, once."""
    return Move(session, "session.crash", times=1)
