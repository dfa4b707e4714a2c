"""Failures that people reported of systems of this class, each as a test named after its case (BR-nn).

A check is a function over ``make``, which answers a fresh subject: the model or the real store. Where the failure can be
brought back by a wrong statement, strategy or answer, a mutant does so, and the check must fail on it.
"""
