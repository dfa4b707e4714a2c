"""The finite part of the proofs: every contract over all combinations of its boundary values."""

from itertools import combinations

import pytest

from tests.proofs.catalogue import PROOFS
from tests.proofs.checks import Job, run


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


def test_a_verdict_says_how_much_it_stands_on() -> None:
    """What was only enumerated says so, what was refuted stands on nothing, and what cannot be checked is bad."""
    verdicts = [
        run(Job(check, "staleness", (subject,)))
        for check, subject in (("enumeration", "store"), ("enumeration", "wrong on absence"), ("diffbehavior", "store"))
    ]

    assert [(verdict.good, verdict.standing) for verdict in verdicts] == [
        (True, "enumerated"),
        (True, None),
        (False, None),
    ]
