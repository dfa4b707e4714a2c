"""What each pure predicate must answer: a question over plain values, and a contract about the answers.

A question hides how a predicate takes its arguments, so that the model's, the store's and a wrong one are asked alike.
It takes strings, numbers and absence only, which a solver can reason about. A contract says the rule again in other
words: its first assertions are what it demands of the arguments, the later ones what it promises.
"""

from collections.abc import Callable

from tenure_model.semantics.world import Claim, Run
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.evidence import EVIDENCE_KINDS, LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import RunSnapshot
from tenure_model.vocabulary.statuses import RUN_STATUSES

Contract = Callable[..., None]
Predicate = Callable[..., object]
Question = Callable[..., object]


def ask_staleness(is_stale: Predicate) -> Question:
    """Is the stamp stale at this reading?"""

    def staleness(stamp_ms: int | None, now_ms: int) -> object:
        return is_stale(stamp_ms, now_ms)

    return staleness


def staleness_contract(staleness: Question) -> Contract:
    """Stale is older than 30,000 ms, strictly; a stamp that is not there is not stale (RS-004, RS-013)."""

    def holds(stamp_ms: int | None, now_ms: int) -> None:
        assert 0 <= now_ms <= MAX_SAFE_INTEGER

        if stamp_ms is None:
            assert staleness(stamp_ms, now_ms) is False
        else:
            assert staleness(stamp_ms, now_ms) is (now_ms - stamp_ms > 30_000)

    return holds


def ask_owner_equality(same_owner: Predicate) -> Question:
    """Do two identities name the same owner?"""

    def owner_equality(
        host_id: str, pid: int, nonce: str, other_host_id: str, other_pid: int, other_nonce: str
    ) -> object:
        return same_owner(OwnerId(host_id, pid, nonce), OwnerId(other_host_id, other_pid, other_nonce))

    return owner_equality


def owner_equality_contract(owner_equality: Question) -> Contract:
    """Owners are equal exactly where host, process and nonce all are (RS-004, RS-011)."""

    def holds(host_id: str, pid: int, nonce: str, other_host_id: str, other_pid: int, other_nonce: str) -> None:
        assert pid >= 0
        assert other_pid >= 0

        differences = (host_id != other_host_id) + (pid != other_pid) + (nonce != other_nonce)
        answer = owner_equality(host_id, pid, nonce, other_host_id, other_pid, other_nonce)
        assert answer is (differences == 0)

    return holds


def ask_evidence(matches_evidence: Predicate) -> Question:
    """Does the evidence let the observer replace the target at this reading?

    The pid stands for the incarnation, and the kind is an index, because a solver does not choose among literals.
    """

    def evidence(
        target_host: str,
        target_pid: int,
        named_host: str,
        named_pid: int,
        observer_host: str,
        now_ms: int,
        checked_at_ms: int,
        kind: int,
    ) -> object:
        named = OwnerId(named_host, named_pid, "nonce")
        return matches_evidence(
            OwnerId(target_host, target_pid, "nonce"),
            OwnerId(observer_host, 1, "observer"),
            now_ms,
            LivenessEvidence(named, checked_at_ms, EVIDENCE_KINDS[kind % len(EVIDENCE_KINDS)]),
        )

    return evidence


def evidence_contract(evidence: Question) -> Contract:
    """Evidence counts for the owner it names, at the very reading of the call, from where its kind allows (RS-207)."""

    def holds(
        target_host: str,
        target_pid: int,
        named_host: str,
        named_pid: int,
        observer_host: str,
        now_ms: int,
        checked_at_ms: int,
        kind: int,
    ) -> None:
        assert 0 <= kind < len(EVIDENCE_KINDS)

        match EVIDENCE_KINDS[kind]:
            case "same-host-pid-dead":
                placed = observer_host == target_host
            case "cross-host-unreachable-stale":
                placed = observer_host != target_host
            case "lease-expired":
                placed = True
        named = target_host == named_host and target_pid == named_pid
        answer = evidence(target_host, target_pid, named_host, named_pid, observer_host, now_ms, checked_at_ms, kind)
        assert answer is (named and placed and checked_at_ms == now_ms)

    return holds


def ask_skew(within_skew: Predicate) -> Question:
    """Is the reading close enough to the store's clock? Asked of times only: others are refused before."""

    def skew(now_ms: int, clock_ms: int) -> object:
        times = 0 <= now_ms <= MAX_SAFE_INTEGER and 0 <= clock_ms <= MAX_SAFE_INTEGER
        return within_skew(now_ms, clock_ms) if times else None

    return skew


def skew_contract(skew: Question) -> Contract:
    """A reading leads by 10,000 ms at most, and lags without bound (RS-309)."""

    def holds(now_ms: int, clock_ms: int) -> None:
        assert 0 <= now_ms <= MAX_SAFE_INTEGER
        assert 0 <= clock_ms <= MAX_SAFE_INTEGER

        lead = now_ms - clock_ms
        assert skew(now_ms, clock_ms) is (lead < 10_001)

    return holds


