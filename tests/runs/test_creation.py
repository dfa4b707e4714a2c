"""Tests of ``create``."""

import pytest

import tenure
from tests.runs.support import NOW, World, refused, unchanged


def test_new_run_is_pending(world: World) -> None:
    """A new run is pending, stamped by the store's clock rounded down, and otherwise empty (RS-401, RS-392)."""
    world.clock.ms = NOW + 0.999
    world.runs.create("r", "{}")

    assert world.row() == tenure.RunRow(
        "r", "pending", NOW, None, None, None, None, None, None, None, None, None, None, "{}"
    )
    assert world.lease() is None
    assert world.revision() == 1
    assert world.recorder.facts == []


@pytest.mark.parametrize(
    "state",
    [
        "0",
        ' {"b": 1,\n\t"a": 2, "b": 3} ',
        '"\\u0000"',
        '"\\ud83d\\ude00 \U0001f600 \u2028 \x7f \ufffd"',
        "-0.0e-1",
        "1E308",
        "1" * 300,
        "[" * 129 + "]" * 129,
        "[" + ",".join("1" * 99_999) + "]",
    ],
)
def test_state_is_kept_character_by_character(world: World, state: str) -> None:
    """Whatever is admitted is stored and answered as it was given (RS-314)."""
    world.runs.create("r", state)

    assert world.row().state_json == state


def test_identifiers_round_trip(world: World) -> None:
    """Identifiers of the greatest length, astral ones included, come back as they were (RS-301)."""
    for run_id in ("x" * 1024, "\U0001f600" * 512, "\ufffd\x01 '\"%"):
        world.runs.create(run_id, "{}")

        assert world.row(run_id).run_id == run_id


def test_ancestry(world: World) -> None:
    """Parent, lineage and ordinal are stored; the lineage need not exist, the parent must (RS-313, RS-401)."""
    world.runs.create("p", "{}")
    world.runs.create("r", "{}", tenure.CreateOptions("p", "L", 3))
    row = world.row()

    assert (row.parent_run_id, row.lineage_id, row.round_ordinal) == ("p", "L", 3)


@pytest.mark.parametrize("options", [None, tenure.ABSENT, {}, tenure.CreateOptions(), {"parentRunId": None}])
def test_no_ancestry(world: World, options: object) -> None:
    """No options, and options without members, mean none (RS-313)."""
    world.runs.create("r", "{}", options)  # type: ignore[arg-type]  # wire forms too

    assert world.row().parent_run_id is None


@pytest.mark.parametrize(
    ("run_id", "options"),
    [
        ("r", None),
        ("new", tenure.CreateOptions(parent_run_id="missing")),
        ("new", tenure.CreateOptions(lineage_id="L", round_ordinal=1)),
    ],
)
def test_constraints(world: World, run_id: str, options: tenure.CreateOptions | None) -> None:
    """A taken id, a taken round and a missing parent are ``constraint``, and write nothing (RS-402, RS-363)."""
    world.runs.create("r", "{}", tenure.CreateOptions(lineage_id="L", round_ordinal=1))
    with unchanged(world):
        error = refused(lambda: world.runs.create(run_id, "{}", options))

    assert (error.code, error.method) == ("constraint", "create")
    assert error.message == "constraint: RunStore.create: database operation failed"
    assert error.cause == {"category": "constraint", "cause": {"code": "constraint"}}


def test_run_may_be_its_own_parent(world: World) -> None:
    """The foreign key is looked at when the statement ends (RS-106, H-21)."""
    world.runs.create("r", "{}", tenure.CreateOptions(parent_run_id="r"))

    assert world.row().parent_run_id == "r"


INVALID = {"field": "runId", "detail": "must be well-formed durable text"}
RESERVED = {"field": "runId", "detail": "names a reserved journal companion stream"}
OPTIONS = {"field": "options", "detail": "must be an inert data record"}
ANCESTRY = {"field": "options", "detail": "contains invalid ancestry or lineage"}


@pytest.mark.parametrize(
    ("run_id", "state", "options", "cause"),
    [
        ("", "{", 5, INVALID),
        ("flows.companion/x", "{", 5, RESERVED),
        ("r", "{", 5, OPTIONS),
        ("r", "{", {"lineageId": "L"}, ANCESTRY),
        (
            "r",
            "{",
            {"parentRunId": "p", "lineageId": "L", "roundOrdinal": 2},
            {
                "runId": "r",
                "parentRunId": "p",
                "lineageId": "L",
                "roundOrdinal": 2,
                "stateJsonLength": 1,
                "stateJsonValid": False,
            },
        ),
        (
            "r",
            "[" * 130 + "]" * 130,
            None,
            {
                "runId": "r",
                "parentRunId": None,
                "lineageId": None,
                "roundOrdinal": None,
                "stateJsonLength": 260,
                "stateJsonValid": True,
            },
        ),
        (
            "r",
            None,
            None,
            {
                "runId": "r",
                "parentRunId": None,
                "lineageId": None,
                "roundOrdinal": None,
                "stateJsonLength": None,
                "stateJsonValid": False,
            },
        ),
    ],
)
def test_invalid_input(world: World, run_id: object, state: object, options: object, cause: object) -> None:
    """Arguments are refused in the order id, prefix, options, state (RS-400, RS-315)."""
    with unchanged(world):
        error = refused(lambda: world.runs.create(run_id, state, options))  # type: ignore[arg-type]  # bad on purpose

    assert error == tenure.RunStoreError("invalid_run", "create", "run input is invalid", cause)  # type: ignore[arg-type]  # a dict
