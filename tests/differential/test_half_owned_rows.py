"""No half-owned row: the CHECK constraints admit exactly the rows that the model calls well-formed (BR-38).

And from no row that they admit can a public operation run into one of them.
"""

import itertools

import pytest

import tenure
from tenure.database.engine import DatabaseError
from tenure_model.semantics.wellformed import is_well_formed_row
from tenure_model.vocabulary.operations import RUN_OPERATIONS
from tenure_model.vocabulary.statuses import RUN_STATUSES

STATUSES = ("pending", "running", "suspended", "completed", "failed", "cancelled", None, "", "done", 5, b"running")
TEXTS = (None, "", b"h", "h")
ODD_TEXTS = (b"", b"h", b"\0", 7, 0, 1.5, "\0", "h\0", "0")
PIDS = (None, "", "x", 1)
TIMES = (None, "", 1.5, 1_000)

INSERT = """
    INSERT INTO flows_runs (
      run_id, status, created_at_ms, state_json, owner_host_id, owner_pid, owner_nonce, heartbeat_at_ms,
      claim_host_id, claim_pid, claim_nonce, claimed_at_ms
    ) VALUES ('r', ?1, 0, '{}', ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
"""


def admits(rows, columns) -> bool:
    """Whether SQLite takes the row; it is taken out again."""
    try:
        rows(INSERT, columns)
    except DatabaseError as error:
        if error.code != "constraint":
            raise
        return False
    rows("DELETE FROM flows_runs")
    return True


@pytest.mark.parametrize("status", STATUSES, ids=repr)
def test_check_constraints_are_well_formedness(status):
    """BR-38: every combination of null, empty, wrong type and good in the owner, heartbeat and claim columns."""
    identities = list(itertools.product(TEXTS, PIDS, TEXTS, TIMES))
    admitted, well_formed = set(), set()
    with tenure.open(":memory:") as store, store.transaction():
        rows = store.database.rows
        for owner, claim in itertools.product(identities, identities):
            columns = (status, *owner, *claim)
            if admits(rows, columns):
                admitted.add(columns)
            if is_well_formed_row(*columns):
                well_formed.add(columns)

    assert admitted == well_formed
    assert bool(admitted) == (status in RUN_STATUSES)


@pytest.mark.parametrize(
    "column",
    [2, 4, 6, 8],
    ids=["owner_pid", "heartbeat_at_ms", "claim_pid", "claimed_at_ms"],
)
@pytest.mark.parametrize(
    "value", [-1, 0, 2**53 - 1, 2**53, 2**63 - 1, 1.0, True, "7", b"7", "1e3", float("nan")], ids=repr
)
def test_numbers_at_their_bounds(column, value):
    """BR-38: one odd number in an otherwise good running and claimed row."""
    columns = ["running", "h", 1, "n", 1_000, "h", 2, "m", 1_000]
    columns[column] = value
    with tenure.open(":memory:") as store, store.transaction():
        admitted = admits(store.database.rows, tuple(columns))

    assert admitted == is_well_formed_row(*columns)


@pytest.mark.parametrize("column", [1, 3, 5, 7], ids=["owner_host_id", "owner_nonce", "claim_host_id", "claim_nonce"])
@pytest.mark.parametrize("value", ODD_TEXTS, ids=repr)
def test_odd_texts(column, value):
    """BR-38: one odd text in an otherwise good running and claimed row: blobs, numbers that become text, NULs."""
    columns = ["running", "h", 1, "n", 1_000, "h", 2, "m", 1_000]
    columns[column] = value
    with tenure.open(":memory:") as store, store.transaction():
        admitted = admits(store.database.rows, tuple(columns))

    assert admitted == is_well_formed_row(*columns)


A = {"hostId": "h1", "pid": 1, "nonce": "a"}
B = {"hostId": "h2", "pid": 2, "nonce": "b"}
STAMPS = (1_000, 40_000)
NOW_MS = 50_000


