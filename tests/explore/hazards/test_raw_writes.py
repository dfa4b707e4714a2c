"""Raw writes in a scope: drawn where it asks for them, admitted by the model, and told in a trace."""

from tenure_model.explore.calls import calls
from tenure_model.explore.canonical import NOW_MS
from tenure_model.explore.hazards.looking import Signs, sign
from tenure_model.explore.hazards.places import RAW, RIGHT, STILL, A
from tenure_model.explore.scope import WRITE_LEASE, WRITE_ROW, Scope
from tenure_model.explore.telling import told
from tenure_model.semantics.commands import Command, apply
from tenure_model.semantics.profiles import REFERENCE
from tenure_model.semantics.world import World, empty_world
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.runs import PENDING


def owned() -> World:
    """A run that a1 owns."""
    world = apply(empty_world(), Command("run.create", {"runId": "r", "stateJson": "{}"}, NOW_MS)).world
    own = {"runId": "r", "expected": PENDING, "owner": A, "nowMs": NOW_MS}
    return apply(world, Command("run.claimAndOwn", own, NOW_MS)).world


def raw_writes(scope: Scope, world: World) -> list[Command]:
    """The raw writes that the scope draws in this world, in order."""
    return [
        call.command
        for call in calls(scope, world, scope.runs[0])
        if call.command.operation in (WRITE_ROW, WRITE_LEASE)
    ]


def test_a_scope_that_does_not_ask_has_none() -> None:
    """The sixteen operations leave the tables to the store."""
    assert raw_writes(RIGHT, owned()) == []


def test_each_owner_may_be_put_into_row_and_lease() -> None:
    """As claimant or owner of the row, as claimant beside the lease's owner, and the lease may be lost."""
    written = [apply(owned(), command) for command in raw_writes(RAW, owned())]
    rows = [(step.world.runs["r"].owner, step.world.runs["r"].claim) for step in written]
    leases = [step.world.leases.get("r") for step in written]

    assert not any(isinstance(step.outcome, RunStoreError) for step in written)
    assert len(set(rows)) == 4
    assert [lease is None for lease in leases] == [False, False, True, False] * 2
    assert [None if one is None or one.claim is None else one.claim.claimant.host_id for one in leases] == (
        [None, None, None, "a", None, None, None, "b"]
    )


def test_nothing_is_written_to_a_row_that_is_not_there() -> None:
    """The lease may be written all the same."""
    assert {command.operation for command in raw_writes(RAW, empty_world())} == {WRITE_LEASE}


def test_a_trace_tells_what_was_written() -> None:
    """The slots that the write fills stand in the line."""
    scope = Scope("raw", STILL.participants, operations=frozenset({"run.create", WRITE_ROW}), symmetric=False)
    found = Signs(scope, (sign("in the row", WRITE_ROW, "true", A),)).under(REFERENCE)

    assert found.trace is not None
    assert "a1: row.write(columns=claim) -> true  [in the row]" in told(found.trace)[2]
