"""Searching the model: every state of a scope, and what holds in all of them."""
