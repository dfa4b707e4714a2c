"""Owners whose names, hosts or process ids are used again (BR-13, BR-14, BR-16)."""

import os

import attrs
import pytest

import tenure
from tenure.consensus.strategy import OWNER_LIVE
from tenure_model.conform.model_system import ModelSystem
from tenure_model.semantics.profiles import REFERENCE
from tests.cases.support import A2, STALE, T0, A, B, ModelSubject, expired, must, owned, unchanged

MINE = attrs.evolve(A, pid=os.getpid())
"""An owner whose process lives, whatever the store thinks of it."""
MINE_AGAIN = attrs.evolve(A2, pid=os.getpid())


def restart_is_a_new_owner(make):
    """A restarted namesake takes its predecessor's run once it is stale, by steal as well as at once, with evidence."""
    for at_once in (False, True):
        subject = owned(make, MINE)
        row = subject.get("r")
        for elapsed, fresh in ((STALE, True), (STALE + 1, False)):
            subject.clock_ms = now_ms = T0 + elapsed
            evidence = expired(MINE, now_ms)
            if fresh:
                assert subject.claim_and_own("r", row, MINE_AGAIN, now_ms) == tenure.HeartbeatFresh()
                assert subject.steal("r", row, MINE_AGAIN, now_ms, evidence) == tenure.HeartbeatFresh()
            elif at_once:
                # The old incarnation is somebody else: its run is not one's own.
                assert subject.claim_and_own("r", row, MINE_AGAIN, now_ms) == tenure.EvidenceRequired()
                assert subject.claim_and_own("r", row, MINE_AGAIN, now_ms, evidence) == tenure.Activated()
            else:
                assert subject.steal("r", row, MINE_AGAIN, now_ms, evidence) == tenure.Claimed(now_ms)


def test_br_13_a_restart_is_a_new_nonce(make):
    """BR-13: same host, same process id, new nonce: the orphaned run can be taken although such a process lives."""
    restart_is_a_new_owner(make)


class SameNameIsAlive(ModelSystem):
    """Believes that an owner lives while anybody of its host and process id asks."""

    def call(self, session, operation, arguments, clock_ms):
        if operation == "run.steal":
            expected, claimant = arguments["expected"].owner, arguments["claimant"]
            if (expected.host_id, expected.pid) == (claimant.host_id, claimant.pid):
                return tenure.HeartbeatFresh()
        return super().call(session, operation, arguments, clock_ms)


class SameNameIsTheSame(ModelSystem):
    """Takes a namesake's run for one's own."""

    def call(self, session, operation, arguments, clock_ms):
        if operation == "run.claimAndOwn" and arguments["expected"].owner == MINE:
            arguments = {"evidence": expired(MINE, arguments["nowMs"])} | arguments
        return super().call(session, operation, arguments, clock_ms)


@pytest.mark.parametrize("wrong", [SameNameIsAlive, SameNameIsTheSame])
def test_br_13_kills_identity_by_name(wrong):
    """BR-13: where host and process id make the owner, orphans look alive for ever, or are taken without evidence."""
    with pytest.raises(AssertionError):
        restart_is_a_new_owner(lambda: ModelSubject(wrong(REFERENCE, ("s0",))))


