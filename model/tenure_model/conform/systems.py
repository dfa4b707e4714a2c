"""What a trace, a fuzzer or a port drives: a system under test, and the whole state of one.

A system has sessions: instances on one database, each with its own transaction and its own clock.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, Protocol, TypeAlias

import attrs

from tenure_model.conform.wire import Json

Column: TypeAlias = int | str | None
Columns: TypeAlias = tuple[Column, ...]
FactColumns: TypeAlias = tuple[str, str, int, str, int | None]

RUN_COLUMNS: Final = (
    "run_id",
    "status",
    "created_at_ms",
    "started_at_ms",
    "finished_at_ms",
    "owner_host_id",
    "owner_pid",
    "owner_nonce",
    "heartbeat_at_ms",
    "claim_host_id",
    "claim_pid",
    "claim_nonce",
    "claimed_at_ms",
    "parent_run_id",
    "cancel_requested_at_ms",
    "lineage_id",
    "round_ordinal",
    "state_json",
    "cancel_acknowledgement_json",
)

LEASE_COLUMNS: Final = (
    "run_id",
    "owner_host_id",
    "owner_pid",
    "owner_nonce",
    "granted_at_ms",
    "heartbeat_at_ms",
    "claim_host_id",
    "claim_pid",
    "claim_nonce",
    "claimed_at_ms",
)

ATTEMPT_COLUMNS: Final = (
    "run_id",
    "step_key_digest",
    "attempt",
    "state",
    "started_at_ms",
    "finished_at_ms",
    "heartbeat_at_ms",
    "checkpoint_json",
    "error_json",
    "outcome_json",
    "meta_json",
)


@attrs.frozen
class SystemState:
    """Everything a run store remembers, as one session sees it, in the columns of its tables.

    ``runs`` and ``leases`` hold rows by run id in the order of ``RUN_COLUMNS`` and ``LEASE_COLUMNS``, ``changes`` holds
    (revision, deleted), ``source`` is the source revision, ``facts`` holds (transition, host id, pid, nonce, grant)
    by run id in the order they were recorded. ``attempts`` holds rows by primary key in the order of
    ``ATTEMPT_COLUMNS``, JSON as ``encode_json`` spells the value, since how it is spelled on disk is free (RS-814).
    """

    runs: Mapping[str, Columns]
    leases: Mapping[str, Columns]
    changes: Mapping[str, tuple[int, int]]
    source: int
    facts: Mapping[str, tuple[FactColumns, ...]]
    attempts: Mapping[tuple[str, str, int], Columns] = attrs.field(factory=dict)


class System(Protocol):
    """Anything that can be driven step by step: the model, the store, a port."""

    def call(self, session: str, operation: str, arguments: Mapping[str, object], clock_ms: float) -> object:
        """One operation by its wire names; answers its outcome, or a ``RunStoreError`` as a value."""
        ...

    def control(self, session: str, action: str, clock_ms: float = 0.0) -> bool:
        """One of ``traces.CONTROLS``; answers whether it could be done. What cannot be done changes nothing.

        ``clock_ms`` is the session's clock, for what runs after a commit.
        """
        ...

    def state(self, session: str) -> SystemState:
        """The whole state, uncommitted writes of ``session`` included, those of others not."""
        ...


_ACKNOWLEDGEMENT: Final = RUN_COLUMNS.index("cancel_acknowledgement_json")


def _owner(host_id: Column, pid: Column, nonce: Column) -> Json:
    return None if host_id is None else {"hostId": host_id, "pid": pid, "nonce": nonce}


def row_to_wire(columns: Columns) -> dict[str, Json]:
    """Run columns as the row that ``run.get`` answers (RS-407)."""
    row: dict[str, Any] = dict(zip(RUN_COLUMNS, columns, strict=True))
    return {
        "runId": row["run_id"],
        "status": row["status"],
        "createdAtMs": row["created_at_ms"],
        "startedAtMs": row["started_at_ms"],
        "finishedAtMs": row["finished_at_ms"],
        "owner": _owner(row["owner_host_id"], row["owner_pid"], row["owner_nonce"]),
        "heartbeatAtMs": row["heartbeat_at_ms"],
        "claim": _owner(row["claim_host_id"], row["claim_pid"], row["claim_nonce"]),
        "claimedAtMs": row["claimed_at_ms"],
        "parentRunId": row["parent_run_id"],
        "cancelRequestedAtMs": row["cancel_requested_at_ms"],
        "lineageId": row["lineage_id"],
        "roundOrdinal": row["round_ordinal"],
        "stateJson": row["state_json"],
    }


def _fact_to_wire(run_id: str, seq: int, fact: FactColumns) -> Json:
    transition, host_id, pid, nonce, granted_at_ms = fact
    payload: Json = {"runId": run_id, "owner": _owner(host_id, pid, nonce), "grantedAtMs": granted_at_ms}
    return [seq, f"flows.consensus.{transition}", payload]


def state_to_wire(state: SystemState) -> dict[str, Json]:
    """A state in the form of the end of a trace: rows, changes, source, leases, facts, acknowledgements, attempts.

    The last two are what no operation tells; recorded traces do not have them.
    """
    return {
        "rows": {run_id: row_to_wire(columns) for run_id, columns in sorted(state.runs.items())},
        "changes": [
            {"run_id": run_id, "revision": revision, "deleted": deleted}
            for run_id, (revision, deleted) in sorted(state.changes.items())
        ],
        "source": [{"revision": state.source}],
        "leases": [dict(zip(LEASE_COLUMNS, columns, strict=True)) for _, columns in sorted(state.leases.items())],
        "facts": {
            run_id: [_fact_to_wire(run_id, seq, fact) for seq, fact in enumerate(facts)]
            for run_id, facts in sorted(state.facts.items())
            if facts
        },
        "acknowledgements": {
            run_id: columns[_ACKNOWLEDGEMENT]
            for run_id, columns in sorted(state.runs.items())
            if columns[_ACKNOWLEDGEMENT] is not None
        },
        "attempts": [dict(zip(ATTEMPT_COLUMNS, columns, strict=True)) for _, columns in sorted(state.attempts.items())],
    }


def acknowledgement_text(observed_at_ms: int, host_id: str, pid: int, nonce: str) -> str:
    """The stored form of an acknowledgement, keys in the order of RS-441."""
    record = {"observedAtMs": observed_at_ms, "owner": {"hostId": host_id, "pid": pid, "nonce": nonce}}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))
