"""Tests of pages, latest checkpoints and generations."""

import pytest

import tenure
from tests.journal.support import MAX, NOW, A, World, new_world, refused


def page_of(world: World, **options: object) -> tuple[list[int], bool]:
    """The seqs of a page of run ``r``, and whether there is more."""
    page = world.journal.entries("r", **{"limit": 10, **options})  # type: ignore[arg-type]  # options of tests
    return [entry.seq for entry in page.entries], page.has_more


def test_an_entry_has_everything_that_was_stored(world: World) -> None:
    """A missing meta reads back as null (JN-025)."""
    world.durable({"b": [1.5, None, "é"], "a": True}, source_seq=4, meta={"m": 1})
    world.durable()

    assert world.journal.entries("r", limit=10).entries == (
        tenure.Entry("r", 0, "flows:event:1:r1:p4", "p", 4, NOW, "e", {"a": True, "b": [1.5, None, "é"]}, {"m": 1}),
        tenure.Entry("r", 1, "flows:event:1:r1:p5", "p", 5, NOW, "e", None, None),
    )


def test_pages_follow_each_other_without_gap_or_overlap(world: World) -> None:
    """``after`` is exclusive, and ``has_more`` says that another entry matches (JN-251)."""
    world.fill(5)
    world.fill(2, run_id="other")

    assert page_of(world, limit=2) == ([0, 1], True)
    assert page_of(world, limit=2, after=1) == ([2, 3], True)
    assert page_of(world, limit=2, after=3) == ([4], False)
    assert page_of(world, limit=5) == ([0, 1, 2, 3, 4], False)
    assert page_of(world, after=4) == ([], False)


def test_a_filter_comes_before_the_limit(world: World) -> None:
    """Types may repeat, and the cursor stays a seq (JN-251)."""
    for number in range(6):
        world.durable(event_type="ab"[number % 2])

    assert page_of(world, event_types=["a"], limit=2) == ([0, 2], True)
    assert page_of(world, event_types=["a", "a"], after=2, limit=2) == ([4], False)
    assert page_of(world, event_types=["b", "a", "c"], limit=3) == ([0, 1, 2], True)
    assert page_of(world, event_types=["é"]) == ([], False)


def test_gaps_are_not_filled_or_reported(world: World) -> None:
    """A missing number is not a missing entry (JN-243, BR-45)."""
    world.durable(source_seq=0)
    for _ in range(3):
        world.durable(source_seq=0)
    world.durable(source_seq=1)

    assert page_of(world) == ([0, 4], False)


@pytest.mark.parametrize(
    "options",
    [
        {"limit": 0},
        {"limit": 10_001},
        {"limit": True},
        {"limit": "1"},
        {"after": -1},
        {"after": MAX},
        {"after": None},
        {"event_types": []},
        {"event_types": ["x"] * 65},
        {"event_types": "x"},
        {"event_types": [""]},
    ],
)
def test_bad_options_are_refused(world: World, options: dict[str, object]) -> None:
    """The contract of JN-250."""
    error = refused(lambda: page_of(world, **options))

    assert (error.code, error.text) == ("invalid_event", "entries options violate the journal read contract")


@pytest.mark.parametrize("run_id", ["", "a\0", None, 1, "x" * 1025, "\ud800"])
def test_bad_run_ids_are_refused(world: World, run_id: str) -> None:
    """Also those that no writer would accept (JN-250, JN-275)."""
    assert refused(lambda: world.journal.entries(run_id, limit=1)).code == "invalid_event"
    assert refused(lambda: world.journal.latest_checkpoint(run_id)).text == (
        "runId violates the journal identifier contract"
    )
    assert refused(lambda: world.journal.generation(run_id)).code == "invalid_event"
    assert refused(lambda: world.journal.stream(run_id)).text == "stream options violate the journal read contract"


def test_a_cursor_below_the_floor_is_refused_and_names_it(world: World) -> None:
    """Floor - 1 and above is served; a filter that matches nothing makes no difference (JN-252, BR-47)."""
    world.own()
    world.fill(5)
    world.journal.checkpoint("r", 3, None, A)
    world.journal.compact("r", A)
    error = refused(lambda: page_of(world))

    assert (error.code, error.checkpoint_seq) == ("compacted", 3)
    assert error.text == "run r is compacted through sequence 3; resync from its checkpoint"
    assert refused(lambda: page_of(world, after=1)).code == "compacted"
    assert refused(lambda: page_of(world, event_types=["nothing"])).code == "compacted"
    assert page_of(world, after=2) == ([3, 4], False)
    assert page_of(world, after=3) == ([4], False)


def test_a_compaction_between_page_and_floor_makes_a_refusal_and_no_gap(on_file: World) -> None:
    """The page is read first and the floor second (JN-252)."""
    on_file.own()
    on_file.fill(5)
    on_file.journal.checkpoint("r", 3, None, A)
    other = on_file.reopened()
    reads = iter(range(2))

    def before(sql: str) -> None:
        if sql.lstrip().startswith("SELECT") and next(reads, None) == 1:
            other.journal.compact("r", A)

    on_file.faults.before = before
    error = refused(lambda: page_of(on_file))
    on_file.mend()
    other.store.close()

    assert (error.code, error.checkpoint_seq) == ("compacted", 3)
    assert page_of(on_file, after=2) == ([3, 4], False)


def test_a_floor_at_zero_hides_nothing(world: World) -> None:
    """Compacted to the first entry, the whole run is still there (JN-252)."""
    world.own()
    world.fill(2)
    world.journal.checkpoint("r", 0, None, A)
    world.journal.compact("r", A)

    assert page_of(world) == ([0, 1], False)


