"""Tests of liveness, evidence and supervision."""
