"""The table of hazards: it is whole, what it shows is shown, and what a repair stands against is gone."""

import pytest

from tenure_model.explore.journal.evidence import witnessed
from tenure_model.explore.journal.hazards import JOURNAL_HAZARDS
from tenure_model.explore.journal.looking import look
from tenure_model.explore.journal.witnesses import WITNESSES, Witness
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE

STEPS = {
    "HZ-01": 5,
    "HZ-02": 7,
    "HZ-03": 7,
    "HZ-04": 9,
    "HZ-05": 7,
    "HZ-06": 2,
    "HZ-07": 2,
    "HZ-08": 2,
    "HZ-09": 3,
    "HZ-11": 4,
    "HZ-13": 4,
    "HZ-14": 4,
    "HZ-16": 3,
    "HZ-17": 6,
    "HZ-18": 9,
    "HZ-19": 3,
    "HZ-20": 8,
    "HZ-21": 5,
    "HZ-22": 6,
    "HZ-23": 10,
    "HZ-24": 6,
    "HZ-25": 9,
    "HZ-26": 4,
    "HZ-33": 3,
    "HZ-37": 9,
    "HZ-40": 6,
    "HZ-41": 8,
}
"""How long the shortest history of each is."""


def test_the_table_is_whole() -> None:
    """All of them, in order; a few sentences each; and each repair of the journal against one of them at least."""
    texts = [text for one in JOURNAL_HAZARDS.values() for text in (one.what_happens, one.reference_does, one.port_must)]

    assert list(JOURNAL_HAZARDS) == [f"HZ-{number:02}" for number in range(1, 42)]
    assert [text for text in texts if not text.endswith(".") or text.count(". ") > 2] == []
    assert {one.repaired_by for one in JOURNAL_HAZARDS.values()} == {None, "R-5", "R-6", "R-7", "R-8", "R-9"}
    assert STEPS.keys() == WITNESSES.keys()


@pytest.mark.parametrize("hazard_id", WITNESSES)
def test_original_shows_it(hazard_id: str) -> None:
    """The evidence is a shortest history in the named scope, and says the same each time it is asked."""
    evidence = JOURNAL_HAZARDS[hazard_id].evidence()

    assert (evidence.kind, evidence.scope, evidence.profile) == ("trace", WITNESSES[hazard_id].scope, "original")
    assert evidence.steps == STEPS[hazard_id]
    assert JOURNAL_HAZARDS[hazard_id].evidence() == evidence


@pytest.mark.parametrize("hazard_id", WITNESSES)
def test_reference_shows_what_no_repair_stands_against(hazard_id: str) -> None:
    """In the same scope the reference profile has a history as short, or, where it is repaired, none at all."""
    trace = witnessed(hazard_id, REFERENCE)

    if JOURNAL_HAZARDS[hazard_id].repaired_by is None:
        assert trace is not None
        assert len(trace.steps) == STEPS[hazard_id]
    else:
        assert trace is None


def test_the_repair_makes_the_difference() -> None:
    """The last step of the history that loses a retry is the conflict that R-7 prevents."""
    trace = witnessed("HZ-07", ORIGINAL)

    assert trace is not None
    assert [one.label.outcome for one in trace.steps] == ["Duplicate", "idempotency_conflict"]


@pytest.mark.parametrize("hazard_id", ["HZ-11", "HZ-16", "HZ-23"])
def test_signs_come_in_order(hazard_id: str) -> None:
    """Of several signs each is marked, the last step is one, and without the first the history is no longer."""
    witness = WITNESSES[hazard_id]
    whole = look(hazard_id, witness, ORIGINAL).trace
    rest = look(hazard_id, Witness(witness.scope, witness.signs[1:]), ORIGINAL).trace

    assert whole is not None
    assert rest is not None
    assert sum(one.broken == (hazard_id,) for one in whole.steps) == len(witness.signs)
    assert whole.steps[-1].broken == (hazard_id,)
    assert len(rest.steps) <= len(whole.steps)


def test_signs_in_another_order_do_not_show() -> None:
    """Nothing is queued inside a transaction that was rolled back before: the signs of HZ-16 the other way round."""
    inside, outlives = WITNESSES["HZ-16"].signs
    found = look("HZ-16", Witness("nested", (outlives, inside)), ORIGINAL)

    assert found.trace is None


@pytest.mark.parametrize("hazard_id", [one for one in JOURNAL_HAZARDS if one not in WITNESSES])
def test_the_others_say_why_or_show_it(hazard_id: str) -> None:
    """What no scope exhibits is a fixed history and says why it is not searched for, or lies outside with a reason."""
    evidence = JOURNAL_HAZARDS[hazard_id].evidence()

    assert evidence.kind == ("outside" if hazard_id in ("HZ-31", "HZ-35") else "demonstration")
    assert evidence.lines
    assert evidence.kind == "outside" or any(line.startswith("Not searched for: ") for line in evidence.lines)
