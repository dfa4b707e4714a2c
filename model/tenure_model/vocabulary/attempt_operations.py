"""The attempt store's five operations: their wire names, Python names and parameters, in order.

``attempt.put`` on the wire is ``put`` in Python; the wire's ``stepKeyDigest`` is Python's ``step_key_digest``.
"""

from collections.abc import Mapping
from typing import Final

from tenure_model.vocabulary.operations import OperationSignature


def _attempt(method: str, parameters: str, *, writes: bool = True) -> OperationSignature:
    names: dict[str, str] = {}
    optional: set[str] = set()
    for word in parameters.split():
        name = word.rstrip("?")
        names[name] = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
        if word.endswith("?"):
            optional.add(name)
    return OperationSignature(f"attempt.{method}", method, method, names, frozenset(optional), writes)


ATTEMPT_OPERATIONS: Final[Mapping[str, OperationSignature]] = {
    signature.wire_name: signature
    for signature in (
        _attempt("put", "attempt owner"),
        _attempt("get", "id", writes=False),
        _attempt("heartbeat", "runId stepKeyDigest attempt owner nowMs checkpoint?"),
        _attempt("finish", "attempt owner"),
        _attempt("patch", "id patch owner"),
    )
}
