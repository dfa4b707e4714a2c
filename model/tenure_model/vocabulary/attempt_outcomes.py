"""Every answer of the attempt store that is not a value read: one frozen class a tag, one alias a union.

``FenceLost``, ``NotFound`` and ``Updated`` are the run store's own classes. A loss is an answer, never an error
(RS-364).
"""

from typing import TypeAlias

import attrs

from tenure_model.vocabulary.outcomes import FenceLost, NotFound, Updated


@attrs.frozen
class Inserted:
    """The attempt is recorded (RS-822)."""


@attrs.frozen
class Upserted:
    """The attempt was in progress and every column of it is overwritten (RS-822)."""


@attrs.frozen
class ExistingSame:
    """The attempt is recorded already, field for field as supplied (RS-822, RS-823)."""


@attrs.frozen
class Conflict:
    """Another attempt is recorded under this key; it stands (RS-822)."""


@attrs.frozen
class RunNotFound:
    """There is no run to record an attempt of (RS-822)."""


@attrs.frozen
class Finished:
    """The attempt has ended, in the state supplied (RS-851)."""


@attrs.frozen
class Patched:
    """The fields supplied are replaced (RS-861)."""


@attrs.frozen
class StateChanged:
    """You own the run, and the attempt is no longer in progress (RS-842)."""


PutResult: TypeAlias = Inserted | Upserted | ExistingSame | Conflict | FenceLost | RunNotFound
AttemptHeartbeatResult: TypeAlias = Updated | FenceLost | NotFound | StateChanged
FinishResult: TypeAlias = Finished | FenceLost | NotFound | StateChanged
PatchResult: TypeAlias = Patched | NotFound | FenceLost
