"""Live JSON values: `tenure_model.admission.json_values`."""

import copy
import itertools

from hypothesis import given
from hypothesis import strategies as st

from tenure_model.admission.json_values import JsonComplaint, JsonLimits, admit_json_value
from tests.admission.oracle import ANY_VALUES, GOOD_VALUES, SMALL_LIMITS, complaint_about


@given(ANY_VALUES, SMALL_LIMITS)
def test_the_walk_complains_as_the_rules_read_naively(value: object, limits: JsonLimits) -> None:
    """The first complaint is that of a recursive walk in the rules' own words (RS-320..RS-325)."""
    outcome = admit_json_value(value, limits)
    actual = outcome.text if isinstance(outcome, JsonComplaint) else None

    assert actual == complaint_about(value, limits)


@given(GOOD_VALUES)
def test_the_copy_survives_what_is_done_to_the_original(value: object) -> None:
    """Emptying every container of the original leaves the admitted copy as it was (RS-300)."""
    before = copy.deepcopy(value)
    admitted = admit_json_value(value)

    _empty(value)

    assert repr(admitted) == repr(before)


def _empty(value: object) -> None:
    if isinstance(value, list | dict):
        for child in list(value.values() if isinstance(value, dict) else value):
            _empty(child)
        value.clear()


def test_a_container_used_twice_is_two_copies_and_counts_twice() -> None:
    """Sharing is no cycle; the copies are apart, and each is counted (RS-322, RS-325)."""
    shared = [1]

    assert admit_json_value([shared, shared], JsonLimits(values=5)) == [[1], [1]]
    assert admit_json_value([shared, shared], JsonLimits(values=4)) == JsonComplaint("contains more than 4 JSON values")
    copied = admit_json_value([shared, shared])
    assert isinstance(copied, list)
    assert copied[0] is not copied[1]


@given(st.integers(1, 6), st.integers(0, 8))
def test_a_cycle_is_found_wherever_it_closes(length: int, entry: int) -> None:
    """A chain of arrays that closes upon any of its own arrays is a cycle, not a matter of depth (RS-325)."""
    chain: list[list[object]] = [[] for _ in range(length)]
    for outer, inner in itertools.pairwise(chain):
        outer.append(inner)
    chain[-1].append(chain[entry % length])

    assert admit_json_value(chain[0]) == JsonComplaint("contains a cycle")
