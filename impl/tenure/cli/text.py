"""Text from a database on a terminal."""


def printable(text: object) -> str:
    """What stands in the database, with control characters shown instead of obeyed."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(text))
