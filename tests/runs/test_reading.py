"""Tests of ``get``, ``lineage`` and ``latest_round``, and of rows that cannot be decoded."""

import contextlib

import pytest

import tenure
from tests.runs.support import NOW, UPDATED, A, B, World, evidence, refused, unchanged

READS = pytest.mark.parametrize("operation", ["get", "latest_round", "lineage"])


def read(world: World, operation: str, run_id: str = "r") -> object:
    """One of the three reads."""
    return getattr(world.runs, operation)(run_id)


@pytest.mark.parametrize(("operation", "method"), [("get", "get"), ("latest_round", "latestRound")])
def test_missing_run(world: World, operation: str, method: str) -> None:
    """A run that is not there is ``not_found_row`` (RS-405, RS-743, RS-361)."""
    error = refused(lambda: read(world, operation, "x y"))

    assert error == tenure.RunStoreError("not_found_row", method, "run x y was not found", {"runId": "x y"})
    assert error.message == f"not_found_row: RunStore.{method}: run x y was not found"


def test_full_row(world: World) -> None:
    """Every column arrives in its field (RS-407)."""
    world.runs.create("p", "{}")
    world.runs.create("r", "[1]", tenure.CreateOptions("p", "L", 4))
    world.sql(
        "UPDATE flows_runs SET status = 'running', created_at_ms = 1, started_at_ms = 2, finished_at_ms = 3,"
        " owner_host_id = 'oh', owner_pid = 4, owner_nonce = 'on', heartbeat_at_ms = 5, claim_host_id = 'ch',"
        " claim_pid = 6, claim_nonce = 'cn', claimed_at_ms = 7, cancel_requested_at_ms = 8 WHERE run_id = 'r'"
    )

    assert world.row() == tenure.RunRow(
        run_id="r",
        status="running",
        created_at_ms=1,
        started_at_ms=2,
        finished_at_ms=3,
        owner=tenure.OwnerId("oh", 4, "on"),
        heartbeat_at_ms=5,
        claim=tenure.OwnerId("ch", 6, "cn"),
        claimed_at_ms=7,
        parent_run_id="p",
        cancel_requested_at_ms=8,
        lineage_id="L",
        round_ordinal=4,
        state_json="[1]",
    )


SCHEMA = [
    "status = 'odd'",
    "status = x'00'",
    "created_at_ms = -1",
    "created_at_ms = 'x'",
    "created_at_ms = 9007199254740992",
    "started_at_ms = 1.5",
    "finished_at_ms = 9007199254740992",
    "owner_host_id = ''",
    "owner_host_id = 'a' || char(0)",
    "owner_host_id = CAST(x'ff' AS TEXT)",
    "owner_nonce = x'61'",
    "owner_pid = 9007199254740992",
    "owner_pid = -1",
    "heartbeat_at_ms = 'x'",
    "claim_host_id = ''",
    "claim_pid = 1.5",
    "claim_nonce = ''",
    "claimed_at_ms = -1",
    "parent_run_id = ''",
    "cancel_requested_at_ms = -1",
    "lineage_id = printf('%.*c', 1025, 'x')",
    "round_ordinal = -1",
    "state_json = x'7b7d'",
]
INVARIANTS = [
    "owner_host_id = NULL",
    "owner_pid = NULL",
    "owner_nonce = NULL",
    "owner_host_id = NULL, owner_pid = NULL, owner_nonce = NULL",
    "owner_host_id = NULL, owner_pid = NULL, owner_nonce = NULL, heartbeat_at_ms = NULL",
    "heartbeat_at_ms = NULL",
    "status = 'pending'",
    "claim_host_id = NULL",
    "claim_pid = NULL",
    "claim_nonce = NULL",
    "claimed_at_ms = NULL",
    "claim_host_id = NULL, claim_pid = NULL, claim_nonce = NULL",
    "state_json = '{'",
    "state_json = ''",
    "state_json = '\"\\ud800\"'",
]


