"""The journal's semantics, a module of tests for each concept."""
