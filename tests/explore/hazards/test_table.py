"""The hazards of runs: how soon each shows, and that what is repaired does not show under ``reference``."""

import attrs
import pytest

from tenure_model.explore.hazards.looking import Signs
from tenure_model.explore.hazards.places import JUST_STALE_MS, A, B
from tenure_model.explore.hazards.profiles import evidence_under
from tenure_model.explore.hazards.table import HAZARDS
from tenure_model.explore.liveness import survival
from tenure_model.explore.scope import Participant, ahead, honest
from tenure_model.explore.search import explore
from tenure_model.explore.system import RunSystem
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tenure_model.vocabulary.constants import HEARTBEAT_SKEW_ALLOWANCE_MS

STEPS = {
    "H-01": 5,
    "H-02": 5,
    "H-03": 4,
    "H-04": 5,
    "H-05": 4,
    "H-06": 8,
    "H-07": 5,
    "H-08": 7,
    "H-10": 3,
    "H-12": 4,
    "H-13": 4,
    "H-14": 5,
    "H-16": 7,
    "H-17": 5,
    "H-18": 5,
    "H-19": 3,
    "H-20": 7,
    "H-21": 1,
    "H-23": 3,
    "H-24": 5,
    "H-25": 5,
    "H-27": 6,
    "H-28": 4,
    "H-29": 6,
    "H-31": 6,
    "H-32": 4,
    "H-33": 4,
    "H-34": 6,
    "H-35": 5,
    "H-36": 5,
    "H-37": 6,
}
"""How many steps the shortest history of each takes, of those that are searched for."""

OTHERS = {
    "H-09": "bound",
    "H-11": "bound",
    "H-15": "bound",
    "H-22": "demonstration",
    "H-26": "demonstration",
    "H-30": "demonstration",
}
"""What shows the others."""

REPAIRED = {"H-01": "R-1", "H-02": "R-2", "H-03": "R-3", "H-04": "R-4"}

ABSENT = {*REPAIRED, "H-06"}
"""What ``reference`` has no history of: the two authorities of H-06 differ only where a wedge has parted them."""


@pytest.mark.parametrize("hazard_id", STEPS)
def test_the_shortest_history(hazard_id: str) -> None:
    """``original`` shows the hazard after so many steps, and no sooner."""
    shown = HAZARDS[hazard_id].evidence()

    assert (shown.kind, shown.profile, shown.steps) == ("trace", "original", STEPS[hazard_id])


@pytest.mark.parametrize("hazard_id", STEPS)
def test_under_reference(hazard_id: str) -> None:
    """In the same scope ``reference`` shows it as soon, or, as far as a repair reaches, never."""
    shown = evidence_under(HAZARDS[hazard_id], REFERENCE)

    assert shown.steps == (None if hazard_id in ABSENT else STEPS[hazard_id])


@pytest.mark.parametrize("hazard_id", OTHERS)
def test_the_others(hazard_id: str) -> None:
    """They are the same whatever the profile, and say something."""
    shown = HAZARDS[hazard_id].evidence()

    assert (shown.kind, shown.steps) == (OTHERS[hazard_id], None)
    assert len(shown.lines) >= 4
    assert shown.kind == "bound" or any(line.startswith("Not searched for: ") for line in shown.lines)
    assert evidence_under(HAZARDS[hazard_id], REFERENCE) == shown


def test_the_table_is_whole() -> None:
    """Every hazard of the rules, in order, each said in a few sentences."""
    texts = [
        text for one in HAZARDS.values() for text in (one.what_happens, one.reference_does, one.port_must, one.title)
    ]

    assert list(HAZARDS)[:31] == [f"H-{number:02}" for number in range(1, 32)]
    assert [one for one in HAZARDS if one.startswith("H-")] == sorted({*STEPS, *OTHERS})
    assert all(texts)


@pytest.mark.parametrize(("profile", "stranded"), [(ORIGINAL, True), (REFERENCE, False)])
def test_only_the_owner_heals_what_it_lost(profile: Profile, stranded: bool) -> None:
    """H-02 leaves a peer that survives the owner without a way to settle the run; repaired, any survivor has one."""
    search = HAZARDS["H-02"].evidence
    assert isinstance(search, Signs)
    system = RunSystem(attrs.evolve(search.scope, profile=profile, targets=("completed",)))

    found = survival(system, explore(system.initial(), system.successors))

    assert {one.survivor for one in found.stranded} == ({0, 1} if stranded else set())


def test_within_the_allowances_a_beat_stops_a_thief() -> None:
    """H-36 is bounded: no history shows it while clocks and readings keep to what is admitted."""
    search = HAZARDS["H-36"].evidence
    assert isinstance(search, Signs)
    skew_ms = HEARTBEAT_SKEW_ALLOWANCE_MS
    kept = attrs.evolve(
        search.scope,
        participants=(
            Participant(A, honest(0, -skew_ms)),
            Participant(B, (*honest(0, skew_ms), *ahead(0, skew_ms))),
        ),
        operations=frozenset({"run.create", "run.claimAndOwn", "run.heartbeat", "run.steal", "run.activate"}),
        advances=(JUST_STALE_MS,),
    )

    assert attrs.evolve(search, scope=kept).under(REFERENCE).trace is None


def test_what_is_repaired() -> None:
    """Each repair of the run store stands against one hazard."""
    repaired = {one.id: one.repaired_by for one in HAZARDS.values() if one.id.startswith("H-") and one.repaired_by}

    assert repaired == REPAIRED


def test_evidence_does_not_vary() -> None:
    """Worked out again, it is the same."""
    assert evidence_under(HAZARDS["H-02"], ORIGINAL) == HAZARDS["H-02"].evidence()
