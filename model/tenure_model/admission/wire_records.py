"""Records as the wire brings them: exact dictionaries with exact string keys (RS-304, JN-024)."""


def wire_members(value: object) -> dict[str, object] | None:
    """A copy of an exact ``dict`` whose keys are exact strings, else ``None``. Nothing of a foreign type is run.

    Rules RS-300, RS-304, RS-305: the copy is inert, and what is in it is the caller's to judge.
    """
    if type(value) is not dict:
        return None
    try:
        # A list of pairs, because ``dict.copy`` may compare keys with equal hashes, and so run a foreign ``__eq__``.
        pairs = list(value.items())
    except RuntimeError:
        # Another thread resized it meanwhile: it cannot be inspected.
        return None
    for key, _ in pairs:
        if type(key) is not str:
            return None
    return dict(pairs)
