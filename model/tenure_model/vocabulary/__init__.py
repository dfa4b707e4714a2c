"""Owners, snapshots, evidence, outcomes, errors and constants: frozen values without logic."""