def corrupted(world: World, change: str) -> None:
    """A running, claimed run in a lineage, with one thing wrong; and a sound one beside it."""
    world.runs.create("sound", "{}")
    world.runs.create("r", "{}", tenure.CreateOptions("sound", "L", 1))
    world.runs.claim_and_own("r", tenure.PENDING, A, NOW)
    world.sql(
        "UPDATE flows_runs SET claim_host_id = 'h1', claim_pid = 2, claim_nonce = 'b', claimed_at_ms = 5"
        " WHERE run_id = 'r'"
    )
    world.store.database.rows("PRAGMA foreign_keys = 0")
    world.corrupt(f"UPDATE flows_runs SET {change} WHERE run_id = 'r'")
    world.store.database.rows("PRAGMA foreign_keys = 1")
    world.recorder.drain()


@READS
@pytest.mark.parametrize("change", SCHEMA)
def test_undecodable_row(world: World, operation: str, change: str) -> None:
    """A column that is not what it may be fails the read, with a cause that names the run alone (RS-406, RS-361)."""
    corrupted(world, change)
    if operation == "lineage" and change.startswith("lineage_id"):
        world.corrupt("UPDATE flows_runs SET round_ordinal = -1, lineage_id = 'L' WHERE run_id = 'r'")

    error = refused(lambda: read(world, operation))

    assert (error.code, error.text) == ("decode_failed", "could not decode flows_runs row")
    assert error.cause == {"runId": "r", "stage": "row-schema"}


@READS
@pytest.mark.parametrize("change", INVARIANTS)
def test_inconsistent_row(world: World, operation: str, change: str) -> None:
    """Columns that contradict each other fail the read; the cause says which flags (RS-406, RS-361)."""
    corrupted(world, change)

    error = refused(lambda: read(world, operation))

    assert (error.code, error.text) == ("decode_failed", "flows_runs row violates durable invariants")
    assert error.cause == {
        "runId": "r",
        "status": "pending" if "status" in change else "running",
        "heartbeatAtMs": None if "heartbeat_at_ms" in change else NOW,
        "claimedAtMs": None if "claimed_at_ms" in change else 5,
        "hasClaimColumns": change.count("claim_") < 3,
        "hasOwnerColumns": change.count("owner_") < 3,
        "stateJsonValid": "state_json" not in change,
    }


@pytest.mark.parametrize("change", [*SCHEMA, *INVARIANTS])
def test_corrupt_row_poisons_no_other(world: World, change: str) -> None:
    """Other runs are read and worked on as ever, and writes to the corrupt one never fail to decode (RS-408)."""
    corrupted(world, change)

    assert world.row("sound").run_id == "sound"
    assert world.runs.claim_and_own("sound", tenure.PENDING, B, NOW) == tenure.Activated()
    assert world.runs.heartbeat("sound", B, NOW) == UPDATED
    # Text that is no text cannot be put into a digest.
    with contextlib.nullcontext() if "CAST" in change else unchanged(world):
        assert world.runs.claim("r", tenure.PENDING, B, NOW) != tenure.Claimed(NOW)
        assert world.runs.steal("r", tenure.RunSnapshot("running", A, 1), B, NOW, evidence()) is not None
        assert world.runs.activate("r", B, 6, tenure.PENDING) == tenure.ClaimLost()


def test_cancel_request_on_a_corrupt_row(world: World) -> None:
    """What a decision does not need may be corrupt (RS-408)."""
    corrupted(world, "state_json = x'00'")
    world.corrupt("UPDATE flows_runs SET cancel_requested_at_ms = 5 WHERE run_id = 'r'")

    assert world.runs.request_cancel("r", 7) == tenure.AlreadyRequested(5)


def chain(world: World) -> None:
    """A root without lineage columns and two explicit rounds; a fork of it; a stranger."""
    world.runs.create("r", "{}")
    world.runs.create("r/2", "{}", tenure.CreateOptions("r", "r", 2))
    world.runs.create("r/1", "{}", tenure.CreateOptions("r", "r", 1))
    world.runs.create("fork", "{}", tenure.CreateOptions(parent_run_id="r"))


