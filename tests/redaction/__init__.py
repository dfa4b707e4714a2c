"""Tests of `tenure_model.admission.redaction`."""
