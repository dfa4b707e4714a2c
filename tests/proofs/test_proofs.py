"""The finite part of the proofs: every contract over all combinations of its boundary values."""

from itertools import combinations

import pytest

from tests.proofs.catalogue import PROOFS


@pytest.mark.parametrize(("name", "subject"), [(name, subject) for name in PROOFS for subject in PROOFS[name].subjects])
def test_the_contract_holds_for_every_combination(name: str, subject: str) -> None:
    """No combination of boundary values breaks the contract."""
    assert list(PROOFS[name].counterexamples(subject)) == []


@pytest.mark.parametrize(("name", "twin"), [(name, twin) for name in PROOFS for twin in PROOFS[name].wrong])
def test_the_contract_refutes_a_wrong_twin(name: str, twin: str) -> None:
    """A contract that a wrong predicate keeps as well would prove nothing."""
    assert list(PROOFS[name].counterexamples(twin)) != []


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [(name, one, other) for name in PROOFS for one, other in combinations(PROOFS[name].subjects, 2)],
)
def test_model_and_implementation_answer_alike(name: str, one: str, other: str) -> None:
    """No combination of boundary values is answered differently by the two predicates."""
    assert list(PROOFS[name].differences(one, other)) == []
