"""Raw writes: what a hand on the database can do and no operation does. They plant the faults that repairs answer.

``row.delete`` shows R-3. ``row.write`` and ``lease.write`` drive row and lease apart, as R-4 and RS-220..RS-224 need.
The schema still holds: what a CHECK, a key or a trigger refuses is ``constraint``. Column names are the tables' own;
values are text, integers of 64 bits, or null, each in a column of its type.
"""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias, TypeGuard

import attrs

from tenure_model.admission.records import admit_run_id
from tenure_model.admission.refusal import Refusal, refuse
from tenure_model.semantics import revisions
from tenure_model.semantics.runs.create import is_round_free
from tenure_model.semantics.steps import Step, committed, refused, unchanged, violated
from tenure_model.semantics.storage_classes import is_bindable, sql_length
from tenure_model.semantics.wellformed import is_time_or_null, is_well_formed_row
from tenure_model.semantics.world import Claim, Lease, Ownership, Run, World, with_lease, without_lease
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.statuses import RUN_STATUSES

Columns: TypeAlias = Mapping[str, str | int | None]

_CHECKED_TOGETHER: Final = (
    "status",
    "owner_host_id",
    "owner_pid",
    "owner_nonce",
    "heartbeat_at_ms",
    "claim_host_id",
    "claim_pid",
    "claim_nonce",
    "claimed_at_ms",
)
_TIMES: Final = ("created_at_ms", "started_at_ms", "finished_at_ms", "cancel_requested_at_ms", "round_ordinal")
_INTEGERS: Final = frozenset({*_TIMES, "owner_pid", "heartbeat_at_ms", "claim_pid", "claimed_at_ms", "granted_at_ms"})


def _typed(names: Iterable[str]) -> Mapping[str, type]:
    return {name: int if name in _INTEGERS else str for name in names}


ROW_COLUMNS: Final = _typed(("run_id", *_CHECKED_TOGETHER, *_TIMES, "parent_run_id", "lineage_id"))
"""The columns of ``flows_runs`` that ``row.write`` may set, with their types."""

LEASE_COLUMNS: Final = _typed((*_CHECKED_TOGETHER[1:], "granted_at_ms"))
"""The columns of ``flows_consensus_leases`` that ``lease.write`` may set, with their types."""


def delete_row(world: World, run_id: object) -> Step:
    """Delete a run row; answers whether there was one. A run that others name as parent is ``constraint`` (RS-106).

    ``original`` leaves the lease behind, where it blocks a run created under the same id (H-03). R-3 removes it, and
    fires where there is one.
    """
    if isinstance(run_id := admit_run_id(run_id), Refusal):
        return refused(world, "row.delete", run_id)

    if run_id not in world.runs:
        return unchanged(world, False)
    if any(other.parent_run_id == run_id and other.run_id != run_id for other in world.runs.values()):
        return violated(world, "row.delete")
    after = revisions.delete_run(world, run_id)
    if "R-3" not in world.profile.repairs or run_id not in world.leases:
        return committed(world, after, "row.delete", True)
    return committed(world, without_lease(after, run_id), "row.delete", True, frozenset({"R-3"}))


def write_row(world: World, run_id: object, columns: object) -> Step:
    """Set columns of a run row, past every operation; answers whether there was such a row.

    It costs one revision, also without a column (RS-163). ``constraint``: a new run id (RS-162), a row that is not well
    formed, a parent that does not exist, a round that is taken.
    """
    if isinstance(run_id := admit_run_id(run_id), Refusal):
        return refused(world, "row.write", run_id)
    if not _are_columns(columns, ROW_COLUMNS):
        return refused(world, "row.write", refuse("columns", "must map columns to values of their types"))

    run = world.runs.get(run_id)
    if run is None:
        return unchanged(world, False)
    written = _written(world, run, {**_columns_of(run), **columns})
    if written is None:
        return violated(world, "row.write")
    return committed(world, revisions.update_run(world, written), "row.write", True)


def write_lease(world: World, run_id: object, lease: object) -> Step:
    """Replace the lease of a run, whether or not there is such a run; ``None`` removes it. Answers nothing.

    Columns that are left out are null. A slot is whole or null: half a slot is refused, as no strategy writes one.
    Negative integers are ``constraint`` (RS-130). The lease table spends no revision (RS-166).
    """
    if isinstance(run_id := admit_run_id(run_id), Refusal):
        return refused(world, "lease.write", run_id)
    if lease is None:
        return committed(world, without_lease(world, run_id), "lease.write", None)
    if not _are_columns(lease, LEASE_COLUMNS):
        return refused(world, "lease.write", refuse("lease", "must map columns to values of their types"))

    ownership, claim = _ownership_in(lease), _claim_in(lease)
    supplied = sum(value is not None for value in lease.values())
    if supplied != (0 if ownership is None else 5) + (0 if claim is None else 4):
        return refused(world, "lease.write", refuse("lease", "must be whole in each slot"))
    if any(isinstance(value, int) and value < 0 for value in lease.values()):
        return violated(world, "lease.write")
    return committed(world, with_lease(world, run_id, Lease(ownership, claim)), "lease.write", None)


