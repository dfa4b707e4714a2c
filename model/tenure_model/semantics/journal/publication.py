"""What an instance tells its subscribers, after the commit and never before (JN-260)."""

from collections.abc import Iterable

import attrs

from tenure_model.semantics.journal.instance import Instance
from tenure_model.semantics.journal.tables import Event


def publish(instance: Instance, events: Iterable[Event]) -> Instance:
    """Hand rows to every subscriber; each keeps the newest ``capacity`` of what it has not taken (JN-260)."""
    rows = tuple(events)
    if not rows:
        return instance
    capacity = instance.settings.capacity
    return attrs.evolve(
        instance,
        changes={number: (*waiting, *rows)[-capacity:] for number, waiting in instance.changes.items()},
        published=(*instance.published, *((event.run_id, event.seq) for event in rows)),
    )
