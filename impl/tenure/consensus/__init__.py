"""What arbitrates ownership: a strategy over lease slots, and three of them (RS-200..RS-212).

A strategy is asked inside the transaction that writes the run row. The row mirrors the lease; the lease decides.
"""

from tenure.consensus.database import DatabaseConsensus
from tenure.consensus.local import LocalConsensus
from tenure.consensus.noop import NoopConsensus
from tenure.consensus.strategy import ConsensusError, ConsensusStrategy, Granted, Rejected, Renewed

__all__ = [
    "ConsensusError",
    "ConsensusStrategy",
    "DatabaseConsensus",
    "Granted",
    "LocalConsensus",
    "NoopConsensus",
    "Rejected",
    "Renewed",
]
