"""Supervision of an owned run: the machine, what it must keep, its life in time, and how much time it leaves."""
