"""The counters' names, and their views: a counter with its attributes, by the tag of the outcome (RS-960..RS-962)."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

import attrs

CLAIMS: Final = "flows_run_claims"
HEARTBEATS: Final = "flows_run_heartbeats"
TRANSITIONS: Final = "flows_run_transitions"
THROUGHPUT: Final = "flows/run/throughput"
WRITE_RETRIES: Final = "flows_db_write_retries"
JOURNAL_WRITES: Final = "flows_journal_writes"
JOURNAL_LOST: Final = "flows_journal_lost"

DESCRIPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        CLAIMS: "Calls that claim runs or give claims back, by operation and outcome.",
        HEARTBEATS: "Calls that renew a lease, by outcome.",
        TRANSITIONS: "Calls that move an owned run, by outcome and requested status.",
        THROUGHPUT: "Runs that settled, once that was committed.",
        WRITE_RETRIES: "Writes that were repeated because the database was busy.",
        JOURNAL_WRITES: "Receipts of the journal, by channel.",
        JOURNAL_LOST: "Entries of the lossy channel that will never be rows, by the code of the loss.",
    }
)
"""Every counter there is, and what it counts."""

Op: TypeAlias = Literal["claim", "claim_and_own", "activate", "abandon_claim", "recover_claim", "steal"]


@attrs.frozen(order=True)
class View:
    """A counter under fixed attributes, which are pairs of name and value."""

    counter: str
    attributes: tuple[tuple[str, str], ...] = ()

    def under(self, name: str, value: str) -> "View":
        """The same view with one more attribute."""
        return View(self.counter, (*self.attributes, (name, value)))


def snake_case(tag: str) -> str:
    """``SnapshotChanged`` as ``snapshot_changed``: the value of an attribute ``outcome`` (RS-960)."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", tag).lower()


def _claims(op: Op, *tags: str) -> Mapping[str, View]:
    return MappingProxyType({tag: View(CLAIMS, (("op", op), ("outcome", snake_case(tag)))) for tag in tags})


def _outcomes(counter: str, *tags: str) -> Mapping[str, View]:
    return MappingProxyType({tag: View(counter, (("outcome", snake_case(tag)),)) for tag in tags})


_NOT_CLAIMED: Final = ("NotFound", "AlreadyClaimed", "HeartbeatFresh", "SnapshotChanged")

claim: Final = _claims("claim", "Claimed", *_NOT_CLAIMED)
claim_and_own: Final = _claims("claim_and_own", "Activated", *_NOT_CLAIMED, "EvidenceRequired")
activate: Final = _claims("activate", "Activated", "ClaimLost", "SnapshotChanged")
abandon_claim: Final = _claims("abandon_claim", "Abandoned", "ClaimLost")
recover_claim: Final = _claims(
    "recover_claim", "Recovered", "NotFound", "ClaimFresh", "ClaimChanged", "LivenessUnconfirmed"
)
steal: Final = _claims("steal", "Claimed", *_NOT_CLAIMED, "LivenessUnconfirmed")
heartbeat: Final = _outcomes(HEARTBEATS, "Updated", "FenceLost", "NotFound")
transition: Final = _outcomes(TRANSITIONS, "Transitioned", "FenceLost", "NotFound", "GuardFailed")
"""Without ``to``, which the store adds to each update (RS-962)."""

throughput: Final = View(THROUGHPUT)
write_retries: Final = View(WRITE_RETRIES)


def journal_writes(channel: Literal["durable", "lossy"], *tags: str) -> Mapping[str, View]:
    """The views of a channel's receipts (JN-410)."""
    return MappingProxyType(
        {tag: View(JOURNAL_WRITES, (("channel", channel), ("receipt", snake_case(tag)))) for tag in tags}
    )


durable: Final = journal_writes("durable", "Accepted", "Duplicate")
lossy: Final = journal_writes("lossy", "Accepted", "Duplicate", "Dropped")


def journal_lost(code: str) -> View:
    """The view of losses under this code (JN-411)."""
    return View(JOURNAL_LOST, (("channel", "lossy"), ("code", code)))
