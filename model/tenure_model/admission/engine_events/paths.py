"""Paths that mean something on other machines than the writer's (JN-379, JN-380)."""

import re
from typing import Final

_DRIVE_ROOT: Final = re.compile(r"[A-Za-z]:[/\\]?")


def relative_path(root: object, path: object) -> str | None:
    """``path`` relative to ``root``, or ``None`` where there is no such thing (JN-380).

    Both are compared as text, nothing is normalised. There is none without a root (``None``, ``ABSENT``, empty), for a
    root that is a whole file system (``/``, ``C:``, ``C:\\``), and for a path elsewhere or the root itself.
    """
    if type(root) is not str or type(path) is not str or root in ("", "/") or _DRIVE_ROOT.fullmatch(root):
        return None
    prefix = root if root.endswith("/") else f"{root}/"
    return path[len(prefix) :] or None if path.startswith(prefix) else None
