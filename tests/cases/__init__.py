"""Failures that people reported of systems of this class, each as a test named after its case (BR-nn).

A check is a function over ``make``, which answers a fresh subject: the model or the real store. Where a wrong
statement, strategy or answer can bring the failure back, a mutant does so, and the check must fail on it.
"""
