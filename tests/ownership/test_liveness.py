"""Checks of whether an owner still works, and the evidence that probes make of them."""

import errno
import os
import subprocess
import sys

import pytest

import tenure
from tenure.ownership.liveness import signal_process

ME = tenure.OwnerId("h1", 10, "me")
NEIGHBOUR = tenure.OwnerId("h1", 20, "neighbour")
STRANGER = tenure.OwnerId("h2", 20, "stranger")
NOW = 1_000_000
STALE = tenure.HEARTBEAT_STALE_AFTER_MS
MAX = 2**53 - 1


def context(heartbeat_at_ms=None):
    """What a check is told beside the owner."""
    return tenure.LivenessContext(ME, heartbeat_at_ms, NOW)


class Kill:
    """A process table that answers what it was made with, and remembers what it was asked."""

    def __init__(self, failure=None):
        self.failure = failure
        self.asked = []

    def __call__(self, pid, signal):
        self.asked.append((pid, signal))
        if self.failure is not None:
            raise self.failure


def no_probe(expected_owner, context):
    """A check that must not be asked."""
    raise AssertionError("asked")


def alive(expected_owner, context):
    """A check that finds everybody at work."""
    return True


def gone(expected_owner, context):
    """A check that finds nobody at work."""
    return False


@pytest.mark.parametrize(("other", "expected"), [(NEIGHBOUR, True), (STRANGER, False), (ME, True)])
def test_incarnations_share_the_host(other, expected):
    """RS-900: only the host ids are compared."""
    assert tenure.same_host_incarnation(other, ME) is expected


@pytest.mark.parametrize(
    ("age_ms", "expected"), [(0, True), (-5, True), (STALE - 1, True), (STALE, True), (STALE + 1, False)]
)
def test_the_lease_decides_by_its_age(age_ms, expected):
    """RS-901: exactly as old as the window is alive, one millisecond more is gone."""
    assert tenure.lease_liveness()(STRANGER, context(NOW - age_ms)) is expected


def test_a_window_of_ones_own():
    """RS-901: the window is a parameter of the check."""
    check = tenure.lease_liveness(5)

    assert (check(ME, context(NOW - 5)), check(ME, context(NOW - 6))) == (True, False)


@pytest.mark.parametrize("window_ms", [0, STALE, MAX])
def test_no_heartbeat_is_gone(window_ms):
    """RS-901: an owner without a heartbeat is gone, whatever the window."""
    assert tenure.lease_liveness(window_ms)(ME, context(None)) is False


def test_another_host_is_not_probed():
    """RS-902: the process table of this host says nothing about another."""
    kill = Kill()

    assert tenure.same_host_pid_probe(STRANGER, context(), kill=kill) is False
    assert kill.asked == []


@pytest.mark.parametrize("pid", [0, -1, MAX + 1, True, 1.0, "20", None])
def test_odd_pids_are_alive_without_a_probe(pid):
    """RS-902, BR-16: what is no positive safe integer is never signalled; 0 and -1 would mean whole groups."""
    kill = Kill(ProcessLookupError())

    assert tenure.same_host_pid_probe(tenure.OwnerId("h1", pid, "n"), context(), kill=kill) is True
    assert kill.asked == []


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (None, True),
        (OSError(errno.ESRCH, "no such process"), False),
        (ProcessLookupError(), False),
        (OSError(errno.EPERM, "not permitted"), True),
        (OSError(errno.EINVAL, "invalid"), True),
        (OverflowError("too large"), True),
        (RuntimeError("what is this"), True),
    ],
)
def test_only_no_such_process_is_death(failure, expected):
    """RS-902: one probe with signal 0; whatever else than "no such process" it fails with, is life."""
    kill = Kill(failure)

    assert tenure.same_host_pid_probe(NEIGHBOUR, context(), kill=kill) is expected
    assert kill.asked == [(20, 0)]


