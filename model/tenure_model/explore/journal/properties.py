"""The twelve invariants of the journal, each said once; the checks are those of ``semantics.journal.invariants``.

An invariant is judged on every step of every scope. What it says of a state is asked of the state that a step leads to,
where the step changed what it speaks of. Each can fail: the tests have, for each, a wrong model that breaks it.
"""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import attrs

from tenure_model.semantics.journal.invariants import OF_STEPS, Transition
from tenure_model.semantics.journal.state import JournalState
from tenure_model.semantics.journal.state_invariants import OF_STATES

OfState: TypeAlias = Callable[[JournalState], Iterator[str]]
OfStep: TypeAlias = Callable[[Transition], Iterator[str]]


@attrs.frozen
class Property:
    """A name, a sentence, the rules behind it, and the checks: each answers where a state or a step breaks it."""

    name: str
    statement: str
    rules: tuple[str, ...]
    of_states: tuple[OfState, ...] = ()
    of_steps: tuple[OfStep, ...] = ()


class Judge:
    """Judges steps by properties. What only speaks of what is committed is asked where that has changed."""

    __slots__ = ("_of_disks", "_of_states", "_of_steps")

    def __init__(self, properties: tuple[Property, ...]) -> None:
        of_states = [(check, one.name) for one in properties for check in one.of_states]
        self._of_disks = tuple(pair for pair in of_states if pair[0] in _OF_DISKS)
        self._of_states = tuple(pair for pair in of_states if pair[0] not in _OF_DISKS)
        self._of_steps = tuple((check, one.name) for one in properties for check in one.of_steps)

    def broken(self, taken: Transition) -> tuple[str, ...]:
        """The names of the properties that the step breaks."""
        broken: list[str] = []
        before, after = taken.before, taken.after
        if before is not after:
            for of_state, name in self._of_states:
                broken.extend(name for _ in of_state(after))
            if before.committed is not after.committed:
                for of_state, name in self._of_disks:
                    broken.extend(name for _ in of_state(after))
        for of_step, name in self._of_steps:
            for _ in of_step(taken):
                broken.append(name)
        return tuple(dict.fromkeys(broken)) if broken else ()


_OF_DISKS: Final = frozenset(OF_STATES[name] for name in ("unique", "floors", "receipts", "facts"))
"""The checks of a state that look at nothing but what is committed."""


def _states(*names: str) -> tuple[OfState, ...]:
    return tuple(OF_STATES[name] for name in names)


def _steps(*names: str) -> tuple[OfStep, ...]:
    return tuple(OF_STEPS[name] for name in names)


PROPERTIES: Final = (
    Property(
        "unique",
        "Number in the run, producer identity and event id are unique over events and tombstones together.",
        ("JN-005", "JN-009", "JN-010"),
        of_states=_states("unique"),
    ),
    Property(
        "watermark",
        "A new row lies above every number that its run ever had, and above all that a reader was given.",
        ("JN-240", "JN-241"),
        of_steps=_steps("watermark"),
    ),
    Property(
        "floor",
        "A compaction floor never falls, nothing lies below it, its entry exists; compacting again changes nothing.",
        ("JN-161", "JN-281", "JN-282", "JN-283"),
        of_states=_states("floors"),
        of_steps=_steps("floors rise", "retried compaction"),
    ),
    Property(
        "receipts",
        "What a durable receipt named stands for ever, as a row or a tombstone, once the transaction is committed.",
        ("JN-170", "JN-177"),
        of_states=_states("receipts"),
    ),
    Property(
        "fates",
        "An accepted lossy entry ends as exactly one of: row, collapse, reported loss, eviction, loss in a crash.",
        ("JN-214", "JN-223", "JN-231"),
        of_states=_states("fates"),
        of_steps=_steps("ends"),
    ),
    Property(
        "publication",
        "An instance publishes committed rows only, each once, and never before the commit.",
        ("JN-179", "JN-260"),
        of_states=_states("publication"),
    ),
    Property(
        "fence",
        "No fenced write passes, nor is told of a duplicate, unless the lease names its caller as owner then.",
        ("JN-083", "JN-085"),
        of_steps=_steps("fence"),
    ),
    Property(
        "standing-rows",
        "A conflict never changes what stands, and a duplicate names something that does.",
        ("JN-177", "JN-281"),
        of_steps=_steps("standing rows", "known duplicates"),
    ),
    Property(
        "pages",
        "Pages read one after the other are exactly the committed suffix, or end in a refusal.",
        ("JN-251", "JN-252", "JN-255"),
        of_steps=_steps("pages"),
    ),
    Property(
        "flush",
        "A flush that ends well hides no loss: every entry before it is a row, collapsed or evicted, or was told of.",
        ("JN-222", "JN-224"),
        of_states=_states("answered flushes"),
        of_steps=_steps("ended flushes", "told losses"),
    ),
    Property(
        "reconfirm-or-steal",
        "At most one of a reconfirm and a steal passes.",
        ("JN-108",),
        of_steps=_steps("reconfirm or steal"),
    ),
    Property(
        "lock-order",
        "Whoever has closed a gate holds the transaction, so nobody waits for the database behind a gate.",
        ("JN-286",),
        of_states=_states("lock order"),
    ),
    Property(
        "facts",
        "Every granted transition stands on the companion stream, in order, and nothing else of that producer does.",
        ("JN-130", "RS-703"),
        of_states=_states("facts"),
    ),
)
"""The twelve in their order, and what facts owe to the runs beside them."""
