"""The value of an argument that was not supplied.

Absent and ``None`` differ wherever the rules say so (RS-311, RS-312, RS-500): an omitted guard is no guard, a guard of
``None`` is invalid input.
"""

import enum
from typing import Final, Literal, TypeAlias


class Absent(enum.Enum):
    """The one-member type of ``ABSENT``; an enum member so that type checkers can narrow on ``is ABSENT``."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT
AbsentType: TypeAlias = Literal[Absent.ABSENT]
