"""The journal's rules as pure functions over an immutable state: one committed history, and instances that write to it.

``commands.apply`` is the way in. Every function here is total, answers new values and leaves those it is given alone.
"""
