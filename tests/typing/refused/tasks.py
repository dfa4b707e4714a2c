# pyright: strict
"""Callers of the stores for tasks that are wrong, each in one line."""

import tenure
from tenure import aio


async def forgets_to_wait(store: aio.Store, me: tenure.OwnerId) -> bool:
    """A call that is not awaited does nothing."""
    store.runs.create("r", "{}")  # E: unused-coroutine, reportUnusedCoroutine
    outcome = store.runs.heartbeat("r", me, store.now())
    return outcome == tenure.Updated()  # E: comparison-overlap, reportUnnecessaryComparison


async def confuses_the_two(store: aio.Store, me: tenure.OwnerId) -> None:
    """A block for tasks is none for threads, and the other way about."""
    with store.supervise("r", me):  # E: attr-defined, reportGeneralTypeIssues
        pass
    async with store.sync.supervise("r", me):  # E: attr-defined, reportGeneralTypeIssues
        pass
    for _ in store.journal.stream("r"):  # E: attr-defined, reportGeneralTypeIssues, reportUnknownVariableType
        pass


async def wrong_units_of_work(store: aio.Store, me: tenure.OwnerId) -> tenure.RunRow:
    """The arguments are those of the body, and so is the answer."""
    await store.write(store.sync.runs.get, 3)  # E: arg-type, reportArgumentType
    await store.write(store.sync.runs.get)  # E: arg-type, reportArgumentType
    return await store.write(store.sync.runs.lineage, "r")  # E: arg-type, reportReturnType
