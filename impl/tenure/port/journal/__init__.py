"""The store with its journal as a system that is driven step by step, each group of steps in a module of its own."""

from tenure.port.journal.system import JournalStoreSystem as JournalStoreSystem