@pytest.mark.parametrize("run_id", ["r", "r/1", "r/2"])
def test_lineage_from_any_round(world: World, run_id: str) -> None:
    """Members come in the order of their rounds, the root first; forks are no members (RS-740..RS-742)."""
    chain(world)

    assert [row.run_id for row in world.runs.lineage(run_id)] == ["r", "r/1", "r/2"]
    assert world.runs.latest_round(run_id).run_id == "r/2"


def test_lineage_of_one(world: World) -> None:
    """A run without rounds is a lineage of its own, and an unknown one has no members (RS-740, RS-742)."""
    chain(world)

    assert [row.run_id for row in world.runs.lineage("fork")] == ["fork"]
    assert world.runs.latest_round("fork").run_id == "fork"
    assert world.runs.lineage("missing") == ()


def test_lineage_whose_name_is_another_lineages_run(world: World) -> None:
    """A row that merely bears the lineage's name, in another lineage, is no member (RS-741)."""
    world.runs.create("L", "{}", tenure.CreateOptions(lineage_id="M", round_ordinal=1))
    world.runs.create("x", "{}", tenure.CreateOptions(lineage_id="L", round_ordinal=0))

    assert [row.run_id for row in world.runs.lineage("x")] == ["x"]
    assert [row.run_id for row in world.runs.lineage("L")] == ["L"]
    assert world.runs.latest_round("x").run_id == "x"
    assert world.runs.request_cancel_lineage("x", 5) == tenure.CancelRequested(5)
    assert world.row("L").cancel_requested_at_ms is None


def test_lineage_whose_root_names_it(world: World) -> None:
    """A root that names its own lineage is a member once (RS-741)."""
    world.runs.create("L", "{}", tenure.CreateOptions(lineage_id="L", round_ordinal=0))
    world.runs.create("x", "{}", tenure.CreateOptions(lineage_id="L", round_ordinal=1))

    assert [row.run_id for row in world.runs.lineage("L")] == ["L", "x"]


def test_two_rounds_zero(world: World) -> None:
    """An implicit and an explicit round 0 come in the order of their ids; only the latter counts (RS-744)."""
    world.runs.create("b", "{}")
    world.runs.create("a", "{}", tenure.CreateOptions(lineage_id="b", round_ordinal=0))

    assert [row.run_id for row in world.runs.lineage("b")] == ["a", "b"]
    assert world.runs.latest_round("b").run_id == "a"


def test_corrupt_member_fails_the_whole_lineage(world: World) -> None:
    """The error names the member (RS-742)."""
    chain(world)
    world.corrupt("UPDATE flows_runs SET state_json = '{' WHERE run_id = 'r/1'")

    error = refused(lambda: world.runs.lineage("r"))

    assert (error.code, error.method) == ("decode_failed", "lineage")
    assert error.cause["runId"] == "r/1"
    assert world.runs.latest_round("r").run_id == "r/2"


@READS
def test_companion_ids_are_ordinary(world: World, operation: str) -> None:
    """Only ``create`` knows the reserved prefix (RS-307)."""
    if operation == "lineage":
        assert read(world, operation, "flows.companion/x") == ()
    else:
        assert refused(lambda: read(world, operation, "flows.companion/x")).code == "not_found_row"


@READS
@pytest.mark.parametrize("run_id", ["", "a\0", "\ud800", "x" * 1025, 5, None])
def test_invalid_id(world: World, operation: str, run_id: object) -> None:
    """An id that is no durable text is refused (RS-405, RS-742, RS-743)."""
    error = refused(lambda: read(world, operation, run_id))  # type: ignore[arg-type]  # bad on purpose

    assert error.code == "invalid_run"
    assert error.cause == {"field": "runId", "detail": "must be well-formed durable text"}
