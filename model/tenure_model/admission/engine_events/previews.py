"""Summaries of results that may be shown: redact first, cut second (JN-384)."""

from tenure_model.admission.canonical_json import encode_plain
from tenure_model.admission.integers import is_safe_integer
from tenure_model.admission.redaction.redactor import DEFAULT_REDACTOR
from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.engine_events.nodes import (
    DEFAULT_PREVIEW_UNITS,
    DEFAULT_REDACTION_BYTES,
    ResultPreview,
)
from tenure_model.vocabulary.journal import JsonHook, Redact


def preview_result(
    value: object,
    *,
    max_units: int = DEFAULT_PREVIEW_UNITS,
    max_redaction_bytes: int = DEFAULT_REDACTION_BYTES,
    redact: Redact = DEFAULT_REDACTOR,
    default: JsonHook | None = None,
) -> ResultPreview | AbsentType:
    """The beginning of the JSON of the redacted value: at most ``max_units`` UTF-16 units, no character split (JN-384).

    ``bytes`` is the size in UTF-8 of the text that was cut. A value of more than ``max_redaction_bytes`` of JSON is not
    redacted: its preview is empty and ``bytes`` is its own size. ``ABSENT`` where the value, or what the redactor makes
    of it, is no JSON, and where the redactor raises: nothing unredacted may pass. ``default`` encodes what is no JSON.
    Both bounds are 0..2**53-1; one that is not is a ``ValueError`` that names it.
    """
    for name, bound in (("max_units", max_units), ("max_redaction_bytes", max_redaction_bytes)):
        if not is_safe_integer(bound):
            raise ValueError(f"{name} must be a non-negative safe integer")
    own = encode_plain(value, default=default)
    if type(own) is not str:
        return ABSENT
    own_bytes = len(own.encode())
    if own_bytes > max_redaction_bytes:
        return ResultPreview("", own_bytes, True)
    try:
        redacted = encode_plain(
            redact(value), default=None if default is None else lambda found: redact(default(found))
        )
    except Exception:  # noqa: BLE001  # whatever a caller's redactor raises, there is no summary
        return ABSENT
    if type(redacted) is not str:
        return ABSENT
    preview = _first_units(redacted, max_units)
    return ResultPreview(preview, len(redacted.encode()), preview != redacted)


def _first_units(text: str, units: int) -> str:
    head = text[:units]
    if head.isascii():
        return head
    # Half a surrogate pair at the cut is no character, and is dropped.
    return head.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore")
