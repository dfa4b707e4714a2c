"""Who may be taken for dead, and the supervision that ends the work of an owner before it can be (RS-900..RS-918)."""

from tenure.ownership.evidence import (
    LivenessProbe,
    cross_host_unreachable,
    first_evidence,
    lease_expired,
    same_host_pid_dead,
)
from tenure.ownership.lease import Lease, LeaseLost, LossReason
from tenure.ownership.liveness import (
    LivenessCheck,
    LivenessContext,
    lease_liveness,
    same_host_incarnation,
    same_host_pid_probe,
)
from tenure.ownership.timing import Timing

__all__ = [
    "Lease",
    "LeaseLost",
    "LivenessCheck",
    "LivenessContext",
    "LivenessProbe",
    "LossReason",
    "Timing",
    "cross_host_unreachable",
    "first_evidence",
    "lease_expired",
    "lease_liveness",
    "same_host_incarnation",
    "same_host_pid_dead",
    "same_host_pid_probe",
]
