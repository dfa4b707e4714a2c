"""How an operation ends."""

import attrs
import pytest

from tenure_model.admission.refusal import refuse
from tenure_model.semantics import steps
from tenure_model.semantics.steps import Step
from tenure_model.semantics.world import empty_world
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.outcomes import NotFound

WORLD = empty_world()
NONE: frozenset[str] = frozenset()


def test_refused() -> None:
    """Invalid input carries the refusal's cause and needs no transaction (RS-361, RS-362)."""
    error = RunStoreError("invalid_run", "claim", "run input is invalid", {"field": "f", "detail": "d"})

    assert steps.refused(WORLD, "claim", refuse("f", "d")) == Step(WORLD, error, NONE, transacted=False)
    assert str(error) == "invalid_run: RunStore.claim: run input is invalid"


def test_answered_and_unchanged_differ_by_the_transaction() -> None:
    """Both leave the world; only one had to wait for other writers (RS-390)."""
    assert steps.answered(WORLD, NotFound()) == Step(WORLD, NotFound(), NONE, transacted=False)
    assert steps.unchanged(WORLD, NotFound()) == Step(WORLD, NotFound(), NONE, transacted=True)


def test_committed() -> None:
    """A write ends in the world after it, with the repairs that made it."""
    after = attrs.evolve(WORLD, revision=2**53 - 1)

    assert steps.committed(WORLD, after, "m", True, frozenset({"R-1"})) == Step(
        after, True, frozenset({"R-1"}), transacted=True
    )


def test_committed_past_the_last_revision() -> None:
    """One revision too many leaves the world before, no repair fired, and the schema's refusal (RS-164)."""
    after = attrs.evolve(WORLD, revision=2**53)

    assert steps.committed(WORLD, after, "m", True, frozenset({"R-1"})) == steps.violated(WORLD, "m")


@pytest.mark.parametrize(
    ("database_code", "code"),
    [
        ("constraint", "constraint"),
        ("busy", "persistence_failed"),
        ("io", "persistence_failed"),
        ("unsupported", "persistence_failed"),
        ("unknown", "persistence_failed"),
    ],
)
def test_database_failure(database_code: str, code: str) -> None:
    """Only a constraint keeps its code; the cause keeps every database code (RS-363)."""
    error = steps.database_failure(database_code, "get")

    assert (error.code, error.method, error.text) == (code, "get", "database operation failed")
    assert error.cause == {"category": code, "cause": {"code": database_code}}
