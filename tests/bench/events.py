"""Engine events, as a reader of a journal meets them: entries whose payload is parsed already."""

import time
from collections.abc import Callable, Iterator, Sequence

from tenure import Entry, JournalInput, events
from tests.bench.table import rate_line

COUNT = 20_000
AIM = 30_000
LINEAGE = events.Lineage("continuation", "run-2", "lineage-1", "run-0", 2, "run-1")
CONSUMER = events.Consumer("run-2", "lineage-1", "run-0", 2, "run-1", ("engine", "scheduler"), "ignore")
FLAT = {"exitCode": 0, "seconds": 1.5, "log": "artifact/1", "cached": False}
NESTED = {"outputs": [{"path": f"out/{number}", "bytes": number} for number in range(8)], "summary": FLAT}


def attempt_of(result: object) -> JournalInput:
    """The end of an attempt that answered ``result``."""
    lifecycle = events.AttemptSucceeded(1_000, 2_000, events.Success(result))
    return events.attempt(events.AttemptPayload(LINEAGE, "run-2", "digest-1", 1, lifecycle), "engine", 7)


def state_of(*waits: events.Wait) -> JournalInput:
    """An execution that waits."""
    change = events.Execution(events.ExecutionSuspended(waits))
    return events.state_event(events.StatePayload(LINEAGE, "run-2", change), "engine", 8)


def stored(given: JournalInput, seq: int) -> Entry:
    """The entry as it is read back."""
    return Entry(given.run_id, seq, f"event-{seq}", "engine", seq, 5, given.event_type, given.payload, {"host": "a"})


def rate(work: Callable[[Entry], object], entries: Sequence[Entry]) -> float:
    """Entries a second."""
    start = time.perf_counter()
    for entry in entries:
        work(entry)
    return len(entries) / (time.perf_counter() - start)


def rows() -> Iterator[str]:
    """Decoding, one row for each kind of payload, and building."""
    kinds = {
        "decode an attempt, flat value": attempt_of(FLAT),
        "decode an attempt, 30 values": attempt_of(NESTED),
        "decode a state event, two waits": state_of(events.Deferred("wait-1"), events.Clock("wait-2", 9_000)),
    }
    for name, given in kinds.items():
        entries = [stored(given, seq) for seq in range(COUNT)]
        yield rate_line(name, rate(lambda entry: events.decode_entry(entry, CONSUMER), entries), AIM, "events")
    flat = [stored(kinds["decode an attempt, flat value"], seq) for seq in range(COUNT)]
    yield rate_line("build an attempt, flat value", rate(lambda _: attempt_of(FLAT), flat), AIM, "events")
