"""Supervision and stealing as one timed system."""
