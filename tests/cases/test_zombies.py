"""Owners that lost the run and go on as if they had not (BR-01..BR-11)."""

import random
from pathlib import Path

import attrs
import pytest

import tenure
from tenure_model.vocabulary.statuses import TERMINAL_RUN_STATUSES
from tests.cases.support import A2, STALE, T0, A, B, SetupError, expired, must, owned, stolen, taken_over, unchanged

README = Path(__file__).parents[2] / "README.md"
LATER = T0 + STALE + 2
TARGETS = ("running", "suspended", "completed", "failed", "cancelled")

NEARLY_A = {
    "owner_host_id": attrs.evolve(A, host_id="host-9"),
    "owner_pid": attrs.evolve(A, pid=42),
    "owner_nonce": A2,
}
"""Owners that differ from A in one field, by the column that tells them apart."""

ANY_OWNER = (
    r"owner_host_id = \?2 AND owner_pid = \?3 AND owner_nonce = \?4",
    "?2 IS NOT NULL AND ?3 IS NOT NULL AND ?4 IS NOT NULL",
)
"""The fence looks at the run's id alone."""


def forgets(column: str) -> tuple[str, str]:
    """The fence no longer compares this column."""
    number = {"owner_host_id": 2, "owner_pid": 3, "owner_nonce": 4}[column]
    return rf"AND {column} = \?{number}", f"AND ?{number} = ?{number}"


def fenced_calls(subject, owner):
    """Every call by which an owner could write, each by its name."""
    for method in ("heartbeat", "reconfirm"):
        yield method, getattr(subject, method)("r", owner, LATER)
    for target in TARGETS:
        yield f"transition to {target}", subject.transition_owned("r", owner, target, '{"by":"zombie"}')
    for guard in ("absent", "present"):
        yield (
            f"guarded {guard}",
            subject.transition_owned("r", owner, "failed", guard=tenure.TransitionGuard(guard)),
        )


def zombie_is_fenced(make, taker=A2):
    """Every write of A is refused after ``taker`` took over, and leaves every stored byte as it was."""
    for at_once in (False, True):
        subject = taken_over(make, taker, at_once=at_once)
        must(subject.request_cancel("r", LATER), tenure.CancelRequested)
        with unchanged(subject):
            for name, outcome in fenced_calls(subject, A):
                assert outcome == tenure.FenceLost(), name
            assert subject.acknowledge_cancel("r", A, LATER) is False
            assert subject.abandon_claim("r", A, T0 + STALE + 1) == tenure.ClaimLost()


@pytest.mark.parametrize("column", NEARLY_A)
def test_br_01_an_owner_that_nearly_equals_its_successor(make, column):
    """BR-01: an abandoned owner that shares two of host, pid and nonce with the new one is fenced all the same."""
    zombie_is_fenced(make, NEARLY_A[column])


@pytest.mark.parametrize("column", ["owner_pid", "owner_nonce"])
def test_br_01_kills_a_fence_that_forgets_a_field(kills, column):
    """BR-01: a fence by host and pid, or by host and nonce, lets the namesake through."""
    kills(lambda make: zombie_is_fenced(make, NEARLY_A[column]), forgets(column))


def first_heartbeat_tells(make):
    """The first beat after the takeover is lost. Between steal and activation the owner still has its fence (RS-512),
    but cannot reconfirm."""
    subject = owned(make)
    token, row = stolen(subject, A2, LATER)
    with unchanged(subject):
        assert subject.reconfirm("r", A, LATER) == tenure.FenceLost()
    must(subject.activate("r", A2, token, row), tenure.Activated)
    with unchanged(subject):
        assert subject.heartbeat("r", A, LATER) == tenure.FenceLost()


def test_br_02_the_first_heartbeat_after_a_takeover(make):
    """BR-02: a superseded owner learns of it from its very first heartbeat, before it tries to write anything."""
    first_heartbeat_tells(make)


def test_br_02_kills_a_heartbeat_without_the_nonce(kills):
    """BR-02: where only the beat forgets the token, the zombie's beats go on succeeding."""
    beat = r"(SET heartbeat_at_ms = max[^;]*?) AND owner_nonce = \?4"
    kills(first_heartbeat_tells, (beat, r"\1 AND ?4 = ?4"))


