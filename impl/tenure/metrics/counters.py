"""Plain counters, kept in every store, whether or not anything else is told of them."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from threading import Lock
from types import MappingProxyType

import attrs

from tenure.metrics.views import View


@attrs.frozen
class Count:
    """What one counter has come to under one set of attributes."""

    name: str
    attributes: Mapping[str, str]
    value: int


class Counters:
    """How often what has happened since the store was opened. Obtained as ``store.counters``; threads may share it.

    They count this object's calls and nothing that another store or process does. ``forward`` is told of each update.
    """

    __slots__ = ("_counts", "_forward", "_lock")

    def __init__(self, forward: Callable[[View, int], object] | None = None) -> None:
        self._lock = Lock()
        self._counts: defaultdict[View, int] = defaultdict(int)
        self._forward = forward

    def add(self, view: View, amount: int = 1) -> None:
        """Raise a counter under the view's attributes."""
        with self._lock:
            self._counts[view] += amount
        if self._forward is not None:
            self._forward(view, amount)

    def total(self, name: str, **attributes: str) -> int:
        """The sum over everything under this name that has at least these attributes; 0 where there is nothing."""
        wanted = attributes.items()
        return sum(
            count.value for count in self.snapshot() if count.name == name and wanted <= count.attributes.items()
        )

    def snapshot(self) -> tuple[Count, ...]:
        """Every counter that has counted anything, by name and attributes, at one moment."""
        with self._lock:
            counts = sorted(self._counts.items(), key=lambda item: (item[0].counter, item[0].attributes))
        return tuple(Count(view.counter, MappingProxyType(dict(view.attributes)), value) for view, value in counts)
