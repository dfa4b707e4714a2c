"""The run store's one error (RS-360). The model answers it as a value, the store raises it."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

RunStoreErrorCode: TypeAlias = Literal[
    "invalid_run", "not_found_row", "constraint", "decode_failed", "persistence_failed"
]


class RunStoreError(Exception):
    """Invalid input or a failure of storage; competition is never an error (RS-360, RS-364).

    ``code`` is one of the five codes, ``method`` the wire name of the operation without its prefix (``claimAndOwn``),
    ``message`` is ``<code>: RunStore.<method>: <text>``, and ``cause`` holds field names, lengths and flags, never a
    value that was refused (RS-361, RS-362).
    """

    def __init__(
        self, code: RunStoreErrorCode, method: str, text: str, cause: Mapping[str, object] | None = None
    ) -> None:
        self.code: RunStoreErrorCode = code
        self.method = method
        self.text = text
        self.cause: Mapping[str, object] = {} if cause is None else cause
        self.message = f"{code}: RunStore.{method}: {text}"
        super().__init__(code, method, text, self.cause)

    def __str__(self) -> str:
        return self.message

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.args == other.args

    def __hash__(self) -> int:
        return hash((type(self), self.code, self.method))


class CommitOutcomeUnknown(RunStoreError):
    """COMMIT itself failed: the operation may or may not be on disk. Read before you repeat it."""
