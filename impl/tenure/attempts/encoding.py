"""From an admitted JSON value to the text that is stored of it (RS-813, RS-814)."""

import json
from typing import Final, cast

from tenure_model.admission.json_encoding import encode_json
from tenure_model.admission.json_values import JsonValue
from tenure_model.vocabulary.absent import ABSENT

_COMPACT_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))


def stored_text(value: object) -> str | None:
    """What is bound for an admitted value: its compact text as ``encode_json`` spells it, SQL's null for ``ABSENT``."""
    if value is ABSENT:
        return None
    try:
        text = _COMPACT_ENCODER.encode(value)
    except RecursionError:
        # The caller stands close to the interpreter's limit.
        return encode_json(cast("JsonValue", value))
    # The standard encoder is several times faster, and differs in how it spells floats, which have one of these.
    return encode_json(cast("JsonValue", value)) if "." in text or "e+" in text or "e-" in text else text
