"""The stores for tasks, on asyncio and trio alike: every call is a unit of work that runs whole in a worker thread.

Needs anyio, which the extra ``aio`` brings.
"""

try:
    import anyio as anyio
except ModuleNotFoundError as error:
    raise ImportError("tenure.aio needs anyio: install tenure[aio]") from error

from tenure.aio.attempts import AttemptStore
from tenure.aio.block import SupervisedBlock
from tenure.aio.journal import Journal
from tenure.aio.runs import RunStore
from tenure.aio.store import Store, open, supervise, wrap
from tenure.aio.streams import Changes, EntryStream, ProjectedStates
from tenure.aio.supervisor import Hook, Timing

__all__ = [
    "AttemptStore",
    "Changes",
    "EntryStream",
    "Hook",
    "Journal",
    "ProjectedStates",
    "RunStore",
    "Store",
    "SupervisedBlock",
    "Timing",
    "open",
    "supervise",
    "wrap",
]
