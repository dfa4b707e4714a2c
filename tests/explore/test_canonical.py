"""Canonical states: what they keep, and that what they make one is one to every call, for ever."""

import random
from collections.abc import Callable

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure_model.explore.calls import calls
from tenure_model.explore.canonical import (
    NO_RUN,
    NO_STAMP,
    NOW_MS,
    RunCode,
    decode,
    encode,
    horizon,
    rename,
    renamings,
    settle,
    shift,
)
from tenure_model.explore.scope import Participant, Scope, honest, owners_on
from tenure_model.explore.scopes import BOUNDARY, DELETION, PAIR, named
from tenure_model.explore.system import RunSystem, outcome_name
from tenure_model.semantics.commands import apply
from tenure_model.semantics.predicates import is_stale
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tests.explore.walks import edges_of, retold, walk

SEEDS = range(4)
PROFILES = pytest.mark.parametrize("profile", [REFERENCE, ORIGINAL], ids=lambda profile: profile.name)
OWNER = BOUNDARY.owners[0]
STAMPS = ("heartbeat", "token", "lease_heartbeat", "lease_token")


@st.composite
def run_codes(draw: st.DrawFn) -> RunCode:
    """Codes of rows that the schema admits, with any lease beside them, or of a lease without a row."""
    status, owners = draw(st.integers(-1, 5)), st.integers(-1, 2)
    owner = draw(st.integers(0, 2)) if status == 1 else -1
    claimant, lease_owner, lease_claimant = (draw(owners) if status >= 0 else -1), draw(owners), draw(owners)
    # Half of them lie around the horizon, where they are of interest.
    stamp = st.one_of(st.integers(-40_006, -39_997), st.integers(-100_000, 40_000))
    return RunCode(
        status,
        owner,
        draw(stamp) if owner >= 0 else NO_STAMP,
        claimant,
        draw(stamp) if claimant >= 0 else NO_STAMP,
        status >= 0 and draw(st.booleans()),
        status >= 0 and draw(st.booleans()),
        lease_owner,
        draw(stamp) if lease_owner >= 0 else NO_STAMP,
        lease_claimant,
        draw(stamp) if lease_claimant >= 0 else NO_STAMP,
    )


@given(run_codes())
def test_decode_then_encode(code: RunCode) -> None:
    """A situation written down as a world is that situation."""
    world = decode(BOUNDARY, (code,))

    assert encode(BOUNDARY.owners, world, "r", NOW_MS) == code


@given(run_codes(), st.integers(0, 50_000))
def test_shift_is_time_passing(code: RunCode, by_ms: int) -> None:
    """A shifted code is the code of the same world, looked at so much later."""
    world = decode(BOUNDARY, (code,))

    assert encode(BOUNDARY.owners, world, "r", NOW_MS + by_ms) == shift(code, by_ms)


@given(run_codes())
def test_settle_moves_what_is_stale_for_ever(code: RunCode) -> None:
    """Exactly the stamps that are stale against every reading move, and stay so, in their order; once is enough."""
    settled, horizon_ms = settle(code, horizon(BOUNDARY)), horizon(BOUNDARY)
    readings = [reading.now_ms for who in BOUNDARY.participants for reading in who.readings]
    before, after = ([getattr(one, name) for name in STAMPS] for one in (code, settled))

    assert [is_stale(stamp, min(readings)) for stamp in after] == [is_stale(stamp, min(readings)) for stamp in before]
    assert [new for old, new in zip(before, after, strict=True) if old >= horizon_ms] == [
        old for old in before if old >= horizon_ms
    ]
    assert [[one < other for one in after] for other in after] == [[one < other for one in before] for other in before]
    assert settle(settled, horizon_ms) == settled
    assert min(after) >= horizon_ms - len(STAMPS)


@given(run_codes(), st.integers(0, 50_000))
def test_settle_and_time(code: RunCode, by_ms: int) -> None:
    """It does not matter whether a situation settles before time passes, or only after."""
    horizon_ms = horizon(BOUNDARY)

    assert settle(shift(settle(code, horizon_ms), by_ms), horizon_ms) == settle(shift(code, by_ms), horizon_ms)


def test_renamings() -> None:
    """Owners may change places where host and readings are the same, none otherwise or where the scope says so."""
    near, other = owners_on("a", 2)

    assert renamings(BOUNDARY) == ((0, 1, 2, -1), (1, 0, 2, -1))
    assert renamings(attrs.evolve(BOUNDARY, symmetric=False)) == ((0, 1, 2, -1),)
    assert renamings(DELETION) == ((0, 1, -1),)
    assert renamings(Scope("", (Participant(near, honest(0)), Participant(other, honest(1))))) == ((0, 1, -1),)
    assert rename(NO_RUN, (1, 0, -1)) == NO_RUN


@PROFILES
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scope", [BOUNDARY, PAIR], ids=lambda scope: scope.name)
def test_names_and_hours_are_symmetries(scope: Scope, seed: int, profile: Profile) -> None:
    """A call and its twin, with other owners of the same hosts and at another hour, do the same: answer, world and
    situation.
    """
    source, system = random.Random(seed), RunSystem(named(scope.name, profile))
    owners, renaming = scope.owners, renamings(scope)[-1]
    twin_of = {owner: owners[renaming[number]] for number, owner in enumerate(owners)}
    for world, now_ms in walk(system.scope, seed, 60):
        by_ms = source.randrange(-(10**5), 10**9)
        twin = retold(world, twin_of, by_ms)
        for plan in scope.runs:
            call = source.choice(list(calls(system.scope, world, plan, now_ms)))
            step, mirrored = apply(world, call.command), apply(twin, retold(call.command, twin_of, by_ms))

            assert outcome_name(mirrored.outcome) == outcome_name(step.outcome)
            assert mirrored.world == retold(step.world, twin_of, by_ms)
            assert system.place(mirrored.world, now_ms + by_ms) == system.place(step.world, now_ms)


def further_back(code: RunCode, by: Callable[[int], int], horizon_ms: int) -> RunCode:
    """The code with its stamps beyond the horizon somewhere else beyond it, in their order."""
    old = sorted({stamp for stamp in map(code.__getattribute__, STAMPS) if stamp < horizon_ms}, reverse=True)
    moved: dict[int, int] = {}
    for stamp in old:
        moved[stamp] = min(moved.values(), default=horizon_ms) - by(stamp)
    return code._replace(**{name: moved.get(getattr(code, name), getattr(code, name)) for name in STAMPS})


@PROFILES
def test_nothing_tells_settled_stamps_apart(profile: Profile) -> None:
    """Where stamps beyond the horizon are makes no difference to any call, nor to where it leads: so it never does."""
    source, system = random.Random(1), RunSystem(named("boundary", profile))
    horizon_ms, moved = horizon(system.scope), 0
    for world, now_ms in walk(system.scope, 1, 700):
        code = encode(system.scope.owners, world, "r", now_ms)
        other = further_back(code, lambda _: source.randrange(1, 10**6), horizon_ms)
        if other != code:
            moved += 1

            assert edges_of(system, decode(system.scope, (other,)), NOW_MS) == edges_of(
                system, decode(system.scope, (code,)), NOW_MS
            )
    assert moved >= 20
