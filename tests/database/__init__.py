"""Tests of what stands between the stores and SQLite."""
