"""Tests of the model's semantics, one module per module."""