def other_runs_do_not_vouch(make):
    """Beats of the new incarnation on its own run say nothing about the old one's run."""
    subject = owned(make, A)
    must(subject.create("other", "{}"), type(None))
    must(subject.claim_and_own("other", tenure.PENDING, A2, T0), tenure.Activated)
    row = subject.get("r")
    for second in range(1, STALE // 1_000 + 2):
        subject.clock_ms = T0 + 1_000 * second
        must(subject.heartbeat("other", A2, subject.clock_ms), tenure.Updated)
    now_ms = subject.clock_ms
    assert subject.steal("r", row, B, now_ms, expired(A, now_ms)) == tenure.Claimed(now_ms)


def test_br_14_a_namesakes_beats_on_another_run(make):
    """BR-14: a live owner under the same host and process id does not keep a dead one's run alive."""
    other_runs_do_not_vouch(make)


def test_br_14_kills_staleness_by_worker(kills):
    """BR-14: where the newest beat of host and process id counts, the dead one's run is never stale."""
    newest = (
        "(SELECT max(o.heartbeat_at_ms) FROM flows_runs o"
        " WHERE (o.owner_host_id, o.owner_pid) = (flows_runs.owner_host_id, flows_runs.owner_pid))"
    )
    kills(other_runs_do_not_vouch, (r"ifnull\(heartbeat_at_ms < \?5 -", f"ifnull({newest} < ?5 -"))


def test_br_14_no_side_table_holds_the_evidence(make_store):
    """BR-14: with every table but runs, leases, the source and the migrations emptied, the stale run can be stolen."""
    subject = make_store()
    owned(lambda: subject)
    row = subject.get("r")
    deciding = {"flows_runs", "flows_consensus_leases", "flows_run_source", "flows_migrations"}
    emptied = set(subject.state()) - {"schema"} - deciding
    for table in emptied:
        subject.alter(f"DELETE FROM {table}")
    subject.clock_ms = now_ms = T0 + STALE + 1

    assert {"flows_run_changes", "kept_facts"} <= emptied
    assert subject.steal("r", row, B, now_ms, expired(A, now_ms)) == tenure.Claimed(now_ms)


def test_br_14_the_lease_is_no_side_table(make_store):
    """BR-14: the lease arbitrates: deleted by hand it makes the run nobody's to steal, and nothing else (RS-220)."""
    subject = make_store()
    owned(lambda: subject)
    row = subject.get("r")
    subject.alter("DELETE FROM flows_consensus_leases")
    subject.clock_ms = now_ms = T0 + STALE + 1

    assert subject.steal("r", row, B, now_ms, expired(A, now_ms)) == tenure.SnapshotChanged()
    assert subject.claim_and_own("r", row, A, now_ms) == tenure.Activated()


def pid_reuse_does_not_protect(make):
    """Evidence of an expired lease needs no probe; evidence by process id is believed on the owner's own host only."""
    subject = owned(make, MINE)
    row = subject.get("r")
    subject.clock_ms = now_ms = T0 + STALE + 1
    near, far = attrs.evolve(MINE, pid=1, nonce="near"), B
    with unchanged(subject):
        for claimant, kind in ((far, "same-host-pid-dead"), (near, "cross-host-unreachable-stale")):
            evidence = tenure.LivenessEvidence(MINE, now_ms, kind)
            assert subject.steal("r", row, claimant, now_ms, evidence) == tenure.LivenessUnconfirmed()
    for claimant, kind in ((near, "lease-expired"), (far, "lease-expired"), (near, "same-host-pid-dead")):
        evidence = tenure.LivenessEvidence(MINE, now_ms, kind)
        assert subject.steal("r", row, claimant, now_ms, evidence) == tenure.Claimed(now_ms)
        must(subject.abandon_claim("r", claimant, now_ms), tenure.Abandoned)


def test_br_16_a_living_process_of_the_recorded_pid(make):
    """BR-16: that some process has the dead owner's pid blocks no ``lease-expired``; the probe is not part of this."""
    pid_reuse_does_not_protect(make)


class ProbesProcess(tenure.LocalConsensus):
    """Asks the operating system before it lets anybody steal."""

    def steal(self, run_id, claimant, now_ms, evidence):
        try:
            os.kill(evidence.expected_owner.pid, 0)
        except ProcessLookupError:
            return super().steal(run_id, claimant, now_ms, evidence)
        return OWNER_LIVE


def test_br_16_kills_a_strategy_that_trusts_the_pid(make_store):
    """BR-16: where the store probes by itself, an unrelated process keeps the lock for ever."""
    pid_reuse_does_not_protect(lambda: make_store(consensus=tenure.LocalConsensus()))

    with pytest.raises(AssertionError):
        pid_reuse_does_not_protect(lambda: make_store(consensus=ProbesProcess()))
