"""Tests of the run store over SQLite."""
