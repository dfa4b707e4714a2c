"""What clocks and delays do to stamps and budgets: H-09 to H-15 and H-28."""

from typing import Final

import attrs

from tenure_model.explore.canonical import NOW_MS
from tenure_model.explore.hazards.hazard import Evidence, Hazard
from tenure_model.explore.hazards.looking import Signs, sign
from tenure_model.explore.hazards.places import JUST_STALE_MS, STILL, A, B
from tenure_model.explore.judging import Transition
from tenure_model.explore.scope import Participant, Reading, ahead, honest
from tenure_model.explore.timed.conditions import Conditions
from tenure_model.explore.timed.figures import healthy_margin_ms, smallest_margin_ms
from tenure_model.explore.traces import Trace
from tenure_model.semantics.predicates import is_stale
from tenure_model.vocabulary.constants import HEARTBEAT_SKEW_ALLOWANCE_MS, HEARTBEAT_STALE_AFTER_MS

_HOUR_MS: Final = 3_600_000
_SILENCE_MS: Final = HEARTBEAT_STALE_AFTER_MS + HEARTBEAT_SKEW_ALLOWANCE_MS
_PEER: Final = Participant(B, honest(0))


def _margin(words: str, given: Conditions) -> str:
    """One figure: how far the end of the owner's work is from the peer's grant; at 0 and below both are at work."""
    margin_ms = smallest_margin_ms(given)
    overlap = (
        ""
        if margin_ms > 0
        else ": both at work in one instant"
        if margin_ms == 0
        else f": {-margin_ms:,} ms of overlap"
    )
    return f"{words}: margin {margin_ms:,} ms{overlap}"


def _ahead_twice() -> Evidence:
    skew_ms = HEARTBEAT_SKEW_ALLOWANCE_MS
    lines = (
        _margin("equal clocks, honest readings", Conditions()),
        _margin("equal clocks, the peer's reading 10,000 ahead", Conditions(ahead_ms=skew_ms)),
        _margin("the peer's clock 1 ahead, its reading 10,000 more", Conditions(ahead_ms=skew_ms, skew_ms=1)),
        _margin("both 10,000 ahead", Conditions(ahead_ms=skew_ms, skew_ms=skew_ms)),
    )
    return Evidence("bound", lines)


def _late_start() -> Evidence:
    lines = (
        _margin("the loop starts at once", Conditions()),
        _margin("10,000 late", Conditions(start_delay_ms=10_000)),
        _margin("10,001 late", Conditions(start_delay_ms=10_001)),
        _margin("23,000 late, as after busy retries", Conditions(start_delay_ms=23_000)),
    )
    return Evidence("bound", lines)


def _slow_hook() -> Evidence:
    lines = (
        _margin("`onLapse` takes no time", Conditions()),
        _margin("10,000", Conditions(hook_ms=10_000)),
        _margin("10,001", Conditions(hook_ms=10_001)),
        _margin("a minute", Conditions(hook_ms=60_000)),
    )
    return Evidence("bound", lines)


def _takes_from_a(taken: Transition) -> bool:
    return taken.row_before is not None and taken.row_before.owner == A


def _stale_on_arrival(taken: Transition) -> bool:
    """Whether the stamp is stale at the instant it is written, by a right clock. Needs a scope where no time passes."""
    return taken.row_after is not None and is_stale(taken.row_after.heartbeat_at_ms, NOW_MS)


def _stamped_ahead(taken: Transition) -> bool:
    return taken.command.arguments["nowMs"] == taken.command.clock_ms + HEARTBEAT_SKEW_ALLOWANCE_MS


def _silent_for_long(taken: Transition) -> bool:
    row, clock_ms = taken.row_before, taken.command.clock_ms
    return row is not None and row.heartbeat_at_ms == clock_ms - _SILENCE_MS + HEARTBEAT_SKEW_ALLOWANCE_MS


def _lag(_: Trace) -> tuple[str, ...]:
    slack_ms = healthy_margin_ms(0)
    return (
        f"By the bounds, an owner all of whose beats succeed is {slack_ms:,} ms from being robbed, less what it lags:",
        f"{healthy_margin_ms(slack_ms - 1):,} ms at a lag of {slack_ms - 1:,}, none at {slack_ms:,}.",
    )


