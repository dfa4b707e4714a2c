"""One function per operation of the run store.

Every function takes the world, the store's clock where the operation reads it (whole milliseconds, RS-003), and the
arguments as they were supplied, of any type, ``ABSENT`` for one that was not. It admits them in the order its rule
states, the first refusal wins, and answers a ``Step``. No function raises and none changes the world it was given.
"""
