"""Properties of ``apply`` along random walks: pure, total, keeping invariants, naming repairs where they matter."""

import copy
import math
import random
from collections.abc import Iterator

import attrs
import pytest

from tenure_model.semantics.commands import OPERATIONS, Command, apply
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tenure_model.semantics.steps import Step
from tenure_model.semantics.wellformed import (
    replay_facts,
    replay_lease_facts,
    violated_between,
    violated_invariants,
)
from tenure_model.semantics.world import World, empty_world
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.evidence import EVIDENCE_KINDS, LivenessEvidence
from tenure_model.vocabulary.operations import RUN_OPERATIONS
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import PENDING, SUSPENDED, RunSnapshot, TransitionGuard
from tests.semantics.worlds import ALICE, BOB, CAROL, T, stolen

OWNERS = (ALICE, BOB, CAROL)
RUNS = ("r", "s")
STEPS = 400
SEEDS = range(12)
BOTH = pytest.mark.parametrize("profile", [REFERENCE, ORIGINAL], ids=["reference", "original"])


def arguments_of(choose: random.Random, world: World, operation: str, clock_ms: int) -> dict[str, object]:
    """Arguments that are right often enough for every operation to get through."""
    run_id = choose.choice(RUNS)
    run = world.runs.get(run_id)
    now_ms = clock_ms + choose.choice((-40_000, 0, 0, 0, 10_000))
    held = None if run is None or run.claim is None else run.claim
    current = PENDING if run is None else RunSnapshot(run.status, run.owner, run.heartbeat_at_ms)
    target = held.claimant if held and operation == "run.recoverClaim" else current.owner
    likely = {
        "runId": run_id,
        "stateJson": choose.choice(("{}", ABSENT, "[1]")),
        "options": choose.choice((ABSENT, {"lineageId": "L", "roundOrdinal": RUNS.index(run_id)})),
        "nowMs": max(0, now_ms),
        "owner": choose.choice((current.owner or choose.choice(OWNERS), choose.choice(OWNERS))),
        "expected": choose.choice((current, current, current, PENDING, SUSPENDED)),
        "claimant": choose.choice((held.claimant if held else choose.choice(OWNERS), choose.choice(OWNERS))),
        "staleClaimant": held.claimant if held else choose.choice(OWNERS),
        "claimedAtMs": held.claimed_at_ms if held else T,
        "observer": choose.choice(OWNERS),
        "evidence": LivenessEvidence(target or choose.choice(OWNERS), max(0, now_ms), choose.choice(EVIDENCE_KINDS)),
        "toStatus": choose.choice(("running", "suspended", "suspended", "suspended", "suspended", "completed")),
        "guard": choose.choice((ABSENT, ABSENT, TransitionGuard("absent"))),
        "columns": {},
    }
    if operation == "run.create":
        likely["stateJson"] = "{}"
    wanted = RUN_OPERATIONS[operation].parameters if operation in RUN_OPERATIONS else ("runId",)
    return {name: likely[name] for name in wanted}


def walk(profile: Profile, seed: int, *, deletes: bool) -> Iterator[tuple[World, Command, Step]]:
    """A random walk from an empty world: each world, the command, and the step it made."""
    choose = random.Random(seed)
    operations = [*sorted(RUN_OPERATIONS), *["run.steal", "run.claimAndOwn", "run.transitionOwned"] * 4]
    operations += ["row.delete"] if deletes else []
    world, clock_ms = empty_world(profile), T
    for _ in range(STEPS):
        clock_ms += choose.choice((0, 0, 1, 1_000, 20_000, 30_000, 30_001))
        operation = "run.create" if len(world.runs) < len(RUNS) and choose.random() < 0.4 else choose.choice(operations)
        command = Command(operation, arguments_of(choose, world, operation, clock_ms), clock_ms)
        step = apply(world, command)
        yield world, command, step
        world = step.world


@BOTH
@pytest.mark.parametrize("seed", SEEDS)
def test_equal_inputs_give_equal_outputs_and_change_nothing(profile: Profile, seed: int) -> None:
    """A world that was stepped from is as it was, and stepping again gives the same step."""
    for world, command, step in walk(profile, seed, deletes=True):
        kept = copy.deepcopy(world)

        assert apply(world, command) == step
        assert world == kept


@pytest.mark.parametrize("seed", SEEDS)
def test_a_repair_fires_exactly_where_original_differs(seed: int) -> None:
    """Outcome or world differ from ``original``'s in the same world iff the step names a repair, and one alone."""
    for world, command, step in walk(REFERENCE, seed, deletes=True):
        original = apply(attrs.evolve(world, profile=ORIGINAL), command)
        differs = (original.outcome, attrs.evolve(original.world, profile=REFERENCE)) != (step.outcome, step.world)

        assert differs == bool(step.fired)
        assert len(step.fired) <= 1
        assert original.fired == frozenset()
        assert original.transacted == step.transacted


