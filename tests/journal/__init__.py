"""Tests of the journal over SQLite."""
