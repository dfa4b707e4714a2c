"""The redactors a journal can be given (JN-050, JN-059, JN-061, JN-064), and redaction of JSON text (JN-063)."""

from collections.abc import Iterable
from functools import partial
from typing import Final, Literal

import attrs

from tenure_model.admission.canonical_json import decode_json, encode_plain
from tenure_model.admission.json_text import NO_JSON_COMPLAINT
from tenure_model.admission.json_values import JsonComplaint
from tenure_model.admission.redaction.baseline import BASELINE_RULES, may_hold_secrets
from tenure_model.admission.redaction.marks import PLACEHOLDER
from tenure_model.admission.redaction.rules import TextRule, redact_text
from tenure_model.admission.redaction.walk import Walk, redact_value
from tenure_model.vocabulary.journal import CANONICAL_DEPTH, JsonHook, Redact

_PLACEHOLDER_JSON: Final = f'"{PLACEHOLDER}"'


def _redact_with_baseline(text: str) -> str:
    return redact_text(text, BASELINE_RULES) if may_hold_secrets(text) else text


def _as_tuple(rules: Iterable[TextRule]) -> tuple[TextRule, ...]:
    return tuple(rules)


def _build_walk(redactor: "Redactor") -> Walk:
    rules = redactor.rules
    text = _redact_with_baseline if rules == BASELINE_RULES else partial(redact_text, rules=rules)
    return Walk(text, redactor.max_depth, redactor.on_too_deep == "name", redactor.default)


@attrs.frozen
class Redactor:
    """The built-in redactor: call it with a value, and it answers a redacted copy (JN-050..JN-062).

    ``rules`` replaces the textual rules; without any, sensitive members are still replaced (JN-061). ``max_depth`` is
    how many containers may be wrapped around a value; beyond, ``on_too_deep`` says whether to raise ``RedactionError``
    or to write ``[Deep]`` (JN-059). ``default`` encodes what is no JSON, and its answer is redacted too (JN-057).
    Redacting again changes nothing (JN-060).

    Python's binary values have no members besides their bytes, so JN-058's limit on walking those limits nothing here.
    """

    rules: tuple[TextRule, ...] = attrs.field(default=BASELINE_RULES, converter=_as_tuple, repr=False)
    max_depth: int = CANONICAL_DEPTH
    on_too_deep: Literal["raise", "name"] = "raise"
    default: JsonHook | None = None
    _walk: Walk = attrs.field(default=attrs.Factory(_build_walk, takes_self=True), init=False, repr=False, eq=False)

    def __call__(self, value: object) -> object:
        """A redacted copy of ``value``, inert but for what is no JSON and no hook encodes."""
        # Most metas are missing.
        return None if value is None else redact_value(value, self._walk)


DEFAULT_REDACTOR: Final = Redactor()
"""The redactor of a journal that is given none (JN-050)."""


def make_noop_redactor() -> Redact:
    """A redactor that changes nothing: what it is given is stored as it is (JN-064)."""
    return _unchanged


def redact_json_string(json_text: str, redact: Redact = DEFAULT_REDACTOR) -> str:
    """The JSON text of the redacted value, members in their order (JN-063).

    Text that is no JSON comes back as it is. Where the redactor raises, or its answer is no JSON, the answer is the
    JSON string of the placeholder.
    """
    value = decode_json(json_text)
    if type(value) is JsonComplaint:
        return json_text if value.text == NO_JSON_COMPLAINT.text else _PLACEHOLDER_JSON
    try:
        redacted = encode_plain(redact(value))
    except Exception:  # noqa: BLE001  # whatever a caller's redactor raises, nothing unredacted may pass
        return _PLACEHOLDER_JSON
    return redacted if type(redacted) is str else _PLACEHOLDER_JSON


def _unchanged(value: object) -> object:
    return value
