"""Random walks: the invariants hold in every state and over every step, under both profiles."""

from random import Random

import pytest

from tenure_model.semantics.journal.commands import apply
from tenure_model.semantics.journal.invariants import violated_between, violated_invariants
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tests.semantics.journal.journals import world
from tests.semantics.journal.walks import clocks, next_step


@pytest.mark.parametrize("profile", [REFERENCE, ORIGINAL], ids=lambda profile: profile.name)
@pytest.mark.parametrize("batch", range(4))
def test_invariants(profile: Profile, batch: int) -> None:
    """Whatever is done in whatever order, nothing breaks but what HZ-03 breaks under original."""
    for seed in range(batch * 10, batch * 10 + 10):
        random = Random(seed)
        state = world(profile)
        for number, clock_ms in zip(range(120), clocks(random), strict=False):
            session, command = next_step(random, state, clock_ms)
            step = apply(state, session, command)
            violations = violated_invariants(step.state) + violated_between(state, session, command, step)
            if profile is ORIGINAL:
                abandoned = {str(entry_id) for entry_id, fate in step.state.fates.items() if fate == "abandoned"}
                violations = tuple(one for one in violations if one.invariant != "fates" or one.where not in abandoned)

            assert violations == (), f"seed {seed}, step {number}: {session} {command}"
            assert profile is REFERENCE or not step.fired
            state = step.state
