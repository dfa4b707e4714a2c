"""Heartbeats and reconfirmations of several runs, written in one transaction where they are due together.

A beat that fails takes no other down: each is a savepoint, and where the transaction as a whole failed, each beat gets
one of its own.
"""

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import attrs

from tenure.database.retry import is_transient
from tenure.runs.failures import storage_failure
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.outcomes import HeartbeatOutcome
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.supervision import Defect, HeartbeatResult, Interruption, StoreFailure

BeatCall: TypeAlias = Callable[[str, OwnerId, int], HeartbeatOutcome]


@attrs.define(eq=False)
class Beat:
    """One call that is due. ``open`` until it is answered or given up: nothing is written for one that was given up,
    except where the write was under way already.
    """

    kind: Literal["heartbeat", "reconfirm"]
    run_id: str
    owner: OwnerId
    now_ms: int
    open: bool = True


@attrs.frozen
class BeatCalls:
    """How a beat reaches the store. ``write`` runs its argument in one transaction, perhaps several times."""

    write: Callable[[Callable[[], None]], None]
    heartbeat: BeatCall
    reconfirm: BeatCall


def perform(calls: BeatCalls, beats: Sequence[Beat]) -> list[HeartbeatResult | None]:
    """Write the beats; answer what each came to, in order, ``None`` for one that was given up. Never raises."""
    results: list[HeartbeatResult | None] = []

    def body() -> None:
        results[:] = [_call(calls, beat) if beat.open else None for beat in beats]

    try:
        calls.write(body)
    except Exception as error:  # noqa: BLE001  # it becomes the result of the beats
        # Busy means that the database is somebody else's: the next beat would only wait as long again.
        if len(beats) == 1 or is_transient(error):
            return [_failure(beat, error) for beat in beats]
        return [result for beat in beats for result in perform(calls, (beat,))]
    return results


def _call(calls: BeatCalls, beat: Beat) -> HeartbeatResult:
    call = calls.heartbeat if beat.kind == "heartbeat" else calls.reconfirm
    try:
        return call(beat.run_id, beat.owner, beat.now_ms)
    except RunStoreError as error:
        return StoreFailure(error.code)
    except Exception as error:  # noqa: BLE001  # a failure that is no store error ends its own run only (RS-911)
        return Defect(error)
    except BaseException:  # noqa: BLE001  # cancelled from within itself (RS-913)
        return Interruption()


def _failure(beat: Beat, error: Exception) -> HeartbeatResult:
    """The transaction failed, not the call in it: what the call alone would have raised (RS-363)."""
    return StoreFailure(storage_failure(beat.kind, error).code)
