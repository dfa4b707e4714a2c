"""The journal's operations: their wire names, Python names and parameters, in order.

``journal.emitDurable`` on the wire is ``emit_durable`` in Python; the wire's ``upTo`` is Python's ``up_to``.
"""

from collections.abc import Mapping
from typing import Final

from tenure_model.vocabulary.operations import OperationSignature


def _journal(method: str, python_name: str, parameters: str, *, writes: bool = True) -> OperationSignature:
    names: dict[str, str] = {}
    optional: set[str] = set()
    for word in parameters.split():
        name = word.rstrip("?")
        names[name] = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
        if word.endswith("?"):
            optional.add(name)
    return OperationSignature(f"journal.{method}", method, python_name, names, frozenset(optional), writes)


JOURNAL_OPERATIONS: Final[Mapping[str, OperationSignature]] = {
    signature.wire_name: signature
    for signature in (
        _journal("emitDurable", "emit_durable", "input owner"),
        _journal("emitDurableUnfenced", "emit_durable_unfenced", "input"),
        _journal("emitLossy", "emit_lossy", "input"),
        _journal("flush", "flush", ""),
        _journal("entries", "entries", "runId limit after? eventTypes?", writes=False),
        _journal("stream", "stream", "runId afterSequence?", writes=False),
        _journal("checkpoint", "checkpoint", "runId seq state owner"),
        _journal("latestCheckpoint", "latest_checkpoint", "runId", writes=False),
        _journal("compact", "compact", "runId owner upTo?"),
        _journal("transact", "transact", "ops"),
        _journal("generation", "generation", "runId", writes=False),
        _journal("forget", "forget", "runIds", writes=False),
    )
}
"""Those of them that a trace or a port can be asked; ``transact`` takes a list of operations there."""
