"""The run store: one row per run, its owner, its cancellation, its state (RS-400..RS-525)."""

from tenure.runs.store import RunStore

__all__ = ["RunStore"]
