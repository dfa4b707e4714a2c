"""The explorer: states and transitions a second, beside TLC in the same scope, and the memory of a state."""

import time
from collections.abc import Iterator

import attrs

from tenure_model.explore.scope import Participant, Scope, honest, owners_on
from tenure_model.explore.scopes import BOUNDARY, PAIR, PLAIN, SECOND_OPINION
from tenure_model.explore.search import explore
from tenure_model.explore.sweep import sweep
from tenure_model.explore.system import RunSystem
from tests.bench.memory import peak_memory_mib
from tests.bench.table import rate_line
from tests.tla import tlc

READINGS = (0, 10_000, 20_000, 30_000, 30_001, 40_001)
BYTES_AIM = 600


def six_readings() -> Scope:
    """Three owners on two hosts whose clocks show one of six readings at will: what TLC is given too."""
    clocks = honest(*READINGS)
    owners = (*owners_on("a", 1), *owners_on("b", 2))
    participants = tuple(Participant(owner, clocks) for owner in owners)
    return attrs.evolve(SECOND_OPINION, name="six readings", participants=participants)


def rows() -> Iterator[str]:
    """The default scope, one scope by the explorer and by TLC, a sweep of two runs, and what a state costs there."""
    system = RunSystem(BOUNDARY)
    began = time.process_time()
    found = explore(system.initial(), system.successors)
    taken = time.process_time() - began
    yield rate_line("default scope, with a graph's edges", len(found.states) / taken, 100, "states")
    yield f"{'':34} {found.transitions / taken:>11,.0f} labelled transitions/s, {taken:.0f} s of one core in all"

    scope = six_readings()
    system = RunSystem(scope)
    ours = explore(system.initial(), system.successors)
    yield f"{'one scope, explorer':34} {len(ours.states) / ours.seconds:>11,.0f} states/s of {len(ours.states)}"
    if (missing := tlc.missing()) is not None:
        yield f"{'one scope, TLC':34} not measured: {missing}"
    else:
        theirs = tlc.check(tlc.Scope("reference", hosts=(0, 1, 1), readings=READINGS), properties=False, workers=2)
        rate = theirs.states / theirs.seconds
        ratio = len(ours.states) / ours.seconds / rate
        yield f"{'one scope, TLC with two workers':34} {rate:>11,.0f} states/s of {theirs.states}; we are {ratio:.1f}x"

    began = time.process_time()
    swept = sweep(RunSystem(PAIR))
    taken = time.process_time() - began
    yield rate_line("two runs, swept", swept.states / taken, 20_000, "states")
    yield f"{'':34} {swept.transitions / taken:>11,.0f} transitions/s"
    # What the smaller scope needs is there in both: interpreter, model, and the edges of one run.
    kept = (peak_memory_mib(__name__, "sweep_pair") - peak_memory_mib(__name__, "sweep_plain")) * 2**20
    per_state = kept / swept.states
    verdict = "ok" if per_state <= BYTES_AIM else "OVER"
    yield f"{'memory of a swept state':34} {per_state:>11,.0f} bytes  (aim {BYTES_AIM}) {verdict}"


def sweep_pair() -> None:
    """Sweep two runs."""
    sweep(RunSystem(PAIR))


def sweep_plain() -> None:
    """Sweep one of them."""
    sweep(RunSystem(PLAIN))
