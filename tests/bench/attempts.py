"""The attempt store against a bare loop of the very same statements."""

from collections.abc import Iterator

import tenure
from tests.bench.runs import ME, compare, one_run


def lives(store: tenure.Store, count: int) -> None:
    """Put and finish ``count`` attempts, with what a step usually carries."""
    put, finish = store.attempts.put, store.attempts.finish
    for number in range(count):
        put(tenure.Attempt("run", "step", number, "running", 0, {"kind": "checkout", "worker": 7}), ME)
        finish(tenure.FinishAttempt("run", "step", number, "done", 0, outcome={"ok": True, "items": [1, 2, 3]}), ME)


def one_attempt(store: tenure.Store) -> None:
    """An attempt to beat for."""
    one_run(store)
    store.attempts.put(tenure.Attempt("run", "step", 0, "running", 0, {}), ME)


def beats(store: tenure.Store, count: int) -> None:
    """Beat ``count`` times, with a small checkpoint each."""
    heartbeat = store.attempts.heartbeat
    for number in range(count):
        heartbeat("run", "step", 0, ME, number, {"at": number})


def rows() -> Iterator[str]:
    """Every comparison of the attempt store."""
    for on_file, where in ((True, "file"), (False, "memory")):
        # In memory the walk over what a caller hands in, which the bare loop is spared, is most of the cost.
        aim = 1.3 if on_file else 3.5
        count = 400 if on_file else 3_000
        yield compare(f"put+finish, {where}", one_run, lives, count=count, on_file=on_file, aim=aim, unit="lives")
        yield compare(
            f"heartbeat with checkpoint, {where}",
            one_attempt,
            beats,
            count=count * 2,
            on_file=on_file,
            aim=aim,
            unit="beats",
        )
