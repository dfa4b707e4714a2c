"""Classes whose instances run code when they are looked at: admission must refuse them without a single call."""

from typing import Any

from tenure_model.vocabulary.attempts import Attempt, AttemptOptions
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.journal import JournalInput
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import CreateOptions, RunRow, RunSnapshot, TransitionGuard


class Executed(BaseException):
    """A method of an inspected object ran; no handler for ordinary exceptions hides it."""


def _execute(*_: object, **__: object) -> Any:
    raise Executed


_METHODS = (
    *("__bool__", "__bytes__", "__call__", "__contains__", "__copy__", "__deepcopy__", "__dir__", "__eq__"),
    *("__float__", "__format__", "__ge__", "__getattr__", "__getattribute__", "__getitem__", "__gt__", "__hash__"),
    *("__index__", "__int__", "__iter__", "__le__", "__len__", "__lt__", "__ne__", "__next__", "__reduce__"),
    *("__reduce_ex__", "__repr__", "__sizeof__", "__str__", "copy", "encode", "get", "isascii", "items", "keys"),
    "values",
)


class HostileType(type):
    """A metaclass whose own comparisons and look-ups run code."""

    __eq__ = _execute
    __hash__ = _execute
    __instancecheck__ = _execute
    __subclasscheck__ = _execute


def _hostile(base: type) -> type:
    return type(f"Hostile{base.__name__}", (base,), dict.fromkeys(_METHODS, _execute))


HostileStr = _hostile(str)
HostileInt = _hostile(int)
HostileFloat = _hostile(float)
HostileList = _hostile(list)
HostileDict = _hostile(dict)
HostileObject = _hostile(object)
HostileByMetaclass = HostileType("HostileByMetaclass", (), {})

# Subclasses of the vocabulary's own classes, with attributes computed on every look.
HostileOwnerId = _hostile(OwnerId)
HostileRunSnapshot = _hostile(RunSnapshot)
HostileRunRow = _hostile(RunRow)
HostileLivenessEvidence = _hostile(LivenessEvidence)
HostileTransitionGuard = _hostile(TransitionGuard)
HostileCreateOptions = _hostile(CreateOptions)
HostileAttempt = _hostile(Attempt)
HostileAttemptOptions = _hostile(AttemptOptions)
HostileJournalInput = _hostile(JournalInput)


def hostile_instance(kind: type) -> object:
    """An instance made without running the class's own code."""
    for base in (str, int, float, list, dict):
        if issubclass(kind, base):
            return base.__new__(kind)
    return object.__new__(kind)


class CollidingKey:
    """A key that runs code when a dictionary compares it: it hashes like ``text``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.armed = False

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        if self.armed:
            raise Executed
        return False


class StrKey(str):
    """A string subclass that is a well-behaved key."""
