"""A trace in lines that a person can read: when, who, what was called with what, the answer, and what it left.

Owners go by host and pid, ``a1``, where that tells them apart. Times are milliseconds from the start of the trace, as
its clocks showed them.
"""

from collections.abc import Mapping
from typing import Final

import attrs

from tenure_model.explore.canonical import NOW_MS
from tenure_model.explore.scope import Scope, owner_name, printable
from tenure_model.explore.system import outcome_name
from tenure_model.explore.traces import Moment, Trace
from tenure_model.semantics.steps import Outcome
from tenure_model.semantics.world import Claim, World
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import RunSnapshot, TransitionGuard

_UNSAID: Final = frozenset({"stateJson", "runId", "options"})
"""Arguments that say nothing in a trace: a run is named where there are several."""


def told(trace: Trace) -> tuple[str, ...]:
    """The trace, a line a step and under it what the step left where it changed anything."""
    lines: list[str] = []
    before: World | None = None
    for number, moment in enumerate(trace.moments, 1):
        lines.append(f"{number:>2}. {moment.at_ms:>7,} ms  {_step(trace.scope, moment)}")
        left = situation(trace.scope, moment.world)
        if moment.command is not None and (before is None or left != situation(trace.scope, before)):
            lines.append(f"                 {left}")
        before = moment.world
    return tuple(lines)


def situation(scope: Scope, world: World) -> str:
    """Row and lease of every run in one line; the lease is told where it is not what the row says."""
    parts = []
    for plan in scope.runs:
        run, lease = world.runs.get(plan.run_id), world.leases.get(plan.run_id)
        row = "no row"
        if run is not None:
            row = run.status if run.owner is None else f"{run.status} under {_stamped(run.owner, run.heartbeat_at_ms)}"
            row += _claimed(run.claim)
            row += ", cancellation requested" if run.cancel_requested_at_ms is not None else ""
            row += " and acknowledged" if run.acknowledgement is not None else ""
        on_row = None if run is None else (run.owner, run.heartbeat_at_ms, run.claim)
        on_lease: tuple[OwnerId | None, int | None, Claim | None] = (None, None, None)
        if lease is not None:
            held = lease.ownership
            on_lease = (
                None if held is None else held.owner,
                None if held is None else held.heartbeat_at_ms,
                lease.claim,
            )
        if on_lease != (on_row or (None, None, None)):
            owned = "nobody's" if on_lease[0] is None else _stamped(on_lease[0], on_lease[1])
            row += f"; on the lease: {owned}{_claimed(on_lease[2])}"
        parts.append(row if len(scope.runs) == 1 else f"{printable(plan.run_id)}: {row}")
    return " | ".join(parts)


def _step(scope: Scope, moment: Moment) -> str:
    command = moment.command
    if command is None:
        return "time passes"
    method = command.operation.removeprefix("run.")
    supplied = [
        f"{name}={_argument(value)}"
        for name, value in command.arguments.items()
        if name not in _UNSAID and not (isinstance(value, OwnerId) and value == scope.owners[moment.owner])
    ]
    if len(scope.runs) > 1:
        supplied.insert(0, printable(str(command.arguments["runId"])))
    clock_ms = int(command.clock_ms) - NOW_MS
    clock = "" if clock_ms == moment.at_ms else f", whose clock shows {clock_ms:,}"
    notes = "".join(f"  [{note}]" for note in (*moment.broken, *moment.fired))
    answer = answered(moment.outcome)
    return f"{owner_name(scope.owners[moment.owner])}{clock}: {method}({', '.join(supplied)}) -> {answer}{notes}"


def _argument(value: object) -> str:
    if isinstance(value, OwnerId):
        return owner_name(value)
    if isinstance(value, RunSnapshot):
        return value.status if value.owner is None else f"{value.status}/{_stamped(value.owner, value.heartbeat_at_ms)}"
    if isinstance(value, LivenessEvidence):
        return f"{value.kind} of {_stamped(value.expected_owner, value.checked_at_ms)}"
    if isinstance(value, TransitionGuard):
        return f"cancel {value.cancel_requested}"
    if isinstance(value, Mapping):
        return " and ".join(slot for slot in ("owner", "claim") if f"{slot}_host_id" in value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value - NOW_MS:,}"
    return str(value)


def answered(outcome: Outcome) -> str:
    """The answer with its fields."""
    name = outcome_name(outcome)
    if name == "ok" or outcome is None or isinstance(outcome, bool | tuple | RunStoreError):
        return name
    fields = [_argument(getattr(outcome, field.name)) for field in attrs.fields(type(outcome))]
    return f"{name}({', '.join(fields)})" if fields else name


def _stamped(owner: OwnerId, at_ms: int | None) -> str:
    return owner_name(owner) if at_ms is None else f"{owner_name(owner)}@{at_ms - NOW_MS:,}"


def _claimed(claim: Claim | None) -> str:
    return "" if claim is None else f", claimed by {_stamped(claim.claimant, claim.claimed_at_ms)}"
