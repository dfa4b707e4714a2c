"""Whatever is not a success has written nothing (BR-33)."""

import typing
from collections import Counter

import pytest

import tenure
from tenure_model.conform.systems import RUN_COLUMNS, SystemState
from tenure_model.vocabulary.operations import RUN_OPERATIONS
from tests.cases.support import (
    STALE,
    T0,
    A,
    B,
    PassThrough,
    Rewriter,
    StoreSubject,
    expired,
    memory_engine,
    must,
    owned,
)
from tests.differential.cells import tag
from tests.differential.choice import RandomChooser, pick
from tests.differential.generator import CommandGenerator, Memory

STEPS = 6_000

SUCCESSES = {"Claimed", "Activated", "Abandoned", "Recovered", "Updated", "Transitioned", "CancelRequested", "true"}
CREATED = ("run.create", "none")

EXCEPTIONS = {("run.activate", "SnapshotChanged")}
"""Refusals that write by rule: the claim that cannot be activated is given back (RS-472)."""

ADVANCES_MS = (0, 0, 0, 1, 1_000, 10_001, 29_999, STALE, STALE + 1)
_READ_RUNS = f"SELECT {', '.join(RUN_COLUMNS)} FROM flows_runs"


def visible(subject):
    """The runs, as the generator wants to see them."""
    runs = {row[0]: tuple(row) for row in subject.store.database.read(_READ_RUNS)}
    return SystemState(runs=runs, leases={}, changes={}, source=0, facts={})


def refusals_write_nothing(subject, seed=1):
    """A history drawn from the differential generator; the whole database is compared around every refusal. Answers how
    often each refusal of each operation occurred."""
    chooser, seen = RandomChooser(seed), Counter()
    generator = CommandGenerator(chooser, Memory())
    for _ in range(STEPS):
        subject.clock_ms += pick(chooser, ADVANCES_MS)
        operation, arguments = generator.command(visible(subject), subject.clock_ms)
        if operation.startswith("attempt."):
            continue  # not of the run store; the subject has none
        if operation == "row.delete":
            run_id = str(arguments["runId"]).replace("'", "''")
            subject.alter(
                f"DELETE FROM flows_runs WHERE run_id = '{run_id}' AND NOT EXISTS"
                f" (SELECT 1 FROM flows_runs child WHERE child.parent_run_id = flows_runs.run_id)"
            )
            continue
        before = subject.state()
        answer = tag(subject.call(operation, arguments))
        if answer in SUCCESSES or (operation, answer) == CREATED:
            continue
        seen[operation, answer] += 1
        if (operation, answer) not in EXCEPTIONS:
            assert subject.state() == before, (operation, arguments, answer)
    return seen


LOSSES = {
    "run.claim": {"NotFound", "AlreadyClaimed", "HeartbeatFresh", "SnapshotChanged"},
    "run.claimAndOwn": {"NotFound", "AlreadyClaimed", "HeartbeatFresh", "SnapshotChanged", "EvidenceRequired"},
    "run.steal": {"NotFound", "AlreadyClaimed", "HeartbeatFresh", "SnapshotChanged", "LivenessUnconfirmed"},
    "run.activate": {"ClaimLost", "SnapshotChanged"},
    "run.abandonClaim": {"ClaimLost"},
    "run.recoverClaim": {"NotFound", "ClaimChanged", "ClaimFresh", "LivenessUnconfirmed"},
    "run.heartbeat": {"NotFound", "FenceLost"},
    "run.reconfirm": {"NotFound", "FenceLost"},
    "run.transitionOwned": {"NotFound", "FenceLost", "GuardFailed"},
    "run.requestCancel": {"NotFound", "Terminal", "AlreadyRequested"},
    "run.requestCancelLineage": {"NotFound", "Terminal", "AlreadyRequested"},
    "run.acknowledgeCancel": {"false"},
    "run.create": {"error:constraint"},
}


def test_br_33_no_refusal_of_any_operation_writes(make_store):
    """BR-33: every refusal and every error leaves the whole database as it was; the history reaches all of them."""
    seen = refusals_write_nothing(make_store())
    wanted = {(operation, loss) for operation, losses in LOSSES.items() for loss in losses}
    wanted |= {(operation, "error:invalid_run") for operation in LOSSES}

    assert wanted - set(seen) == set()


