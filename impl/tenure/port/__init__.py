"""The store as a system that can be driven step by step: by traces, by the fuzzer, by whoever compares ports."""

from tenure.port.journal import JournalStoreSystem
from tenure.port.runs import StoreSystem

__all__ = ["JournalStoreSystem", "StoreSystem"]