def wrong_tokens_are_refused(make):
    """A claim is given back, recovered or used by its exact claimant and token only."""
    subject = make()
    must(subject.create("r", "{}"), type(None))
    token = must(subject.claim("r", tenure.PENDING, A, T0), tenure.Claimed).claimed_at_ms
    subject.clock_ms = now_ms = LATER + 1
    with unchanged(subject):
        for who, at in ((A, token + 1), (A, token - 1), (A2, token), (B, token)):
            assert subject.abandon_claim("r", who, at) == tenure.ClaimLost()
            assert subject.activate("r", who, at, tenure.PENDING) == tenure.ClaimLost()
            assert subject.recover_claim("r", who, at, B, now_ms, expired(who, now_ms)) == tenure.ClaimChanged()


def test_br_04_a_claim_is_named_by_its_exact_token(make):
    """BR-04: a wrong ``claimedAtMs`` or claimant is ``ClaimLost`` or ``ClaimChanged``, and writes nothing."""
    wrong_tokens_are_refused(make)


def test_br_04_kills_a_comparison_without_the_token(kills):
    """BR-04: with the time dropped from the comparison, somebody else's claim is given away."""
    kills(wrong_tokens_are_refused, (r"AND claimed_at_ms = \?5", "AND ?5 = ?5"))


def error_path_is_fenced(make):
    """A zombie that fails cannot write its failure onto the run."""
    subject = taken_over(make, B)
    with unchanged(subject):
        assert subject.transition_owned("r", A, "failed", '{"error":"lock lost"}') == tenure.FenceLost()
    row = subject.get("r")
    assert (row.status, row.owner, row.finished_at_ms, row.state_json) == ("running", B, None, '{"at":0}')


def test_br_05_the_failure_path_is_fenced(make):
    """BR-05: settling as failed is fenced like any other write; attempts, the other half, do not exist here yet."""
    error_path_is_fenced(make)


def test_br_05_kills_an_unfenced_failure_path(kills):
    """BR-05: where only the settling statements look at the id alone, the failure lands on another's run."""
    pattern, replacement = ANY_OWNER
    settling = (rf"(SET status = \?6[^;]*?)status = 'running' AND {pattern}", rf"\1{replacement}")
    surrendering = (rf"(DELETE FROM flows_consensus_leases WHERE run_id = \?1 AND ){pattern}", rf"\1{replacement}")
    kills(error_path_is_fenced, settling, surrendering)


def settled_once_by_its_owner(make):
    """Random histories of three owners: who settles a run is who the row names, and a run settles once."""
    subject = make()
    settlements = 0
    for seed in range(40):
        chooser, run_id, settled = random.Random(seed), f"run-{seed}", False
        must(subject.create(run_id, "{}"), type(None))
        for _ in range(25):
            who, row, now_ms = chooser.choice((A, A2, B)), subject.get(run_id), subject.clock_ms
            act = chooser.randrange(5)
            if act == 0:
                subject.clock_ms += chooser.choice((1, 1_000, STALE, STALE + 1))
            elif act == 1:
                evidence = tenure.ABSENT if row.owner is None else expired(row.owner, now_ms)
                subject.claim_and_own(run_id, row, who, now_ms, evidence)
            elif act == 2 and row.claim is None and row.owner is not None:
                subject.steal(run_id, row, who, now_ms, expired(row.owner, now_ms))
            elif act == 2 and row.claim is not None:
                subject.activate(run_id, row.claim, row.claimed_at_ms, row)
            elif act == 3:
                subject.heartbeat(run_id, who, now_ms)
            else:
                target = chooser.choice(TARGETS)
                if subject.transition_owned(run_id, who, target) == tenure.Transitioned():
                    assert who == row.owner
                    assert not settled
                    settled = target in TERMINAL_RUN_STATUSES
                    settlements += settled
    if not 10 < settlements < 40:
        raise SetupError("the histories are no test")


def test_br_06_a_slow_owner_and_its_replacement(make):
    """BR-06: in all histories a run settles at most once, by the owner whom the row named at that instant."""
    settled_once_by_its_owner(make)


def test_br_06_kills_a_fence_that_forgets_the_incarnation(kills):
    """BR-06: a namesake settles what the row does not give it."""
    kills(settled_once_by_its_owner, forgets("owner_nonce"))


def renewals_keep_the_grant(make):
    """Beats and reconfirmations leave owner and grant as they are; a takeover sets both."""
    subject = owned(make)
    granted = subject.lease()[:5]
    assert granted == ("r", A.host_id, A.pid, A.nonce, T0)
    for step in range(1, 5):
        for method in (subject.heartbeat, subject.reconfirm):
            subject.clock_ms = T0 + 1_000 * step
            must(method("r", A, subject.clock_ms), tenure.Updated)
            assert subject.lease()[:5] == granted
    now_ms = subject.clock_ms + STALE + 1
    token, row = stolen(subject, B, now_ms)
    assert subject.lease()[:5] == granted
    must(subject.activate("r", B, token, row), tenure.Activated)
    assert subject.lease()[:5] == ("r", B.host_id, B.pid, B.nonce, now_ms)