def test_the_walks_fire_repairs() -> None:
    """The property above is not vacuous: these walks meet R-1, R-2 and R-3 (R-4 needs a planted fault)."""
    fired = {repair for seed in SEEDS for _, _, step in walk(REFERENCE, seed, deletes=True) for repair in step.fired}

    assert fired == {"R-1", "R-2", "R-3"}


@pytest.mark.parametrize("seed", SEEDS)
def test_reference_keeps_every_invariant(seed: int) -> None:
    """Rows, leases and change rows agree after every step, also across deletions (RS-213, RS-1000, RS-1006)."""
    for _, _, step in walk(REFERENCE, seed, deletes=True):
        assert violated_invariants(step.world) == ()


@BOTH
@pytest.mark.parametrize("seed", SEEDS)
def test_no_step_breaks_an_invariant_between_worlds(profile: Profile, seed: int) -> None:
    """Stamps, requests, settlements and revisions in either profile (RS-1003..RS-1006)."""
    for world, _, step in walk(profile, seed, deletes=True):
        assert violated_between(world, step.world) == ()


@BOTH
@pytest.mark.parametrize("seed", SEEDS)
def test_facts_tell_row_and_lease(profile: Profile, seed: int) -> None:
    """The fold of a run's facts is its row, and its lease by the fold of the profile (RS-1007)."""
    fold = replay_facts if profile is REFERENCE else replay_lease_facts
    for _, _, step in walk(profile, seed, deletes=False):
        for run_id, run in step.world.runs.items():
            facts, lease = step.world.facts.get(run_id, ()), step.world.leases.get(run_id)
            told, leased = replay_facts(facts), fold(facts)

            assert (told.owner, told.claim) == (run.owner, run.claim)
            assert leased.claim == (None if lease is None else lease.claim)
            assert leased.owner == (None if lease is None or lease.ownership is None else lease.ownership.owner)


@BOTH
@pytest.mark.parametrize("seed", SEEDS)
def test_what_writes_nothing_is_the_same_world(profile: Profile, seed: int) -> None:
    """A step without a revision changes no row, and one that began no transaction changes nothing (RS-166, RS-390)."""
    for world, _, step in walk(profile, seed, deletes=True):
        if step.world.revision == world.revision:
            assert step.world.runs == world.runs
        if not step.transacted:
            assert step.world is world
            assert step.fired == frozenset()


class Hostile:
    """A value whose every method raises."""

    def __getattribute__(self, name: str) -> object:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError

    def __bool__(self) -> bool:
        raise RuntimeError


HOSTILE: tuple[object, ...] = (
    None,
    ABSENT,
    True,
    -1,
    2**53,
    10**5000,
    math.nan,
    "",
    "\ud800",
    "x" * 1025,
    "[" * 100_000,
    b"r",
    [],
    {},
    {1: 2},
    {"status": Hostile(), "owner": Hostile(), "heartbeatAtMs": Hostile()},
    {"hostId": Hostile(), "pid": Hostile(), "nonce": Hostile()},
    OwnerId("", -1, ""),
    PENDING,
    Hostile(),
)


def valid_arguments(operation: str) -> dict[str, object]:
    """Arguments of one operation that pass admission."""
    valid = arguments_of(random.Random(0), stolen(), operation, T)
    return {**valid, **{name: {} for name in ("columns", "lease") if operation in ("row.write", "lease.write")}}


@BOTH
@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_nothing_that_is_supplied_raises(operation: str, profile: Profile) -> None:
    """Every hostile value in the place of every argument, and a refusal leaves the world alone."""
    parameters = {
        "row.delete": ("runId",),
        "row.write": ("runId", "columns"),
        "lease.write": ("runId", "lease"),
    }.get(operation) or tuple(RUN_OPERATIONS[operation].parameters)
    valid = {name: value for name, value in valid_arguments(operation).items() if name in parameters}
    world = stolen(profile)
    for parameter in parameters:
        for value in HOSTILE:
            step = apply(world, Command(operation, {**valid, parameter: value}, T))

            refused = isinstance(step.outcome, RunStoreError) and step.outcome.code == "invalid_run"
            assert step.world is world or not refused
            assert step.transacted or step.world is world


@pytest.mark.parametrize("clock_ms", [math.nan, math.inf, -math.inf, -1, 2**53, 10**400, 0.5])
@pytest.mark.parametrize("operation", sorted(RUN_OPERATIONS))
def test_no_clock_raises(operation: str, clock_ms: float) -> None:
    """Whatever the clock shows, an operation answers."""
    assert isinstance(apply(stolen(), Command(operation, valid_arguments(operation), clock_ms)), Step)
