"""Tests of what the operations on runs are counted as and which spans they open, outcome by outcome."""

from collections.abc import Callable, Mapping

import pytest

import tenure
from tests.metrics.support import Counted, Observed, key, swallow
from tests.runs.support import NOW, STALE, A, B, C, World, evidence, running

OLD = NOW - STALE - 1
Call = Callable[[World], object]


def left_stale(world: World) -> None:
    """A run that ``A`` left long ago."""
    world.owned(at=OLD)


def left_claimed(world: World) -> None:
    """A run that ``A`` claimed long ago."""
    world.claimed(at=OLD)


def pending(world: World) -> None:
    """A run that nobody wants yet."""
    world.runs.create("r", "{}")


def nothing(world: World) -> None:
    """An empty store."""


def owned(world: World) -> None:
    """A run that ``A`` owns."""
    world.owned()


def claimed(world: World) -> None:
    """A run that ``A`` has claimed."""
    world.claimed()


def settled(world: World) -> None:
    """A run that is over."""
    world.settled()


def claim(world: World) -> object:
    return world.runs.claim("r", tenure.PENDING, C, NOW)


def claim_and_own(world: World) -> object:
    return world.runs.claim_and_own("r", tenure.PENDING, C, NOW)


def own_stale(world: World) -> object:
    return world.runs.claim_and_own("r", running(A, OLD), C, NOW)


def activate(world: World) -> object:
    return world.runs.activate("r", A, NOW, tenure.PENDING)


def activate_another(world: World) -> object:
    return world.runs.activate("r", A, NOW, running(C))


def abandon(world: World) -> object:
    return world.runs.abandon_claim("r", A, NOW)


def recover(world: World) -> object:
    return world.runs.recover_claim("r", A, OLD, C, NOW, evidence())


def recover_young(world: World) -> object:
    return world.runs.recover_claim("r", A, NOW, C, NOW, evidence())


def recover_unproven(world: World) -> object:
    return world.runs.recover_claim("r", A, OLD, C, NOW, evidence(B))


def steal(world: World) -> object:
    return world.runs.steal("r", running(A, OLD), C, NOW, evidence())


def steal_young(world: World) -> object:
    return world.runs.steal("r", running(A, NOW), C, NOW, evidence())


def steal_unproven(world: World) -> object:
    return world.runs.steal("r", running(A, OLD), C, NOW, evidence(B))


def steal_another(world: World) -> object:
    return world.runs.steal("r", running(A, OLD - 1), C, NOW, evidence())


def steal_twice(world: World) -> None:
    """A stale run that ``C`` has stolen already."""
    world.stolen(C)


def beat(owner: tenure.OwnerId) -> Call:
    return lambda world: world.runs.heartbeat("r", owner, NOW)


def reconfirm(owner: tenure.OwnerId) -> Call:
    return lambda world: world.runs.reconfirm("r", owner, NOW)


def move(to: tenure.TargetStatus, owner: tenure.OwnerId = A) -> Call:
    return lambda world: world.runs.transition_owned("r", owner, to)


def move_guarded(world: World) -> object:
    return world.runs.transition_owned("r", A, "failed", guard=tenure.TransitionGuard("present"))


CLAIMS: list[tuple[str, Callable[[World], None], Call, str]] = [
    ("claim", pending, claim, "claimed"),
    ("claim", nothing, claim, "not_found"),
    ("claim", claimed, claim, "already_claimed"),
    ("claim", owned, claim, "heartbeat_fresh"),
    ("claim", settled, claim, "snapshot_changed"),
    ("claim_and_own", pending, claim_and_own, "activated"),
    ("claim_and_own", nothing, claim_and_own, "not_found"),
    ("claim_and_own", claimed, claim_and_own, "already_claimed"),
    ("claim_and_own", owned, claim_and_own, "heartbeat_fresh"),
    ("claim_and_own", settled, claim_and_own, "snapshot_changed"),
    ("claim_and_own", left_stale, own_stale, "evidence_required"),
    ("activate", claimed, activate, "activated"),
    ("activate", pending, activate, "claim_lost"),
    ("activate", claimed, activate_another, "snapshot_changed"),
    ("abandon_claim", claimed, abandon, "abandoned"),
    ("abandon_claim", pending, abandon, "claim_lost"),
    ("recover_claim", left_claimed, recover, "recovered"),
    ("recover_claim", nothing, recover, "not_found"),
    ("recover_claim", claimed, recover_young, "claim_fresh"),
    ("recover_claim", claimed, recover, "claim_changed"),
    ("recover_claim", left_claimed, recover_unproven, "liveness_unconfirmed"),
    ("steal", left_stale, steal, "claimed"),
    ("steal", nothing, steal, "not_found"),
    ("steal", steal_twice, steal, "already_claimed"),
    ("steal", owned, steal_young, "heartbeat_fresh"),
    ("steal", left_stale, steal_another, "snapshot_changed"),
    ("steal", left_stale, steal_unproven, "liveness_unconfirmed"),
]
HOSTS = {
    "claim": {"claimantHostId": "h2"},
    "claim_and_own": {"ownerHostId": "h2"},
    "activate": {"claimantHostId": "h1"},
    "abandon_claim": {"claimantHostId": "h1"},
    "recover_claim": {"observerHostId": "h2"},
    "steal": {"claimantHostId": "h2"},
}
SPANS = {
    "claim": "RunStore.claim",
    "claim_and_own": "RunStore.claimAndOwn",
    "activate": "RunStore.activate",
    "abandon_claim": "RunStore.abandonClaim",
    "recover_claim": "RunStore.recoverClaim",
    "steal": "RunStore.steal",
}


