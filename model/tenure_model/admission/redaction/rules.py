"""Textual rules: what one is, and their application until nothing changes (JN-056, JN-060, JN-061, JN-065)."""

import re
from collections.abc import Sequence
from typing import Final, Protocol

import attrs

from tenure_model.admission.redaction.marks import MARKS, PLACEHOLDER

MOST_PASSES: Final = 8
"""How often the rules are applied to one text. What still changes then is replaced whole (JN-065)."""

MOST_GROWTH: Final = 16
SMALL_TEXT: Final = 1_024
"""A text may grow to 16 times its length plus this many characters. A rule whose replacement it matches itself would
else multiply the text with every pass.
"""


class TextRule(Protocol):
    """A rule has a name and rewrites a text; it holds no state between calls, and takes time linear in the text."""

    @property
    def id(self) -> str:
        """The rule's name."""
        ...

    def apply(self, text: str, /) -> str:
        """The text with every match rewritten."""
        ...


@attrs.frozen
class RedactionRule:
    """A rule of the caller's own: every match of ``pattern`` becomes ``replacement``, a template as of ``re.sub``
    (JN-061).

    Whether it is linear is up to the pattern. Raises ``re.error`` or ``TypeError`` when built from no usable template
    or a pattern of bytes.
    """

    id: str
    pattern: re.Pattern[str]
    replacement: str = PLACEHOLDER

    def __attrs_post_init__(self) -> None:
        self.pattern.sub(self.replacement, "")

    def apply(self, text: str) -> str:
        """The text with every match replaced."""
        return self.pattern.sub(self.replacement, text)


def redact_text(text: str, rules: Sequence[TextRule]) -> str:
    """The text after as many passes of all rules, in order, as it takes until one changes nothing (JN-056, JN-060).

    At most 8 passes are made; a text that the last of them still changed, or that grows beyond all measure, becomes the
    placeholder. The marks of redaction itself are left alone.
    """
    if text[:1] == "[" and text in MARKS:
        return text
    longest = len(text) * MOST_GROWTH + SMALL_TEXT
    for _ in range(MOST_PASSES):
        redacted = text
        for rule in rules:
            redacted = rule.apply(redacted)
            if len(redacted) > longest:
                return PLACEHOLDER
        if redacted == text:
            return text
        text = redacted
    return PLACEHOLDER
