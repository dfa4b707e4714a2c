"""The attempt store's five operations: their wire names, Python names and parameters, in order.

``attempt.put`` on the wire is ``put`` in Python; the wire's ``stepKeyDigest`` is Python's ``step_key_digest``.
"""

from collections.abc import Mapping
from typing import Final

from tenure_model.vocabulary.operations import OperationSignature, by_wire_name, operation

ATTEMPT_OPERATIONS: Final[Mapping[str, OperationSignature]] = by_wire_name(
    operation("attempt.put", "attempt owner"),
    operation("attempt.get", "id", writes=False),
    operation("attempt.heartbeat", "runId stepKeyDigest attempt owner nowMs checkpoint?"),
    operation("attempt.finish", "attempt owner"),
    operation("attempt.patch", "id patch owner"),
)
