"""The attempt store: one row per attempt at a step of a run, fenced on the run's owner (RS-800..RS-862)."""

from tenure.attempts.store import AttemptStore

__all__ = ["AttemptStore"]
