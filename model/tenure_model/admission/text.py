"""Durable text: what an identifier may be (RS-301, RS-302)."""

from typing import TypeGuard

from tenure_model.vocabulary.constants import MAX_IDENTIFIER_UNITS


def is_durable_text(value: object) -> TypeGuard[str]:
    """Whether ``value`` is an exact ``str`` of 1..1024 UTF-16 units without U+0000 and without surrogates (RS-301).

    U+FFFD is ordinary and an astral character counts as two units. Subclasses of ``str`` are refused unread.
    """
    if type(value) is not str or not 0 < len(value) <= MAX_IDENTIFIER_UNITS or "\0" in value:
        return False
    return value.isascii() or (not has_surrogate(value) and utf16_length(value) <= MAX_IDENTIFIER_UNITS)


def utf16_length(text: str) -> int:
    """The length of ``text`` in UTF-16 code units; a lone surrogate is one unit (RS-014, RS-301)."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def has_surrogate(text: str) -> bool:
    """Whether any code point U+D800..U+DFFF occurs in ``text``; two that would pair up are refused too (RS-301)."""
    if text.isascii():
        return False
    try:
        # The UTF-8 encoder refuses exactly the surrogates, and is several times faster than a search for them.
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