def declared_outcomes(operation):
    """The names of the classes that the operation's annotation allows."""
    annotation = typing.get_type_hints(getattr(tenure.RunStore, RUN_OPERATIONS[operation].python_name))["return"]
    return {kind.__name__ for kind in typing.get_args(annotation)}


@pytest.mark.parametrize("operation", [name for name in LOSSES if declared_outcomes(name)])
def test_br_33_every_declared_loss_occurs(operation):
    """BR-33: the losses that the history must reach are those that the operation's type declares."""
    assert declared_outcomes(operation) - SUCCESSES == LOSSES[operation]


class KeepsWhatFailed(PassThrough):
    """Commits where it should roll back."""

    def rollback(self):
        if self.inner.in_transaction:
            self.inner.commit()


def test_br_33_kills_a_claim_that_writes_before_it_looks():
    """BR-33: an update of the claim that does not look, taken back by nobody, is found."""
    rewriter = Rewriter(
        (r"(status IN \('pending', 'suspended'\)) AND status = \?6 AND [^;]*?NULL\n", r"\1 AND ?10 IS ?10\n")
    )
    subject = StoreSubject(memory_engine(lambda connection: KeepsWhatFailed(rewriter(connection))))
    with pytest.raises(AssertionError):
        refusals_write_nothing(subject)
    subject.close()

    assert rewriter.used


def disagreements():
    """Every call that the lease alone refuses: what to plant past the operations, and the call."""
    now_ms = T0 + STALE + 1
    gone = "DELETE FROM flows_consensus_leases"
    fresh = f"UPDATE flows_consensus_leases SET heartbeat_at_ms = {now_ms}"
    claimed = (
        "INSERT INTO flows_consensus_leases (run_id, claim_host_id, claim_pid, claim_nonce, claimed_at_ms)"
        f" VALUES ('p', 'host-5', 5, 'five', {T0})"
    )
    lost, changed = tenure.FenceLost(), tenure.SnapshotChanged()
    for target in ("running", "suspended", "completed"):
        yield gone, lambda s, target=target: s.transition_owned("r", A, target, "{}"), lost
    yield gone, lambda s: s.heartbeat("r", A, now_ms), lost
    yield gone, lambda s: s.reconfirm("r", A, now_ms), lost
    for planted in (gone, fresh):
        yield planted, lambda s: s.steal("r", s.get("r"), B, now_ms, expired(A, now_ms)), changed
        yield planted, lambda s: s.claim_and_own("r", s.get("r"), B, now_ms, expired(A, now_ms)), changed
    yield claimed, lambda s: s.claim("p", tenure.PENDING, B, now_ms), changed
    yield claimed, lambda s: s.claim_and_own("p", tenure.PENDING, B, now_ms), changed
    yield gone, lambda s: s.recover_claim("c", A, T0, B, now_ms, expired(A, now_ms)), tenure.ClaimChanged()
    taken = "UPDATE flows_consensus_leases SET claim_host_id = 'h', claim_pid = 1, claim_nonce = 'n', claimed_at_ms = 1"
    yield taken, lambda s: s.claim_and_own("r", s.get("r"), A, now_ms), changed


def lease_refusals_write_nothing(make):
    """The row would admit the call and the lease does not: the row's update is taken back whole."""
    for planted, call, loss in disagreements():
        subject = owned(make)
        for run_id in ("p", "c"):
            must(subject.create(run_id, "{}"), type(None))
        must(subject.claim("c", tenure.PENDING, A, T0), tenure.Claimed)
        subject.alter(planted)
        subject.clock_ms = T0 + STALE + 1
        before = subject.state()
        assert call(subject) == loss, planted
        assert subject.state() == before, planted


def test_br_33_what_only_the_lease_refuses(make_store):
    """BR-33: a refusal that comes after the row was written leaves nothing of it (RS-220..RS-223, R-4)."""
    lease_refusals_write_nothing(make_store)


def test_br_33_kills_a_refusal_that_is_not_taken_back(make_store):
    """BR-33: the update stood, the second look refused, and the call answered a loss with the new owner committed."""
    with pytest.raises(AssertionError):
        lease_refusals_write_nothing(lambda: make_store(memory_engine(KeepsWhatFailed)))
