"""What an admission function answers instead of a value."""

from collections.abc import Mapping
from typing import final

import attrs


@final
@attrs.frozen
class Refusal:
    """Why an input was refused: field names, lengths and flags, never the value (RS-362)."""

    cause: Mapping[str, object]


def refuse(field: str, detail: str) -> Refusal:
    """The common shape of a refusal (RS-362)."""
    return Refusal({"field": field, "detail": detail})