def test_the_real_process_table():
    """RS-902: this process lives under any nonce, one that has ended and was waited for does not."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()

    assert tenure.same_host_pid_probe(tenure.OwnerId("h1", os.getpid(), "older"), context()) is True
    assert tenure.same_host_pid_probe(tenure.OwnerId("h1", child.pid, "n"), context()) is False
    assert tenure.same_host_pid_probe(tenure.OwnerId("h1", MAX, "n"), context()) is True


def test_where_signal_0_would_act_nothing_is_sent():
    """RS-902: on Windows signal 0 is an event that ends programs, so every process there counts as alive."""
    with pytest.raises(OSError, match="cannot be asked"):
        signal_process(os.getpid(), 0, system="nt")


def test_an_expired_lease_is_evidence_from_anywhere():
    """RS-903: the store judges it, so the probe always answers."""
    evidence = tenure.lease_expired(STRANGER, ME, NOW)

    assert evidence == tenure.LivenessEvidence(STRANGER, NOW, "lease-expired")


@pytest.mark.parametrize(
    ("owner", "check", "expected"),
    [
        (NEIGHBOUR, gone, tenure.LivenessEvidence(NEIGHBOUR, NOW, "same-host-pid-dead")),
        (NEIGHBOUR, alive, None),
        (STRANGER, no_probe, None),
    ],
)
def test_evidence_by_the_process_table(owner, check, expected):
    """RS-903: evidence for a dead neighbour; nothing for a living one, and other hosts are not asked about."""
    assert tenure.same_host_pid_dead(check)(owner, ME, NOW) == expected


@pytest.mark.parametrize(
    ("owner", "check", "expected"),
    [
        (STRANGER, gone, tenure.LivenessEvidence(STRANGER, NOW, "cross-host-unreachable-stale")),
        (STRANGER, alive, None),
        (NEIGHBOUR, no_probe, None),
    ],
)
def test_evidence_about_other_hosts(owner, check, expected):
    """RS-903: evidence for a stranger that cannot be reached; nothing for one that can, and no neighbour is asked."""
    assert tenure.cross_host_unreachable(check)(owner, ME, NOW) == expected


def test_a_check_is_told_who_asks_and_when():
    """RS-903: claimant and instant are those of the probe."""
    told = []
    tenure.same_host_pid_dead(lambda owner, context: bool(told.append((owner, context))))(NEIGHBOUR, ME, NOW)

    assert told == [(NEIGHBOUR, tenure.LivenessContext(ME, None, NOW))]


def test_the_first_evidence_is_taken():
    """RS-903: probes are asked in order, until one has evidence."""
    probe = tenure.first_evidence(tenure.same_host_pid_dead(alive), tenure.lease_expired, no_probe)

    assert probe(NEIGHBOUR, ME, NOW) == tenure.lease_expired(NEIGHBOUR, ME, NOW)
    assert tenure.first_evidence(tenure.same_host_pid_dead(alive))(NEIGHBOUR, ME, NOW) is None


def test_br_16_a_recycled_pid_does_not_keep_the_run():
    """BR-16: an unrelated process has the dead owner's pid: the pid probe finds life and makes no evidence, and the
    expired lease takes the run all the same."""
    clock_ms = NOW
    dead = tenure.OwnerId("h1", os.getpid(), "dead")
    thief = tenure.OwnerId("h1", os.getpid() + 1, "thief")
    probe = tenure.first_evidence(tenure.same_host_pid_dead(), tenure.lease_expired)
    with tenure.open(":memory:", clock=lambda: clock_ms) as store:
        store.runs.create("r", "{}")
        store.runs.claim_and_own("r", tenure.PENDING, dead, NOW)
        clock_ms = NOW + STALE + 1
        row = store.runs.get("r")
        evidence = probe(dead, thief, clock_ms)
        taken = store.runs.steal("r", row, thief, clock_ms, evidence)

    assert tenure.same_host_pid_dead()(dead, thief, clock_ms) is None
    assert evidence.kind == "lease-expired"
    assert taken == tenure.Claimed(clock_ms)
