"""Tests of the attempt store."""
