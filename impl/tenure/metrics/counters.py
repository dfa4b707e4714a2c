"""Plain counters, kept in every store, whether or not anything else is told of them."""

from collections.abc import Callable, Mapping
from itertools import count
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


class _Cell:
    """One number that only rises. Raising it is one step of the interpreter: a lock would cost more than all the rest.

    Reading it raises it too, so it keeps account of how often it was read.
    """

    __slots__ = ("_reads", "tick")

    def __init__(self) -> None:
        self.tick: Callable[[], int] = count().__next__
        self._reads = 0

    def read(self) -> int:
        """How often it was raised. One reader at a time."""
        value = self.tick() - self._reads
        self._reads += 1
        return value


class Counters:
    """How often what has happened since the store was opened. Obtained as ``store.counters``; threads may share it.

    They count what is called on this store, and nothing of other stores and processes.
    """

    __slots__ = ("_cells", "_forward", "_lock")

    def __init__(self, forward: Callable[[View, int], object] | None = None) -> None:
        """``forward`` is told of each rise as well."""
        self._lock = Lock()
        self._cells: dict[View, _Cell] = {}
        self._forward = forward

    def ticker(self, view: View) -> Callable[[], object]:
        """What raises a counter by one, under the view's attributes."""
        tick, forward = self._cell(view).tick, self._forward
        if forward is None:
            return tick

        def tick_and_forward() -> None:
            tick()
            forward(view, 1)

        return tick_and_forward

    def add(self, view: View, amount: int) -> None:
        """Raise a counter by ``amount``, under the view's attributes."""
        tick = self._cell(view).tick
        for _ in range(amount):
            tick()
        if self._forward is not None:
            self._forward(view, amount)

    def total(self, name: str, **attributes: str) -> int:
        """The sum over everything under this name that has at least these attributes; 0 where there is nothing."""
        wanted = attributes.items()
        return sum(
            count.value for count in self.snapshot() if count.name == name and wanted <= count.attributes.items()
        )

    def snapshot(self) -> tuple[Count, ...]:
        """Every counter that has counted anything, by name and attributes, read one after another."""
        with self._lock:
            values = [(view, cell.read()) for view, cell in sorted(self._cells.items(), key=_view_of)]
        return tuple(
            Count(view.counter, MappingProxyType(dict(view.attributes)), value) for view, value in values if value
        )

    def _cell(self, view: View) -> _Cell:
        with self._lock:
            return self._cells.setdefault(view, _Cell())


def _view_of(item: tuple[View, _Cell]) -> View:
    return item[0]