@pytest.mark.parametrize(
    "damage",
    [
        "payload_json = '{'",
        "payload_json = 'NaN'",
        "meta_json = x'00'",
        "payload_json = CAST(x'ff' AS TEXT)",
        "event_type = ''",
        "source_id = CAST(x'ff' AS TEXT)",
        "source_seq = 1.5",
        "emitted_at_ms = -1",
        f"seq = {MAX}",
        "event_id = x'00'",
    ],
)
def test_one_corrupt_row_spoils_its_page(world: World, damage: str) -> None:
    """The page is refused, never shortened; pages without the row are served (JN-253)."""
    world.fill(3)
    world.corrupt(f"UPDATE flows_journal_events SET {damage} WHERE seq = 1")
    error = refused(lambda: page_of(world, limit=3))

    assert (error.code, error.text) == ("decode_failed", "could not decode a durable journal row")
    assert page_of(world, limit=1) == ([0], True)


def test_a_compacted_run_is_told_before_a_corrupt_row(world: World) -> None:
    """The order of JN-253."""
    world.own()
    world.fill(3)
    world.journal.checkpoint("r", 2, None, A)
    world.journal.compact("r", A)
    world.corrupt("UPDATE flows_journal_events SET payload_json = CAST(x'ff' AS TEXT)")

    assert refused(lambda: page_of(world)).code == "compacted"
    assert refused(lambda: page_of(world, after=1)).code == "decode_failed"


def test_failing_storage_is_a_failed_read(world: World) -> None:
    """Every read says so in its own words (JN-253, JN-275, JN-341)."""
    world.fill(1)
    world.fail(on="SELECT")
    errors = [
        refused(lambda: page_of(world)),
        refused(lambda: world.journal.latest_checkpoint("r")),
        refused(lambda: world.journal.generation("r")),
    ]
    world.mend()

    assert [(error.code, error.text) for error in errors] == [
        ("read_failed", "durable journal read failed"),
        ("read_failed", "durable checkpoint read failed"),
        ("read_failed", "could not read journal generation"),
    ]
    assert all(isinstance(error.cause, tenure.DatabaseError) for error in errors)


def test_a_payload_can_nest_as_deep_as_it_was_accepted(world: World) -> None:
    """256 containers around a value (JN-044)."""
    deep: object = 1
    for _ in range(256):
        deep = [deep]
    world.durable(deep)

    assert world.journal.entries("r", limit=1).entries[0].payload == deep


def test_two_reads_share_no_values(world: World) -> None:
    """What a reader does to a payload nobody else sees."""
    world.durable({"a": []})
    first = world.journal.entries("r", limit=1).entries[0].payload
    assert isinstance(first, dict)
    first["a"].append(1)

    assert world.journal.entries("r", limit=1).entries[0].payload == {"a": []}


def test_the_latest_checkpoint_is_the_one_with_the_highest_seq(world: World) -> None:
    """Compacted or not; none is None (JN-275)."""
    world.own()
    world.fill(3)
    none = world.journal.latest_checkpoint("r")
    world.journal.checkpoint("r", 2, {"late": True}, A)
    world.journal.checkpoint("r", 1, {"early": True}, A)
    before = world.journal.latest_checkpoint("r")
    world.clock.ms += 5
    world.journal.compact("r", A)

    assert none is None
    assert before == tenure.Checkpoint("r", 2, {"late": True}, NOW, None)
    assert world.journal.latest_checkpoint("r") == tenure.Checkpoint("r", 2, {"late": True}, NOW, NOW + 5)


@pytest.mark.parametrize("damage", ["state_json = '{'", "state_json = CAST(x'ff' AS TEXT)", "created_at_ms = 'x'"])
def test_a_corrupt_checkpoint_is_told(world: World, damage: str) -> None:
    """JN-275."""
    world.own()
    world.fill(1)
    world.journal.checkpoint("r", 0, None, A)
    world.corrupt(f"UPDATE flows_journal_checkpoints SET {damage}")
    error = refused(lambda: world.journal.latest_checkpoint("r"))

    assert (error.code, error.text) == ("decode_failed", "could not decode a durable checkpoint row")


def test_a_run_that_was_never_rewound_has_generation_zero(world: World) -> None:
    """Else its row says (JN-341)."""
    none = world.journal.generation("r")
    world.sql("INSERT INTO flows_journal_generations VALUES ('r', 3, 17)")

    assert none == tenure.Generation(0, -1)
    assert world.journal.generation("r") == tenure.Generation(3, 17)


def test_forget_drops_numbers_and_identities_of_those_runs_alone(world: World) -> None:
    """For a program that cut their histories back; no row changes (JN-342)."""
    world.fill(2)
    world.fill(1, run_id="other")
    before = world.digest()
    world.journal.forget(["r", "unknown"])

    assert world.instance.floors.seq == {"other": 1}
    assert world.instance.floors.source == {("other", "p"): 1}
    assert world.instance.floors.warm == {("other", "p")}
    assert [identity for identity, *_ in world.instance.cache.items()] == [("other", "p", 0)]
    assert world.digest() == before
    assert refused(lambda: world.journal.forget([""])).code == "invalid_event"


def test_reads_inside_a_transaction_see_it(world: World) -> None:
    """They join the caller's own."""
    with world.journal.transact():
        world.durable()
        inside = page_of(world)

    assert inside == ([0], False)


def test_a_large_page(world: World) -> None:
    """Ten thousand entries at once."""
    world = new_world()
    world.journal.transact(lambda: world.fill(10_001))

    assert page_of(world, limit=10_000) == (list(range(10_000)), True)
    world.store.close()
