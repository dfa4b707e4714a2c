"""Claims and evidence: who blocks whom, and what is believed. H-16 and H-18."""

from typing import Final

import attrs

from tenure_model.explore.hazards.hazard import Hazard
from tenure_model.explore.hazards.looking import Signs, sign
from tenure_model.explore.hazards.places import NEIGHBOUR, RIGHT, A, B
from tenure_model.explore.judging import Transition
from tenure_model.explore.scope import Participant, honest
from tenure_model.vocabulary.evidence import LivenessEvidence


def _asserted_of_a(taken: Transition) -> bool:
    proof = taken.command.arguments.get("evidence")
    return isinstance(proof, LivenessEvidence) and (proof.expected_owner, proof.kind) == (A, "lease-expired")


TAKEOVERS: Final = (
    Hazard(
        "H-16",
        "A dead thief blocks a live owner",
        what_happens=(
            "A thief dies between steal and activation. The owner's ordinary heartbeats pass beside the claim, but "
            "after a stall its reconfirm is refused and healthy work is stopped; nobody else gets the run until "
            "somebody recovers the claim, 30,000 ms after it was made."
        ),
        reference_does="The same. `recoverClaim` clears the way once the claim is stale.",
        port_must="Recover stale claims as part of every takeover, and activate soon after a steal.",
        repaired_by=None,
        evidence=Signs(
            attrs.evolve(
                RIGHT,
                name="right clocks, three owners",
                participants=(*RIGHT.participants, Participant(NEIGHBOUR, honest(0))),
            ),
            (
                sign("the thief, and its last call", "run.steal", "Claimed", B),
                sign("a beat passes", "run.heartbeat", "Updated", A),
                sign("a reconfirm does not, so the work is stopped", "run.reconfirm", "FenceLost", A),
                sign("nor does anybody else", "run.claimAndOwn", "AlreadyClaimed", NEIGHBOUR),
            ),
        ),
    ),
    Hazard(
        "H-18",
        "Evidence is asserted, not verified",
        what_happens=(
            "The store compares evidence with the call and believes the rest. `lease-expired` needs no look at the "
            "process and is believed on the same host too; that a host cannot be reached is nobody's to check; and a "
            "pid that was given to another process keeps a dead owner alive to those who do look."
        ),
        reference_does="The same: evidence is the caller's word. The library has probes that make it by looking.",
        port_must="Gather evidence in one place, look at the pid on the same host, and log what was asserted.",
        repaired_by=None,
        evidence=Signs(
            attrs.evolve(
                RIGHT,
                name="right clocks, two processes of one host",
                participants=(Participant(A, honest(0)), Participant(NEIGHBOUR, honest(0))),
            ),
            (
                sign("nobody looked at the pid", "run.claimAndOwn", "Activated", NEIGHBOUR, _asserted_of_a),
                sign("and it was alive", "run.heartbeat", "FenceLost", A),
            ),
        ),
    ),
)
"""H-16 and H-18."""
