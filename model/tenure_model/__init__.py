"""The formal model of durable runs: vocabulary, admission, semantics, and what drives them.

PYTEST_DONT_REWRITE: see ``tenure``, with which this is installed.
"""
