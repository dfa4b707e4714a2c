"""What every operation of the attempt store works with."""

from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

import attrs

from tenure.attempts.failures import invalid, storage_failure, undecodable_row
from tenure.database.engine import Bindings, SqlRow, Statements, UndecodableTextError, UsageError
from tenure.database.writer import AfterCommitError, Database
from tenure.metrics.observer import Observer
from tenure_model.admission.attempt_options import admit_attempt_options
from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.admission.json_encoding import encode_json
from tenure_model.vocabulary.attempt_errors import AttemptStoreError
from tenure_model.vocabulary.attempts import AttemptOptions

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


@attrs.frozen
class AttemptContext:
    """The database, the statements of its open transaction, the admitted options, their states as a JSON array,
    and the observer.
    """

    database: Database
    rows: Statements
    options: AttemptOptions
    in_progress_json: str
    observer: Observer = attrs.Factory(Observer)

    def write(
        self, method: str, body: Callable[["AttemptContext", *Arguments], Result], *arguments: *Arguments
    ) -> Result:
        """Run ``body`` in one transaction, or a savepoint of the caller's, with its failures translated (RS-365)."""
        try:
            return self.database.write(body, self, *arguments)
        except (AttemptStoreError, AfterCommitError, UsageError):
            raise
        except UndecodableTextError:
            raise undecodable_row(method) from None
        except Exception as error:
            raise storage_failure(method, error) from error

    def read(self, method: str, sql: str, bindings: Bindings) -> list[SqlRow]:
        """Run one SELECT outside any transaction, or inside the caller's (RS-390)."""
        try:
            return self.database.read(sql, bindings)
        except UndecodableTextError:
            raise undecodable_row(method) from None
        except UsageError:
            raise
        except Exception as error:
            raise storage_failure(method, error) from error


def admit_options(options: object) -> AttemptOptions:
    """The policy of a store with every default filled in, or ``invalid_attempt`` of ``makeWith`` (RS-800..RS-804)."""
    admitted = admit_attempt_options(options)
    if type(admitted) is AttemptRefusal:
        raise invalid("makeWith", admitted)
    return admitted


def new_context(database: Database, options: AttemptOptions, observer: Observer) -> AttemptContext:
    """What a store over ``database`` under this admitted policy works with."""
    return AttemptContext(database, database.rows, options, encode_json(list(options.in_progress_states)), observer)