def good_rows():
    """Every well-formed situation (status, owner, stamp, claim), each with every lease, agreeing with it or not."""
    owned = [("running", owner, stamp) for owner in (A, B) for stamp in STAMPS]
    unowned = [(status, None, None) for status in RUN_STATUSES if status != "running"]
    claims = [None, *((claimant, stamp) for claimant in (A, B) for stamp in STAMPS)]
    owners = [None, *((owner, stamp) for owner in (A, B) for stamp in STAMPS)]
    return itertools.product([*owned, *unowned], claims, itertools.product(owners, claims))


def columns_of(identity):
    """An identity's three columns, or three nulls."""
    return (None, None, None) if identity is None else (identity["hostId"], identity["pid"], identity["nonce"])


def plant(rows, row, claim, lease):
    """Write the situation past every operation."""
    status, owner, stamp = row
    rows("DELETE FROM flows_runs WHERE run_id = 'r'")
    claimant, claimed_at_ms = claim or (None, None)
    rows(INSERT, (status, *columns_of(owner), stamp, *columns_of(claimant), claimed_at_ms))
    (lease_owner, beat), (lease_claimant, granted) = (lease[0] or (None, None)), (lease[1] or (None, None))
    if lease_owner or lease_claimant:
        rows(
            "INSERT INTO flows_consensus_leases VALUES ('r', ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*columns_of(lease_owner), beat, beat, *columns_of(lease_claimant), granted),
        )


def calls(row, claim):
    """Every operation but ``create`` on the row, with the arguments that get furthest, by either identity."""
    status, owner, stamp = row
    snapshot = {"status": status, "owner": owner, "heartbeatAtMs": stamp}
    claimant, token = claim or (B, STAMPS[0])
    for actor in (A, B):
        evidence = {"expectedOwner": owner or claimant, "checkedAtMs": NOW_MS, "kind": "lease-expired"}
        common = {
            "runId": "r",
            "owner": actor,
            "claimant": claimant,
            "staleClaimant": claimant,
            "observer": actor,
            "nowMs": NOW_MS,
            "claimedAtMs": token,
            "expected": snapshot,
            "evidence": evidence,
        }
        for operation, signature in RUN_OPERATIONS.items():
            if operation == "run.create":
                continue
            named = {python: common[wire] for wire, python in signature.parameters.items() if wire in common}
            if operation == "run.transitionOwned":
                for to_status in RUN_STATUSES:
                    yield signature.python_name, named | {"to_status": to_status}
            elif operation in ("run.claim", "run.steal"):
                yield signature.python_name, named | {"claimant": actor}
            else:
                yield signature.python_name, named


class Undo(Exception):
    """Takes a call back, so that the next one meets the same row."""


def test_no_operation_meets_a_constraint():
    """BR-38: from no row that the schema admits, with no lease beside it, can an operation break the schema."""
    outcomes = set()
    with tenure.open(":memory:", clock=lambda: NOW_MS) as store:
        rows = store.database.rows
        for row, claim, lease in good_rows():
            with store.transaction():
                plant(rows, row, claim, lease)
            for name, arguments in calls(row, claim):
                try:
                    with store.transaction():
                        outcomes.add((name, type(getattr(store.runs, name)(**arguments)).__name__))
                        raise Undo
                except Undo:
                    pass
                except tenure.RunStoreError as error:
                    outcomes.add((name, error.code))

    assert not {name for name, code in outcomes if code == "constraint"}
    # The enumeration is no use unless it gets through to the writes.
    assert {
        ("claim", "Claimed"),
        ("steal", "Claimed"),
        ("claim_and_own", "Activated"),
        ("activate", "Activated"),
        ("abandon_claim", "Abandoned"),
        ("recover_claim", "Recovered"),
        ("heartbeat", "Updated"),
        ("reconfirm", "Updated"),
        ("transition_owned", "Transitioned"),
        ("request_cancel", "CancelRequested"),
        ("request_cancel_lineage", "CancelRequested"),
    } <= outcomes
