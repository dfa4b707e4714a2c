"""What an attempt of a step looks like, and what a caller says about one (RS-110, RS-800..RS-803, RS-813).

The classes check nothing when they are built; every operation admits what it is given. ``ABSENT`` in a field means that
nothing was said, ``None`` in a JSON field that null was. Times are milliseconds, range-checked one by one (RS-815).
"""

from typing import Final, Literal, TypeAlias

import attrs

from tenure_model.vocabulary.absent import ABSENT, AbsentType

PutMode: TypeAlias = Literal["insert", "upsert"]

PUT_MODES: Final[tuple[PutMode, ...]] = ("insert", "upsert")

MAX_CHECKPOINT_BYTES: Final = 16 * 1024 * 1024
"""The largest checkpoint any configuration admits, in bytes of compact JSON (RS-014, RS-802)."""

DEFAULT_MAX_CHECKPOINT_BYTES: Final = 1024 * 1024
"""The largest checkpoint of a store that was told nothing, in bytes of compact JSON (RS-802)."""

MAX_IN_PROGRESS_STATES: Final = 256
"""Most states that may mean "still moving" (RS-801)."""

MAX_IN_PROGRESS_BYTES: Final = 64 * 1024
"""How large the list of those states may be, in bytes of compact JSON (RS-801)."""

DEFAULT_IN_PROGRESS_STATES: Final = ("running",)
"""What means "still moving" in a store that was told nothing (RS-801)."""


@attrs.frozen
class AttemptId:
    """The key of an attempt: which run, which step of it, and the how manyth try, 0..2**53-1 (RS-110, RS-812)."""

    run_id: str
    step_key_digest: str
    attempt: int


@attrs.frozen
class Attempt:
    """One attempt, as ``put`` takes it and ``get`` answers it. Passes as an ``AttemptId`` (RS-812, RS-820, RS-830).

    ``state`` is a word of the step executor. ``checkpoint``, ``error``, ``outcome`` and ``meta`` are JSON that the
    store carries unchanged, ``meta`` always there.
    """

    run_id: str
    step_key_digest: str
    attempt: int
    state: str
    started_at_ms: int
    meta: object
    finished_at_ms: int | AbsentType = ABSENT
    heartbeat_at_ms: int | AbsentType = ABSENT
    checkpoint: object = ABSENT
    error: object = ABSENT
    outcome: object = ABSENT


@attrs.frozen
class FinishAttempt:
    """How an attempt ended. ``state`` is not in progress; what is absent stays as recorded (RS-850, RS-851)."""

    run_id: str
    step_key_digest: str
    attempt: int
    state: str
    finished_at_ms: int
    error: object = ABSENT
    outcome: object = ABSENT
    meta: object = ABSENT


@attrs.frozen
class AttemptPatch:
    """New values of the opaque fields; what is absent stays as recorded (RS-860, RS-861)."""

    checkpoint: object = ABSENT
    error: object = ABSENT
    outcome: object = ABSENT
    meta: object = ABSENT


@attrs.frozen
class AttemptOptions:
    """The policy of an attempt store (RS-800..RS-803).

    Heartbeats and finishes ask whether the stored state is among ``in_progress_states``. ``max_checkpoint_bytes``,
    1..16777216, bounds the compact JSON of a checkpoint. Under ``upsert`` a put overwrites an attempt in progress.
    """

    in_progress_states: tuple[str, ...] = DEFAULT_IN_PROGRESS_STATES
    max_checkpoint_bytes: int = DEFAULT_MAX_CHECKPOINT_BYTES
    put_mode: PutMode = "insert"