def _are_columns(value: object, allowed: Mapping[str, type]) -> TypeGuard[Columns]:
    """Whether the value maps column names to bindable values, each null or of its column's very type."""
    return type(value) is dict and all(
        type(name) is str
        and name in allowed
        and is_bindable(content)
        and (content is None or type(content) is allowed[name])
        for name, content in value.items()
    )


def _columns_of(run: Run) -> dict[str, str | int | None]:
    owner, claim = run.owner, run.claim
    return {
        "run_id": run.run_id,
        "status": run.status,
        "created_at_ms": run.created_at_ms,
        "started_at_ms": run.started_at_ms,
        "finished_at_ms": run.finished_at_ms,
        "owner_host_id": None if owner is None else owner.host_id,
        "owner_pid": None if owner is None else owner.pid,
        "owner_nonce": None if owner is None else owner.nonce,
        "heartbeat_at_ms": run.heartbeat_at_ms,
        "claim_host_id": None if claim is None else claim.claimant.host_id,
        "claim_pid": None if claim is None else claim.claimant.pid,
        "claim_nonce": None if claim is None else claim.claimant.nonce,
        "claimed_at_ms": None if claim is None else claim.claimed_at_ms,
        "parent_run_id": run.parent_run_id,
        "cancel_requested_at_ms": run.cancel_requested_at_ms,
        "lineage_id": run.lineage_id,
        "round_ordinal": run.round_ordinal,
    }


def _written(world: World, run: Run, columns: Columns) -> Run | None:
    """The row with these columns, or nothing where a CHECK, a key or a trigger refuses it (RS-100..RS-106, RS-162)."""
    parent, lineage_id = _text(columns, "parent_run_id"), _text(columns, "lineage_id")
    created_at_ms, round_ordinal = _integer(columns, "created_at_ms"), _integer(columns, "round_ordinal")
    if (
        columns["run_id"] != run.run_id
        or created_at_ms is None
        or not is_well_formed_row(**{name: columns[name] for name in _CHECKED_TOGETHER})
        or not all(is_time_or_null(columns[name]) for name in _TIMES)
        or not all(text is None or sql_length(text) > 0 for text in (parent, lineage_id))
        or not (parent is None or parent in world.runs)
        or not is_round_free(world, run.run_id, lineage_id, round_ordinal)
    ):
        return None
    return attrs.evolve(
        run,
        status=next(status for status in RUN_STATUSES if status == columns["status"]),
        created_at_ms=created_at_ms,
        started_at_ms=_integer(columns, "started_at_ms"),
        finished_at_ms=_integer(columns, "finished_at_ms"),
        owner=_owner_in(columns, "owner"),
        heartbeat_at_ms=_integer(columns, "heartbeat_at_ms"),
        claim=_claim_in(columns),
        parent_run_id=parent,
        cancel_requested_at_ms=_integer(columns, "cancel_requested_at_ms"),
        lineage_id=lineage_id,
        round_ordinal=round_ordinal,
    )


def _ownership_in(columns: Columns) -> Ownership | None:
    owner, granted_at_ms = _owner_in(columns, "owner"), _integer(columns, "granted_at_ms")
    heartbeat_at_ms = _integer(columns, "heartbeat_at_ms")
    if owner is None or granted_at_ms is None or heartbeat_at_ms is None:
        return None
    return Ownership(owner, granted_at_ms, heartbeat_at_ms)


def _claim_in(columns: Columns) -> Claim | None:
    claimant, claimed_at_ms = _owner_in(columns, "claim"), _integer(columns, "claimed_at_ms")
    return None if claimant is None or claimed_at_ms is None else Claim(claimant, claimed_at_ms)


def _owner_in(columns: Columns, slot: str) -> OwnerId | None:
    host_id, pid = _text(columns, f"{slot}_host_id"), _integer(columns, f"{slot}_pid")
    nonce = _text(columns, f"{slot}_nonce")
    return None if host_id is None or pid is None or nonce is None else OwnerId(host_id, pid, nonce)


def _text(columns: Columns, name: str) -> str | None:
    value = columns.get(name)
    return value if isinstance(value, str) else None


def _integer(columns: Columns, name: str) -> int | None:
    value = columns.get(name)
    return value if isinstance(value, int) else None
