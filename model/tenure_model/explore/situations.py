"""What a person would call the state a run is in: its status, whose claim is on it, and how fresh the stamps are."""

from typing import NamedTuple

from tenure_model.explore.canonical import NONE, RunCode
from tenure_model.semantics.predicates import is_stale
from tenure_model.vocabulary.statuses import RUN_STATUSES, is_terminal_run_status


class Situation(NamedTuple):
    """A class of states. ``owner`` is the freshness of the owner's stamp by an honest clock: ``fresh``, ``stale`` or
    ``none``. ``claimed`` says that a claim is pending, ``split`` that row and lease tell of different holders.
    """

    status: str
    owner: str
    claimed: bool
    split: bool


def situation_of(code: RunCode) -> Situation:
    """The situation of one run, by its row; where the row names no owner, or no claimant, by its lease."""
    status = "no row" if code.status == NONE else RUN_STATUSES[code.status]
    holder, stamp_ms = (code.owner, code.heartbeat) if code.owner != NONE else (code.lease_owner, code.lease_heartbeat)
    owner = "none" if holder == NONE else "stale" if is_stale(stamp_ms, 0) else "fresh"
    claimed = code.claimant != NONE or code.lease_claimant != NONE
    split = (code.owner, code.claimant, code.token) != (code.lease_owner, code.lease_claimant, code.lease_token)
    return Situation("settled" if is_terminal_run_status(status) else status, owner, claimed, split)


def caption(situation: Situation) -> tuple[str, ...]:
    """The situation in a few words, a line each."""
    lines = [situation.status]
    if situation.owner != "none":
        lines.append(f"owner {situation.owner}")
    if situation.claimed:
        lines.append("claimed")
    if situation.split:
        lines.append("row and lease differ")
    return tuple(lines)
