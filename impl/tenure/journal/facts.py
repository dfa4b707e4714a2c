"""The journal as the keeper of ownership facts (RS-700..RS-704, JN-130..JN-132)."""

from typing import Final

from tenure.journal.durable import append
from tenure.journal.instance import Instance
from tenure.metrics.operations import EMIT_DURABLE_UNFENCED
from tenure_model.admission.event_identity import companion_run_id
from tenure_model.vocabulary.constants import COMPANION_STREAM
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.journal import DurableReceipt, JournalInput

FACT_SOURCE: Final = "flows.run-store"


class JournalRecorder:
    """Appends facts to the companion streams of their runs."""

    __slots__ = ("_append",)

    def __init__(self, instance: Instance) -> None:
        self._append = instance.observer.bind(EMIT_DURABLE_UNFENCED, _append, instance)

    def record(self, fact: OwnershipFact) -> None:
        """Append one fact in the transaction that granted it.

        It needs no savepoint of its own: whatever it raises undoes the grant with it.
        """
        owner = fact.owner
        self._append(
            JournalInput(
                companion_run_id(COMPANION_STREAM, fact.run_id),
                FACT_SOURCE,
                fact.event_type,
                {
                    "runId": fact.run_id,
                    "owner": {"hostId": owner.host_id, "pid": owner.pid, "nonce": owner.nonce},
                    "grantedAtMs": fact.granted_at_ms,
                },
                meta={"runId": fact.run_id},
            )
        )


def _append(instance: Instance, fact: JournalInput) -> DurableReceipt:
    return append(instance, instance.prepare(fact), None)
