"""Probes: what makes the evidence that ``steal``, ``recover_claim`` and ``claim_and_own`` consume (RS-903, RS-207).

Evidence is what its bearer asserts; the store compares owner, instant and hosts, and judges staleness by the stored
heartbeat, but cannot see whether a process is dead or a host unreachable (H-18).
"""

from typing import Protocol

from tenure.ownership.liveness import LivenessCheck, LivenessContext, same_host_incarnation, same_host_pid_probe
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId


class LivenessProbe(Protocol):
    """Answers evidence about the expected owner at ``checked_at_ms``, or ``None`` where there is none (RS-903).

    ``checked_at_ms`` must be the ``now_ms`` of the call that consumes the evidence, exactly (RS-207).
    """

    def __call__(
        self, expected_owner: OwnerId, claimant: OwnerId, checked_at_ms: int, /
    ) -> LivenessEvidence | None: ...


def lease_expired(expected_owner: OwnerId, claimant: OwnerId, checked_at_ms: int) -> LivenessEvidence:
    """A probe that leaves the judgement to the store, which accepts it from any host once the heartbeat is stale."""
    return LivenessEvidence(expected_owner, checked_at_ms, "lease-expired")


def same_host_pid_dead(check: LivenessCheck = same_host_pid_probe) -> LivenessProbe:
    """A probe for owners on the claimant's own host: evidence where ``check`` says that the owner is gone.

    None for owners on other hosts. ``check`` is given no heartbeat.
    """

    def probe(expected_owner: OwnerId, claimant: OwnerId, checked_at_ms: int) -> LivenessEvidence | None:
        if not same_host_incarnation(expected_owner, claimant):
            return None
        if check(expected_owner, LivenessContext(claimant, None, checked_at_ms)):
            return None
        return LivenessEvidence(expected_owner, checked_at_ms, "same-host-pid-dead")

    return probe


def cross_host_unreachable(check: LivenessCheck) -> LivenessProbe:
    """A probe for owners on other hosts: evidence where ``check``, which must ask that host, says that it is gone.

    None for owners on the claimant's own host. ``check`` is given no heartbeat.
    """

    def probe(expected_owner: OwnerId, claimant: OwnerId, checked_at_ms: int) -> LivenessEvidence | None:
        if same_host_incarnation(expected_owner, claimant):
            return None
        if check(expected_owner, LivenessContext(claimant, None, checked_at_ms)):
            return None
        return LivenessEvidence(expected_owner, checked_at_ms, "cross-host-unreachable-stale")

    return probe


def first_evidence(*probes: LivenessProbe) -> LivenessProbe:
    """A probe that asks ``probes`` in order and answers the first evidence."""

    def probe(expected_owner: OwnerId, claimant: OwnerId, checked_at_ms: int) -> LivenessEvidence | None:
        for inner in probes:
            evidence = inner(expected_owner, claimant, checked_at_ms)
            if evidence is not None:
                return evidence
        return None

    return probe
