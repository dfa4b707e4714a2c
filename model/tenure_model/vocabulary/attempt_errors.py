"""The attempt store's one error and its texts (RS-365). The model answers it as a value, the store raises it."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

AttemptStoreErrorCode: TypeAlias = Literal[
    "invalid_attempt", "constraint", "decode_failed", "persistence_failed", "unknown"
]

PERSISTENCE_FAILED: Final = "attempt persistence failed"
ROW_UNDECODABLE: Final = "could not decode flows_attempts row"
UNAVAILABLE: Final = "the store is unavailable in this environment"


class AttemptStoreError(Exception):
    """Invalid input or a failure of storage; competition is never an error (RS-364, RS-365).

    ``code`` is one of the five codes, ``method`` the wire name of the operation without its prefix, or ``makeWith``,
    ``message`` is ``<code>: AttemptStore.<method>: <text>``. Invalid input and rows that do not decode have no
    ``cause``; a failure of the database names its category and reason there, never a value.
    """

    def __init__(
        self, code: AttemptStoreErrorCode, method: str, text: str, cause: Mapping[str, object] | None = None
    ) -> None:
        self.code: AttemptStoreErrorCode = code
        self.method = method
        self.text = text
        self.cause = cause
        self.message = f"{code}: AttemptStore.{method}: {text}"
        super().__init__(code, method, text, cause)

    def __str__(self) -> str:
        return self.message

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.args == other.args

    def __hash__(self) -> int:
        return hash((type(self), self.code, self.method))


class AttemptCommitOutcomeUnknown(AttemptStoreError):
    """COMMIT itself failed: the operation may or may not be on disk. Read before you repeat it."""


def attempt_database_failure(database_code: str, method: str) -> AttemptStoreError:
    """The error a failing database becomes: ``constraint`` keeps its code, all else is ``persistence_failed`` (RS-365).

    ``database_code`` is one of ``busy``, ``constraint``, ``io``, ``unsupported``, ``unknown``.
    """
    code: AttemptStoreErrorCode = "constraint" if database_code == "constraint" else "persistence_failed"
    cause = {"category": code, "reason": database_code, "cause": {"code": database_code}}
    return AttemptStoreError(code, method, PERSISTENCE_FAILED, cause)
