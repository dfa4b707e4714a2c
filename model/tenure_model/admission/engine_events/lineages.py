"""The lineage of an engine event (JN-351)."""

from typing import Final

from tenure_model.admission.engine_events.members import MalformedError, identifier, quantity, strict_record, word
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.engine_events.lineage import LINEAGE_KINDS, Lineage, LineageKind

_NAMES: Final = frozenset(("kind", "runId", "lineageId", "rootRunId", "round", "parentRunId"))


def read_lineage(value: object, place: str) -> Lineage:
    """A lineage whose members agree with its kind and with each other (JN-351)."""
    members = strict_record(value, _NAMES, place)
    kind: LineageKind = word(members, "kind", place, LINEAGE_KINDS)
    run_id = identifier(members, "runId", place)
    lineage_id = identifier(members, "lineageId", place)
    root_run_id = identifier(members, "rootRunId", place)
    round_ = quantity(members, "round", place)
    if kind == "root":
        if members.get("parentRunId", ABSENT) is not None:
            raise MalformedError(f"{place}.parentRunId", "must be null in a root")
        if round_ != 0:
            raise MalformedError(f"{place}.round", "must be 0 in a root")
        if run_id != root_run_id:
            raise MalformedError(f"{place}.rootRunId", "must be the run itself in a root")
        return Lineage(kind, run_id, lineage_id, root_run_id, round_, None)
    parent_run_id = identifier(members, "parentRunId", place)
    if run_id == root_run_id:
        raise MalformedError(f"{place}.rootRunId", "must not be the run itself in a derived run")
    if run_id == parent_run_id:
        raise MalformedError(f"{place}.parentRunId", "must not be the run itself")
    if kind == "continuation" and round_ == 0:
        raise MalformedError(f"{place}.round", "must be positive in a continuation")
    return Lineage(kind, run_id, lineage_id, root_run_id, round_, parent_run_id)
