"""Supervision and stealing as one timed system: how close two owners come, exactly, and under which assumptions."""