def observe(observed: Observed, call: Call) -> tuple[Counted, list[tuple[str, Mapping[str, object], bool]]]:
    """What rises, and which spans end, in a call."""
    with observed.rises() as risen:
        swallow(lambda: call(observed.world))
    return risen, observed.collected.of_operations()


@pytest.mark.parametrize(("op", "prepare", "call", "outcome"), CLAIMS)
def test_each_outcome_of_a_claim_is_counted(
    observed: Observed, op: str, prepare: Call, call: Call, outcome: str
) -> None:
    """One call, one update under its operation and outcome, one span (RS-960, RS-961, RS-966)."""
    prepare(observed.world)
    risen, spans = observe(observed, call)

    assert risen == {key("flows_run_claims", op=op, outcome=outcome): 1}
    assert spans == [(SPANS[op], {"runId": "r", **HOSTS[op], "outcome": outcome}, False)]


@pytest.mark.parametrize("beat", [beat, reconfirm])
@pytest.mark.parametrize(
    ("prepare", "owner", "outcome"), [(owned, A, "updated"), (owned, B, "fence_lost"), (nothing, A, "not_found")]
)
def test_each_outcome_of_a_beat_is_counted(
    observed: Observed, beat: Callable[[tenure.OwnerId], Call], prepare: Call, owner: tenure.OwnerId, outcome: str
) -> None:
    """``reconfirm`` counts as a heartbeat, and has a span of its own name (RS-494, RS-961, RS-966)."""
    prepare(observed.world)
    risen, spans = observe(observed, beat(owner))
    name = "RunStore.reconfirm" if beat is reconfirm else "RunStore.heartbeat"

    assert risen == {key("flows_run_heartbeats", outcome=outcome): 1}
    assert spans == [(name, {"runId": "r", "ownerHostId": "h1", "outcome": outcome}, False)]


@pytest.mark.parametrize(
    ("prepare", "call", "outcome", "to"),
    [
        (owned, move("running"), "transitioned", "running"),
        (owned, move("suspended"), "transitioned", "suspended"),
        (owned, move("completed"), "transitioned", "completed"),
        (owned, move("failed"), "transitioned", "failed"),
        (owned, move("cancelled"), "transitioned", "cancelled"),
        (owned, move("completed", B), "fence_lost", "completed"),
        (nothing, move("running"), "not_found", "running"),
        (owned, move_guarded, "guard_failed", "failed"),
    ],
)
def test_each_outcome_of_a_transition_is_counted(
    observed: Observed, prepare: Call, call: Call, outcome: str, to: str
) -> None:
    """Under the requested status; where that ends the run, it is throughput too (RS-961, RS-965)."""
    prepare(observed.world)
    risen, spans = observe(observed, call)
    ends = outcome == "transitioned" and to in ("completed", "failed", "cancelled")
    throughput = {key("flows/run/throughput"): 1} if ends else {}

    assert risen == {key("flows_run_transitions", outcome=outcome, to=to): 1, **throughput}
    assert spans == [
        ("RunStore.transitionOwned", {"runId": "r", "ownerHostId": "h1", "to": to, "outcome": outcome}, False)
    ]


@pytest.mark.parametrize(
    ("call", "name", "attributes"),
    [
        (lambda world: world.runs.create("new", "{}"), "create", {"runId": "new", "outcome": "success"}),
        (lambda world: world.runs.get("r"), "get", {"runId": "r", "outcome": "success"}),
        (lambda world: world.runs.get("none"), "get", {"runId": "none", "outcome": "failure"}),
        (lambda world: world.runs.lineage("r"), "lineage", {"runId": "r", "outcome": "success"}),
        (lambda world: world.runs.latest_round("r"), "latestRound", {"runId": "r", "outcome": "success"}),
        (
            lambda world: world.runs.request_cancel("r", NOW),
            "requestCancel",
            {"runId": "r", "outcome": "cancel_requested"},
        ),
        (
            lambda world: world.runs.request_cancel_lineage("none", NOW),
            "requestCancelLineage",
            {"runId": "none", "outcome": "not_found"},
        ),
        (
            lambda world: world.runs.acknowledge_cancel("r", A, NOW),
            "acknowledgeCancel",
            {"runId": "r", "ownerHostId": "h1", "outcome": "success"},
        ),
    ],
)
def test_the_other_operations_have_spans_and_no_counter(
    observed: Observed, call: Call, name: str, attributes: Mapping[str, str]
) -> None:
    """Without a tag the outcome of an answer is ``success`` (RS-961, RS-966)."""
    observed.world.owned()
    risen, spans = observe(observed, call)

    assert risen == {}
    assert spans == [(f"RunStore.{name}", attributes, attributes["outcome"] == "failure")]


