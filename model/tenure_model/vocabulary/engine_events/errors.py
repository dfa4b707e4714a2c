"""Why an engine event is not taken (JN-360). Admission answers the error as a value, ``tenure.events`` raises it."""

from typing import Final, Literal, TypeAlias

EventErrorCode: TypeAlias = Literal["malformed", "unsupported", "foreign", "transition"]

EVENT_ERROR_CODES: Final[tuple[EventErrorCode, ...]] = ("malformed", "unsupported", "foreign", "transition")

INVALID_EVENT: Final = "invalid engine event"
INVALID_MARKER: Final = "invalid current attempt marker"
OUTSIDE_SCOPE: Final = "event run or source is outside the consumer scope"
LINEAGE_DISAGREES: Final = "event lineage disagrees with its journal or consumer"
MARKER_OUTSIDE_SCOPE: Final = "current attempt marker is outside the consumer scope"
UNSUPPORTED_EVENT: Final = "unsupported engine event family or version"
DISALLOWED_TRANSITION: Final = "event does not follow what is projected"
INVALID_SNAPSHOT: Final = "invalid attempt snapshot"
SNAPSHOT_OUTSIDE_SCOPE: Final = "attempt snapshot is outside the consumer scope"
UNSUPPORTED_SNAPSHOT: Final = "unsupported attempt snapshot version"


class EventError(Exception):
    """An engine event was refused (JN-360).

    ``code`` and ``message`` are fixed words and never quote the event. ``cause`` is the entry or the lineage that is
    foreign, the entry that is unsupported, and of a malformed event the first complaint: a ``Refusal`` naming the
    member, or the exception met while reading. Errors are equal when code and message are.
    """

    def __init__(self, code: EventErrorCode, message: str, cause: object = None) -> None:
        self.code: EventErrorCode = code
        self.message = message
        self.cause = cause
        super().__init__(code, message, cause)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return (self.code, self.message) == (other.code, other.message)

    def __hash__(self) -> int:
        return hash((type(self), self.code, self.message))
