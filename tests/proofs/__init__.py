"""Proofs of the pure predicates: `python -m tests.proofs` for all of it, the test suite for the finite part."""
