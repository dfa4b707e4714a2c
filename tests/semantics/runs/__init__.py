"""Tests of the operations of the run store, one module per module."""
