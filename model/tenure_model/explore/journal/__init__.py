"""Searching the journal: scopes of sessions that emit, write, flush, compact, crash and close in every order."""
