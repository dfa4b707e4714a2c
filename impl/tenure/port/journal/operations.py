"""The operations of the public journal, by their wire names."""

from collections.abc import Callable, Mapping
from functools import partial

from tenure.port.journal.session import JournalSession
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal_operations import JOURNAL_OPERATIONS


def bound(acting: JournalSession, operation: str, arguments: Mapping[str, object]) -> Callable[[], object]:
    """The operation of the session's journal with these arguments, ready to be called in the session's context."""
    signature = JOURNAL_OPERATIONS[operation]
    journal, _driver = acting.required(signature.method)
    named = {
        name: arguments.get(wire_name, ABSENT)
        for wire_name, name in signature.parameters.items()
        if wire_name in arguments or wire_name not in signature.optional
    }
    return partial(getattr(journal, signature.python_name), **named)