def test_br_07_a_grant_is_kept_by_renewals(make):
    """BR-07: owner and grant change with a grant and never with a renewal."""
    renewals_keep_the_grant(make)


def test_br_07_kills_a_renewal_that_grants_anew(kills):
    """BR-07: a beat that moves the grant is found."""
    kills(renewals_keep_the_grant, (r"(leases SET heartbeat_at_ms = max\(.*\))", r"\1, granted_at_ms = ?5"))


def test_br_07_a_grant_is_no_generation(make):
    """BR-07: the limit: grants are their takers' readings and need not grow, so they fence nothing outside (H-07)."""
    subject = owned(make, A, T0)
    must(subject.transition_owned("r", A, "suspended"), tenure.Transitioned)
    must(subject.claim_and_own("r", tenure.SUSPENDED, B, T0 - 5), tenure.Activated)

    assert subject.lease()[1:5] == (B.host_id, B.pid, B.nonce, T0 - 5)


def test_br_07_readme_states_the_limit():
    """BR-07: the README says that external effects can overlap, that no generation number exists, and what to do."""
    text = " ".join(README.read_text(encoding="utf-8").split())

    for phrase in ("can overlap", "no growing generation number", "idempotency keys"):
        assert phrase in text, phrase


def paused_owner_consumes_nothing(make):
    """A wakes after a takeover: its writes are refused, no revision is spent and no fact is kept."""
    for at_once in (False, True):
        subject = taken_over(make, B, at_once=at_once)
        revision = subject.revision()
        with unchanged(subject):
            for name, outcome in fenced_calls(subject, A):
                assert outcome == tenure.FenceLost(), name
        assert subject.revision() == revision


def test_br_08_an_owner_paused_across_a_takeover(make):
    """BR-08: its fences are gone and nothing in the durable order moves; emitted events are not part of this store."""
    paused_owner_consumes_nothing(make)


def test_br_08_kills_a_fence_by_id(kills):
    """BR-08: a fence that looks at the run alone lets the old holder write."""
    kills(paused_owner_consumes_nothing, ANY_OWNER)


def zombie_cannot_come_back(make, taker=B):
    """A superseded owner does not become current by its own last snapshot, nor without fresh evidence."""
    subject = owned(make)
    last_seen = subject.get("r")
    token, row = stolen(subject, taker, LATER)
    with unchanged(subject):
        assert subject.claim_and_own("r", last_seen, A, LATER) == tenure.AlreadyClaimed()
    must(subject.activate("r", taker, token, row), tenure.Activated)
    with unchanged(subject):
        # The new owner is alive, and that outranks the changed snapshot (RS-456).
        assert subject.claim_and_own("r", last_seen, A, LATER) == tenure.HeartbeatFresh()
        subject.clock_ms = now_ms = LATER + STALE + 1
        assert subject.claim_and_own("r", last_seen, A, now_ms) == tenure.SnapshotChanged()
        assert subject.claim_and_own("r", last_seen, A, now_ms, expired(A, now_ms)) == tenure.SnapshotChanged()
        assert subject.claim("r", last_seen, A, now_ms) == tenure.SnapshotChanged()
        current = subject.get("r")
        assert subject.claim_and_own("r", current, A, now_ms) == tenure.EvidenceRequired()
        assert subject.claim_and_own("r", current, A, now_ms, expired(taker, LATER)) == tenure.EvidenceRequired()
    must(subject.claim_and_own("r", current, A, now_ms, expired(taker, now_ms)), tenure.Activated)


@pytest.mark.parametrize("taker", [B, A2], ids=["stranger", "namesake"])
def test_br_11_a_superseded_owner_with_its_own_snapshot(make, taker):
    """BR-11: ``SnapshotChanged``, or ``HeartbeatFresh`` while the new owner beats; never a way around evidence."""
    zombie_cannot_come_back(make, taker)


def test_br_11_kills_a_snapshot_compared_by_status(kills):
    """BR-11: where re-owning compares neither owner nor stamp, the zombie fences its successor."""
    compared = r"owner_host_id IS \?7 AND owner_pid IS \?8 AND owner_nonce IS \?9 AND heartbeat_at_ms IS \?10"
    reowned = r"\(owner_host_id IS NULL OR \(owner_host_id = \?2 AND owner_pid = \?3 AND owner_nonce = \?4\)\)"
    kills(zombie_cannot_come_back, (compared, "?10 IS ?10"), (reowned, "?2 = ?2"))
