"""What redaction writes in place of what it takes out (JN-051)."""

from typing import Final

PLACEHOLDER: Final = "[REDACTED]"
BINARY_MARK: Final = "[Binary]"
FUNCTION_MARK: Final = "[Function]"
DEEP_MARK: Final = "[Deep]"
CIRCULAR_MARK: Final = "[Circular]"

MARKS: Final = frozenset({PLACEHOLDER, BINARY_MARK, FUNCTION_MARK, DEEP_MARK, CIRCULAR_MARK})
"""Texts that no rule touches, so that redacting again changes nothing (JN-060). A port whose language has symbols adds
``[Symbol]``; no Python value is one.
"""
