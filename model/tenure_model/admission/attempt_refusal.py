"""What admission answers about attempts instead of a value."""

from typing import final

import attrs


@final
@attrs.frozen
class AttemptRefusal:
    """Why an input was refused, as the text of ``invalid_attempt``; it never quotes the input (RS-365)."""

    text: str
