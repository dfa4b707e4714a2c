"""What an instance tells its subscribers, after the commit and never before (JN-260)."""

from collections.abc import Iterable

import attrs

from tenure_model.semantics.journal.instance import Inserted, Instance
from tenure_model.semantics.journal.tables import Event


def publish(instance: Instance, events: Iterable[Event]) -> Instance:
    """Hand committed rows to every subscriber, in the order of commits and each once (JN-260).

    So what the writer has committed and not settled goes first: it was committed before. A subscriber keeps the newest
    ``capacity`` of what it has not taken.
    """
    rows = (*_written(instance), *events)
    if not rows:
        return instance
    capacity = instance.settings.capacity
    return attrs.evolve(
        instance,
        changes={number: (*waiting, *rows)[-capacity:] for number, waiting in instance.changes.items()},
        published=(*instance.published, *((event.run_id, event.seq) for event in rows)),
    )


def _written(instance: Instance) -> tuple[Event, ...]:
    """The rows of the writer's batch, once they are committed and until they are published."""
    batch = instance.batch
    if batch is None or batch.results is None:
        return ()
    published = set(instance.published)
    events = (result.event for result in batch.results if isinstance(result, Inserted))
    return tuple(event for event in events if (event.run_id, event.seq) not in published)
