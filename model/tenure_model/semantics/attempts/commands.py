"""One command on attempts is one call, as ``semantics.commands`` has them: wire names and arguments as supplied."""

from collections.abc import Callable, Mapping
from typing import Final

from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.semantics.attempts.finish import finish
from tenure_model.semantics.attempts.get import get
from tenure_model.semantics.attempts.heartbeat import heartbeat
from tenure_model.semantics.attempts.patch import patch
from tenure_model.semantics.attempts.put import put
from tenure_model.semantics.attempts.steps import AttemptStep, refused
from tenure_model.semantics.attempts.table import AttemptTable
from tenure_model.semantics.commands import Command
from tenure_model.semantics.world import World
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempt_operations import ATTEMPT_OPERATIONS
from tenure_model.vocabulary.attempts import AttemptOptions

_OPERATIONS: Final[Mapping[str, Callable[..., AttemptStep]]] = {
    "attempt.put": put,
    "attempt.get": get,
    "attempt.heartbeat": heartbeat,
    "attempt.finish": finish,
    "attempt.patch": patch,
}

OPERATIONS: Final[frozenset[str]] = frozenset(_OPERATIONS)
"""The five operations of the attempt store."""


def apply_attempt(world: World, attempts: AttemptTable, options: AttemptOptions, command: Command) -> AttemptStep:
    """What the command does to the attempts beside the world: total, pure, and the table given stays as it is.

    The clock has no part in it: every time is the caller's (RS-815). An operation or an argument that nothing is known
    of is ``invalid_attempt``, like any other invalid input.
    """
    signature = ATTEMPT_OPERATIONS.get(command.operation) if type(command.operation) is str else None
    if signature is None:
        return refused(attempts, method_of(command), AttemptRefusal("operation is unknown"))
    if not command.arguments.keys() <= signature.parameters.keys():
        return refused(attempts, method_of(command), AttemptRefusal("arguments are not all known"))
    arguments = [command.arguments.get(name, ABSENT) for name in signature.parameters]
    return _OPERATIONS[command.operation](world, attempts, options, *arguments)


def method_of(command: Command) -> str:
    """The name that errors carry: ``put`` of ``attempt.put`` (RS-365)."""
    return command.operation.removeprefix("attempt.") if type(command.operation) is str else "apply"
