"""The journal's operations: their wire names, Python names and parameters, in order.

``journal.emitDurable`` on the wire is ``emit_durable`` in Python; the wire's ``upTo`` is Python's ``up_to``.
"""

from collections.abc import Mapping
from typing import Final

from tenure_model.vocabulary.operations import OperationSignature, by_wire_name, operation

JOURNAL_OPERATIONS: Final[Mapping[str, OperationSignature]] = by_wire_name(
    operation("journal.emitDurable", "input owner"),
    operation("journal.emitDurableUnfenced", "input"),
    operation("journal.emitLossy", "input"),
    operation("journal.flush", ""),
    operation("journal.entries", "runId limit after? eventTypes?", writes=False),
    operation("journal.stream", "runId afterSequence?", writes=False),
    operation("journal.checkpoint", "runId seq state owner"),
    operation("journal.latestCheckpoint", "runId", writes=False),
    operation("journal.compact", "runId owner upTo?"),
    operation("journal.transact", "ops"),
    operation("journal.generation", "runId", writes=False),
    operation("journal.forget", "runIds", writes=False),
)
"""Those of them that a trace or a port can be asked; ``transact`` takes a list of operations there."""
