"""Tests of the supervision model."""