CLOCKS: Final = (
    Hazard(
        "H-09",
        "The allowance for skew is spent twice",
        what_happens=(
            "The owner's budget leaves 10,000 ms for a peer whose clock is ahead, and a peer may present a reading "
            "10,000 ms ahead of its own clock. Together they leave a margin of 1 ms with equal clocks and none with "
            "any skew."
        ),
        reference_does="The same limits. Supervision presents what the clock shows.",
        port_must="Present readings of the clock and nothing later; admit readings ahead for foreign callers only.",
        repaired_by=None,
        evidence=_ahead_twice,
    ),
    Hazard(
        "H-10",
        "Skew is checked on one host only",
        what_happens=(
            "A reading is compared with the clock of the store that is called, on the same host. One whose clock is an "
            "hour fast passes, and to it every owner is stale: it takes runs from owners that have just beaten."
        ),
        reference_does="The same: nothing compares the clocks of two hosts.",
        port_must="Watch the clocks of hosts from outside, and refuse to run where one is off by seconds.",
        repaired_by=None,
        evidence=Signs(
            attrs.evolve(
                STILL,
                name="b1's clock is an hour fast",
                participants=(Participant(A, honest(0)), Participant(B, honest(_HOUR_MS))),
            ),
            (sign("from an owner activated this instant", "run.claimAndOwn", "Activated", B, _takes_from_a),),
        ),
    ),
    Hazard(
        "H-11",
        "The budget starts late",
        what_happens=(
            "The lease counts from the stamp of the activation, which is read before the transaction waits for its "
            "turn; the owner's budget counts from the start of its loop. Whatever lies between comes off the margin, "
            "and busy retries alone may take 23,000 ms."
        ),
        reference_does="The same: the budget counts from the start of `store.supervise`.",
        port_must="Start the loop at once after activation, and count the budget from the reading that was written.",
        repaired_by=None,
        evidence=_late_start,
    ),
    Hazard(
        "H-12",
        "Activated and stale at once",
        what_happens=(
            "The stamp of an activation is read before the transaction begins. If the transaction waits for more than "
            "30,000 ms, the run is stale when it is activated, and the next caller takes it."
        ),
        reference_does="The same: the stamp is what the clock showed when the call began.",
        port_must="Bound the wait for a transaction far below 30,000 ms, or read the clock inside it.",
        repaired_by=None,
        evidence=Signs(
            attrs.evolve(
                STILL,
                name="a1's writes land 30,001 ms after it reads its clock",
                participants=(Participant(A, honest(-JUST_STALE_MS)), _PEER),
            ),
            (
                sign("stale on arrival", "run.activate", "Activated", A, _stale_on_arrival),
                sign("taken at once", "run.claimAndOwn", "Activated", B, _takes_from_a),
            ),
        ),
    ),
    Hazard(
        "H-13",
        "Readings of long ago are admitted",
        what_happens=(
            "A reading may lie behind the clock by any amount, 0 included. Who owns by one is stale from the first "
            "instant, a claim by one can be recovered at once, and a loop fed with one reports success and protects "
            "nothing."
        ),
        reference_does="The same; supervision reads the clock anew for every beat.",
        port_must="Read the clock for each call and never reuse a reading.",
        repaired_by=None,
        evidence=Signs(
            attrs.evolve(
                STILL,
                name="a1 presents a reading 30,001 ms old",
                participants=(Participant(A, (Reading(0, -JUST_STALE_MS),)), _PEER),
            ),
            (
                sign("an owner by an old reading", "run.claimAndOwn", "Activated", A),
                sign("success, and no protection", "run.heartbeat", "Updated", A, _stale_on_arrival),
                sign("taken at once", "run.claimAndOwn", "Activated", B, _takes_from_a),
            ),
        ),
    ),
    Hazard(
        "H-14",
        "A stamp of the future stays",
        what_happens=(
            "A stamp never falls, so one that lies 10,000 ms ahead, or was written by a clock that has been set back "
            "since, keeps a dead owner fresh for that much longer. And an owner whose own clock is set back stretches "
            "the budget it counts by it."
        ),
        reference_does="The same: stamps never fall under one ownership.",
        port_must="Count budgets by a clock that is never set, and present no readings ahead of it.",
        repaired_by=None,
        evidence=Signs(
            attrs.evolve(
                STILL,
                name="a1 may present readings 10,000 ms ahead, 40,000 ms pass",
                participants=(Participant(A, (*honest(0), *ahead(0))), _PEER),
                advances=(_SILENCE_MS,),
            ),
            (
                sign("a stamp of the future", "run.heartbeat", "Updated", A, _stamped_ahead),
                sign("silent for 40,000 ms, and fresh", "run.claimAndOwn", "HeartbeatFresh", B, _silent_for_long),
            ),
            remarks=lambda _: (
                _margin("By the bounds, with the owner's clock set back by 10,001", Conditions(set_back_ms=10_001)),
            ),
        ),
    ),
    Hazard(
        "H-15",
        "`onLapse` has no bound",
        what_happens=(
            "Work is interrupted when the hook has returned. A hook that blocks, and work that is slow to stop, go on "
            "past the instant at which a peer may be granted the run."
        ),
        reference_does="The same order; what a hook does is its author's.",
        port_must="Return from the hook at once, and have work stand still within what the margin leaves.",
        repaired_by=None,
        evidence=_slow_hook,
    ),
    Hazard(
        "H-28",
        "An owner with a slow clock",
        what_happens=(
            "Stamps are of the owner's clock, staleness is by the peer's. An owner that lags has that much less time "
            "for each beat, though it beats on time; beyond 29,000 ms it is robbed at will, and nothing tells it why."
        ),
        reference_does="The same: the lag of a clock is seen by nobody.",
        port_must="Watch the clocks of hosts; a takeover from an owner that answers is the sign of it.",
        repaired_by=None,
        evidence=Signs(
            attrs.evolve(
                STILL,
                name="a1's clock lags by 30,001 ms",
                participants=(Participant(A, honest(-JUST_STALE_MS)), _PEER),
            ),
            (
                sign("a beat on time, stale on arrival", "run.heartbeat", "Updated", A, _stale_on_arrival),
                sign("robbed", "run.claimAndOwn", "Activated", B, _takes_from_a),
            ),
            remarks=_lag,
        ),
    ),
)
"""H-09 to H-15, H-28."""
