"""What every operation of the run store works with."""

import math
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

import attrs

from tenure.consensus.strategy import ConsensusStrategy
from tenure.database.engine import Bindings, SqlRow, Statements, UndecodableTextError, UsageError
from tenure.database.writer import AfterCommitError, Database
from tenure.facts import FactRecorder
from tenure.metrics.observer import Observer
from tenure.runs.failures import storage_failure, undecodable_row
from tenure.runs.statements import EXISTS
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.facts import OwnershipFact, OwnershipTransition
from tenure_model.vocabulary.owners import OwnerId

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


@attrs.frozen
class RunContext:
    """The database, the statements of its open transaction, the strategy, the clock in ms, the recorder if any, and the
    observer.
    """

    database: Database
    rows: Statements
    consensus: ConsensusStrategy
    clock: Callable[[], float]
    recorder: FactRecorder | None
    observer: Observer = attrs.Factory(Observer)

    def now(self) -> int:
        """The store's clock in whole milliseconds, rounded down (RS-003, RS-392)."""
        reading = self.clock()
        return reading if type(reading) is int else math.floor(reading)

    def write(self, method: str, body: Callable[["RunContext", *Arguments], Result], *arguments: *Arguments) -> Result:
        """Run ``body`` in one transaction, or a savepoint of the caller's, with its failures translated (RS-363)."""
        try:
            return self.database.write(body, self, *arguments)
        except (RunStoreError, AfterCommitError, UsageError):
            raise
        except Exception as error:
            raise storage_failure(method, error) from error

    def read(self, method: str, run_id: str, sql: str, bindings: Bindings) -> list[SqlRow]:
        """Run one SELECT outside any transaction, or inside the caller's (RS-390)."""
        try:
            return self.database.read(sql, bindings)
        except UndecodableTextError:
            raise undecodable_row(method, run_id) from None
        except UsageError:
            raise
        except Exception as error:
            raise storage_failure(method, error) from error

    def record(self, run_id: str, transition: OwnershipTransition, owner: OwnerId, granted_at_ms: int | None) -> None:
        """Hand one granted transition to the recorder, inside the transaction (RS-393, RS-703)."""
        if self.recorder is not None:
            self.recorder.record(OwnershipFact(run_id, transition, owner, granted_at_ms))

    def exists(self, run_id: str) -> bool:
        """Whether the run's row is there, seen from the open transaction."""
        return bool(self.rows(EXISTS, (run_id,)))
