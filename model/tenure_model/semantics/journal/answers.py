"""What the small steps answer, where that is no receipt, row or error of the vocabulary."""

import attrs


def is_failing(fault: object, kind: str = "read") -> bool:
    """Whether a step is asked to find that its storage fails in this way."""
    return type(fault) is str and fault == kind


@attrs.frozen
class Done:
    """What was begun has ended well."""


@attrs.frozen
class Waiting:
    """What was begun has not ended; ask again with the ticket."""

    ticket: int


@attrs.frozen
class Begun:
    """A lossy admission that got past its first phase: its token for the next two (JN-191)."""

    token: int


@attrs.frozen
class Blocked:
    """The step cannot be taken now: a thread would wait for a transaction or for a gate. Nothing has changed."""


@attrs.frozen
class WouldHang:
    """Under ``original``, a wait that nothing can end (HZ-33). Nothing has changed."""


@attrs.frozen
class Ended:
    """A stream that is over: it failed before, was closed, or its instance was."""


@attrs.frozen
class UserFailure:
    """The body of a transaction failed by itself."""
