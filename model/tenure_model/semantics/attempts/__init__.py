"""Attempts: the rows, and one function an operation.

Each function takes the world, the attempts beside it, the store's options and the operation's arguments as supplied,
and answers an ``AttemptStep``. It admits the arguments in the order its rule states, then decides.
"""