COUNTED: list[tuple[Call, dict[str, str], str]] = [
    (claim, {"op": "claim"}, "flows_run_claims"),
    (claim_and_own, {"op": "claim_and_own"}, "flows_run_claims"),
    (activate, {"op": "activate"}, "flows_run_claims"),
    (abandon, {"op": "abandon_claim"}, "flows_run_claims"),
    (recover, {"op": "recover_claim"}, "flows_run_claims"),
    (steal, {"op": "steal"}, "flows_run_claims"),
    (beat(A), {}, "flows_run_heartbeats"),
    (reconfirm(A), {}, "flows_run_heartbeats"),
    (move("completed"), {"to": "completed"}, "flows_run_transitions"),
]


@pytest.mark.parametrize(("call", "attributes", "counter"), COUNTED)
@pytest.mark.parametrize(
    ("error", "ending"),
    [(RuntimeError(), "failure"), (KeyboardInterrupt(), "interrupt"), (SystemExit([1]), "interrupt")],
)
def test_a_call_without_an_outcome_is_counted(
    observed: Observed, call: Call, attributes: dict[str, str], counter: str, error: BaseException, ending: str
) -> None:
    """By what cut it short: an error, or an interruption (RS-960, RS-961)."""
    observed.fail_with(error)
    risen, spans = observe(observed, call)
    observed.mend()

    assert risen == {key(counter, outcome=ending, **attributes): 1}
    assert [(attributes["outcome"], attributes["runId"], failed) for _, attributes, failed in spans] == [
        (ending, "r", True)
    ]


@pytest.mark.parametrize(
    ("call", "attributes", "counter"),
    [
        (lambda world: world.runs.claim("", tenure.PENDING, A, NOW), {"op": "claim"}, "flows_run_claims"),
        (lambda world: world.runs.claim_and_own("r", 1, A, NOW), {"op": "claim_and_own"}, "flows_run_claims"),
        (lambda world: world.runs.activate("r", A, -1, tenure.PENDING), {"op": "activate"}, "flows_run_claims"),
        (lambda world: world.runs.abandon_claim("r", A, 0.5), {"op": "abandon_claim"}, "flows_run_claims"),
        (lambda world: world.runs.recover_claim("r", A, 1, B, NOW, {}), {"op": "recover_claim"}, "flows_run_claims"),
        (lambda world: world.runs.steal("r", running(), A, NOW, None), {"op": "steal"}, "flows_run_claims"),
        (lambda world: world.runs.heartbeat("r", A, "soon"), {}, "flows_run_heartbeats"),
        (lambda world: world.runs.reconfirm("r", {}, NOW), {}, "flows_run_heartbeats"),
        (lambda world: world.runs.transition_owned("r", A, "done"), {"to": "done"}, "flows_run_transitions"),
        (lambda world: world.runs.transition_owned("r", A, ["x"]), {"to": "list"}, "flows_run_transitions"),
        (lambda world: world.runs.transition_owned("r", A, "done\ud800"), {"to": "invalid"}, "flows_run_transitions"),
    ],
)
def test_refused_input_is_a_failure_that_names_nobody(
    observed: Observed, call: Call, attributes: dict[str, str], counter: str
) -> None:
    """It counts, ``to`` is as given, and what was not admitted is no attribute (RS-960, RS-961, RS-966)."""
    risen, spans = observe(observed, call)
    to = {"to": attributes["to"]} if "to" in attributes else {}

    assert risen == {key(counter, outcome="failure", **attributes): 1}
    assert [(found, failed) for _, found, failed in spans] == [({**to, "outcome": "failure"}, True)]


def test_identity_comes_from_records_in_wire_form_too(observed: Observed) -> None:
    """An owner given as a ``dict`` is known by its host (RS-966)."""
    observed.world.owned()
    owner: object = {"hostId": "h1", "pid": 1, "nonce": "a"}
    _, spans = observe(observed, beat(owner))  # type: ignore[arg-type]  # the wire's form of an owner

    assert spans == [("RunStore.heartbeat", {"runId": "r", "ownerHostId": "h1", "outcome": "updated"}, False)]