def ask_loss(classify_loss: Predicate) -> Question:
    """What is the loser of a claim told? The name of the outcome's class."""

    def loss(exists: bool, claimed: bool, status: int, heartbeat_ms: int | None, now_ms: int) -> object:
        run = make_run(claimed=claimed, status=status, heartbeat_ms=heartbeat_ms) if exists else None
        return type(classify_loss(run, now_ms)).__name__

    return loss


def loss_contract(loss: Question) -> Contract:
    """No row, else a claim, else a running row that is not stale, else a changed snapshot: in this order (RS-456)."""

    def holds(exists: bool, claimed: bool, status: int, heartbeat_ms: int | None, now_ms: int) -> None:
        assert 0 <= status < len(RUN_STATUSES)

        answer = loss(exists, claimed, status, heartbeat_ms, now_ms)
        fresh = heartbeat_ms is None or heartbeat_ms >= now_ms - 30_000
        assert (answer == "NotFound") is (not exists)
        assert (answer == "AlreadyClaimed") is (exists and claimed)
        assert (answer == "HeartbeatFresh") is (exists and not claimed and RUN_STATUSES[status] == "running" and fresh)
        assert answer in ("NotFound", "AlreadyClaimed", "HeartbeatFresh", "SnapshotChanged")

    return holds


def ask_snapshot(row_is: Predicate) -> Question:
    """Is the row what the snapshot says? The pid stands for the owner; absence is nobody, or no heartbeat."""

    def snapshot(
        status: int,
        pid: int | None,
        heartbeat_ms: int | None,
        expected_status: int,
        expected_pid: int | None,
        expected_heartbeat_ms: int | None,
    ) -> object:
        expected_owner = None if expected_pid is None else OwnerId("host", expected_pid, "nonce")
        expected = RunSnapshot(RUN_STATUSES[expected_status % len(RUN_STATUSES)], expected_owner, expected_heartbeat_ms)
        return row_is(make_run(claimed=False, status=status, heartbeat_ms=heartbeat_ms, pid=pid), expected)

    return snapshot


def snapshot_contract(snapshot: Question) -> Contract:
    """Status, owner and heartbeat are each the same, and null is the same as null only (RS-004, RS-012)."""

    def holds(
        status: int,
        pid: int | None,
        heartbeat_ms: int | None,
        expected_status: int,
        expected_pid: int | None,
        expected_heartbeat_ms: int | None,
    ) -> None:
        assert 0 <= status < len(RUN_STATUSES)
        assert 0 <= expected_status < len(RUN_STATUSES)

        answer = snapshot(status, pid, heartbeat_ms, expected_status, expected_pid, expected_heartbeat_ms)
        same_pid = expected_pid is None if pid is None else expected_pid is not None and pid == expected_pid
        same_heartbeat = (
            expected_heartbeat_ms is None
            if heartbeat_ms is None
            else expected_heartbeat_ms is not None and heartbeat_ms == expected_heartbeat_ms
        )
        assert answer is (status == expected_status and same_pid and same_heartbeat)

    return holds


def ask_integer(is_integer: Predicate) -> Question:
    """Is the value admitted as a time, an ordinal, a process id?"""

    def integer(value: int | bool | float | str | None) -> object:
        return is_integer(value)

    return integer


def integer_contract(integer: Question) -> Contract:
    """Integers of the safe range are admitted; booleans, doubles, text and null are no integers (RS-303)."""

    def holds(value: int | bool | float | str | None) -> None:
        assert value is None or isinstance(value, int | float | str)

        exact = isinstance(value, int) and not isinstance(value, bool)
        assert integer(value) is (exact and value == abs(value) and value < 2**53)

    return holds


def ask_stored_time(is_stored_time: Predicate) -> Question:
    """Does a column of times take the integer?"""

    def stored_time(value_ms: int) -> object:
        return is_stored_time(value_ms)

    return stored_time


def stored_time_contract(stored_time: Question) -> Contract:
    """The stored range is that of admitted integers: 0 to 2**53-1 (RS-015, RS-100, RS-303)."""

    def holds(value_ms: int) -> None:
        assert isinstance(value_ms, int)

        assert stored_time(value_ms) is not (value_ms <= -1 or value_ms >= 2**53)

    return holds


def make_run(*, claimed: bool, status: int, heartbeat_ms: int | None, pid: int | None = 41) -> Run:
    """A row of which only what the questions are about matters; it may be one that no store ever holds."""
    return Run(
        run_id="run-1",
        status=RUN_STATUSES[status % len(RUN_STATUSES)],
        created_at_ms=0,
        started_at_ms=None,
        finished_at_ms=None,
        owner=None if pid is None else OwnerId("host", pid, "nonce"),
        heartbeat_at_ms=heartbeat_ms,
        claim=Claim(OwnerId("host", 42, "nonce"), 0) if claimed else None,
        parent_run_id=None,
        cancel_requested_at_ms=None,
        acknowledgement=None,
        lineage_id=None,
        round_ordinal=None,
        state_json="{}",
    )
