"""Each demonstration shows what its hazard says."""

from collections.abc import Callable

import pytest

from tenure_model.explore.journal import demonstrations


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (demonstrations.stuck_claim, ["Claimed", "done", "AlreadyClaimed", "Recovered", "Claimed"]),
        (demonstrations.clock_ahead, ["Claimed"]),
        (demonstrations.unknown_commit, ["Accepted", "Duplicate", "Accepted", "Accepted"]),
        (demonstrations.secrets_look_alike, ["Accepted", "Duplicate"]),
        (demonstrations.clock_back, ["Accepted", "Accepted", "done", "Duplicate", "Accepted"]),
        (demonstrations.corrupt_row, ["done", "decode_failed"]),
        (demonstrations.rewound, ["done", "Generation", "Accepted", "[]"]),
    ],
)
def test_histories(lines: Callable[[], tuple[str, ...]], expected: list[str]) -> None:
    """Step by step, what was answered."""
    answers = [line.partition(" -> ")[2] for line in lines() if " -> " in line]

    assert [answer.partition("(")[0].partition(":")[0] for answer in answers] == expected


def test_a_stamp_that_is_not_there() -> None:
    """It is never stale, where any other is after a year."""
    assert demonstrations.stuck_claim()[-1] == "a year later a stamp is stale: True; no stamp is: False"


def test_tombstones() -> None:
    """Five identities are left of five entries that are gone."""
    assert demonstrations.tombstones_stay()[-1].strip().startswith("r has 5=p5 above floor 5, 5 buried")


def test_starvation() -> None:
    """The compaction still waits, and the run has three rows more."""
    lines = demonstrations.starved_compaction()

    assert sum("compact.poll(ticket=1) -> Waiting" in line for line in lines) == 3
    assert lines[-1] == "17. a: compact.poll(ticket=1) -> Waiting(ticket=1)"


def test_calls() -> None:
    """Prose that is redacted, a secret that is not quoted, a path of another system."""
    assert "'a Basic [REDACTED_TOKEN] of use'" in demonstrations.prose()[0]
    assert not any("hunter2" in line for line in demonstrations.causes()[1:])
    assert [line.rpartition(": ")[2] for line in demonstrations.foreign_paths()] == [
        "accepted",
        "refused as absolute",
        "accepted",
    ]
