"""The executable state of a run: JSON text, stored as the caller's own characters (RS-314, RS-315)."""

from collections.abc import Mapping

from tenure_model.admission.json_text import NO_JSON_COMPLAINT, NO_TEXT_COMPLAINT, json_text_complaint
from tenure_model.admission.refusal import Refusal
from tenure_model.admission.text import utf16_length


def is_run_state(value: object) -> bool:
    """Whether ``value`` is text that may be the state of a run; it has no ceiling in bytes (RS-314)."""
    return json_text_complaint(value) is None


def admit_run_state(value: object, shape: Mapping[str, object]) -> str | Refusal:
    """The text unchanged, or a refusal whose cause is the operation's ``shape`` and two facts about the text (RS-315).

    ``stateJsonLength`` is its length in UTF-16 units, ``None`` for what is no exact ``str``; ``stateJsonValid`` says
    only whether it parses as JSON, so a document that is merely too deep is valid. The complaint itself is dropped.
    """
    complaint = json_text_complaint(value)
    if type(value) is str and complaint is None:
        return value
    return Refusal(
        {
            **shape,
            "stateJsonLength": utf16_length(value) if type(value) is str else None,
            "stateJsonValid": complaint not in (NO_TEXT_COMPLAINT, NO_JSON_COMPLAINT),
        }
    )
