"""Processes that die between two statements (BR-35, BR-36)."""

import subprocess
import sys
from pathlib import Path

import pytest

import tenure
from tests.cases.support import STALE, T0, A, B, StoreSubject, expired, must

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 120
"""Never reached unless something hangs."""

CLAIM_AND_DIE = f"""
import os, signal, sys, tenure
path, kind = sys.argv[1:]
runs = tenure.open(path, clock=lambda: {T0}).runs
dead, thief = tenure.OwnerId("host-9", 9, "dead"), tenure.OwnerId({A.host_id!r}, {A.pid}, {A.nonce!r})
before = {T0 - STALE - 1}
runs.create("r", "{{}}")
if kind != "pending":
    assert runs.claim_and_own("r", tenure.PENDING, dead, before) == tenure.Activated()
if kind == "suspended":
    assert runs.transition_owned("r", dead, "suspended") == tenure.Transitioned()
row = runs.get("r")
if kind == "running":
    evidence = tenure.LivenessEvidence(dead, {T0}, "lease-expired")
    claimed = runs.steal("r", row, thief, {T0}, evidence)
else:
    claimed = runs.claim("r", row, thief, {T0})
assert claimed == tenure.Claimed({T0})
os.kill(os.getpid(), signal.SIGKILL)
runs.activate("r", thief, claimed.claimed_at_ms, row)
"""


def half_claimed_is_recoverable(subject):
    """Nobody goes on with A's claim of ``r``: until S it stands, then anybody may clear it and own the run."""
    row = subject.get("r")
    assert (row.claim, row.claimed_at_ms) == (A, T0)
    subject.clock_ms = T0 + STALE
    assert subject.claim("r", row, B, T0 + STALE) == tenure.AlreadyClaimed()
    recovery = subject.recover_claim("r", A, T0, B, T0 + STALE, expired(A, T0 + STALE))
    assert recovery == tenure.ClaimFresh()
    subject.clock_ms = now_ms = T0 + STALE + 1
    assert subject.recover_claim("r", A, T0, B, now_ms, expired(A, now_ms)) == tenure.Recovered()
    assert subject.activate("r", A, T0, row) == tenure.ClaimLost()
    evidence = tenure.ABSENT if row.owner is None else expired(row.owner, now_ms)
    assert subject.claim_and_own("r", subject.get("r"), B, now_ms, evidence) == tenure.Activated()


@pytest.mark.parametrize("kind", ["pending", "suspended", "running"])
def test_br_35_a_process_killed_between_claim_and_activation(tmp_path, kind):
    """BR-35: before S ``ClaimFresh``, after S ``Recovered``, for a claim and for a steal, by a real kill -9."""
    path = str(tmp_path / "runs.db")
    died = subprocess.run([sys.executable, "-c", CLAIM_AND_DIE, path, kind], check=False, timeout=PATIENCE_SECONDS)
    subject = StoreSubject(path)
    half_claimed_is_recoverable(subject)
    subject.close()

    assert died.returncode == -9


def left_alone(make):
    """A claim whose claimant does nothing more, without the process."""
    subject = make()
    must(subject.create("r", "{}"), type(None))
    must(subject.claim("r", tenure.PENDING, A, T0), tenure.Claimed)
    half_claimed_is_recoverable(subject)


def test_br_35_a_claimant_that_says_no_more(make):
    """BR-35: the same in model and store, the claimant merely silent."""
    left_alone(make)


@pytest.mark.parametrize(
    "rewrite",
    [
        (r"ifnull\(claimed_at_ms < \?6 - 30000, 0\)", "?6 IS NULL"),
        (r"AND claimed_at_ms < \?6 - 30000", "AND ?6 < claimed_at_ms"),
    ],
    ids=["row", "lease"],
)
def test_br_35_kills_a_claim_that_stands_for_ever(kills, rewrite):
    """BR-35: a half-claimed run that neither row nor lease ever gives up is found."""
    kills(left_alone, rewrite)


def ends(folder, engine):
    """What every killed child left: its store, and what its caller had been told."""
    StoreSubject(str(folder / "base.db")).close()
    subprocess.run(
        [sys.executable, "-m", "tests.cases.kill_points", str(folder), engine],
        check=True,
        cwd=ROOT,
        timeout=PATIENCE_SECONDS,
    )
    for told in sorted(folder.glob("*.told"), key=lambda path: int(path.stem)):
        subject = StoreSubject(str(told.with_suffix(".db")))
        yield subject, told.read_text().splitlines()
        subject.close()


def take_over(subject, run_id):
    """B gets the run, whatever its dead owner or claimant left of it."""
    subject.clock_ms = now_ms = T0 + STALE + 1
    row = subject.get(run_id)
    if row.claim is not None:
        recovery = subject.recover_claim(run_id, row.claim, row.claimed_at_ms, B, now_ms, expired(row.claim, now_ms))
        assert recovery == tenure.Recovered()
    evidence = tenure.ABSENT if row.owner is None else expired(row.owner, now_ms)
    assert subject.claim_and_own(run_id, row, B, now_ms, evidence) == tenure.Activated()
    assert subject.transition_owned(run_id, B, "completed") == tenure.Transitioned()


def nothing_accepted_vanishes(folder, engine):
    """After every kill: accepted runs are there, whole, in their lineage, and can be taken over. Answers how many."""
    kills = 0
    for subject, told in ends(folder, engine):
        kills += 1
        accepted = [line.split()[1] for line in told if line.startswith("create ")]
        for run_id in accepted:
            assert isinstance(subject.get(run_id), tenure.RunRow), (kills, run_id)
        there = [row.run_id for row in subject.lineage("root")]
        assert set(accepted) <= set(there)
        # What the caller was told of ownership and state stands as well.
        if "activate" in told:
            assert subject.get("root").owner == A
        if "rewrite" in told:
            assert subject.get("root").state_json == '{"at":1}'
        if "own" in told:
            assert subject.get("next").owner == A
        for run_id in there:
            take_over(subject, run_id)
    return kills


def test_br_36_a_kill_at_every_statement(tmp_path):
    """BR-36: from ``create`` on, a kill before or after any statement loses no accepted run; each can be taken over."""
    assert nothing_accepted_vanishes(tmp_path, "right") > 50


def test_br_36_kills_an_acceptance_before_the_commit(tmp_path):
    """BR-36: where the caller is told before the run is committed, a kill makes an accepted run vanish."""
    with pytest.raises(AssertionError):
        nothing_accepted_vanishes(tmp_path, "lazy")
