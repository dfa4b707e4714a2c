"""Cancellation against completion, against creation, and how soon it is seen (BR-39, BR-41, BR-42)."""

import itertools

import attrs
import pytest

import tenure
from tenure.port import StoreSystem
from tenure_model.conform.model_system import ModelSystem
from tenure_model.semantics.profiles import REFERENCE
from tenure_model.vocabulary.errors import RunStoreError
from tests.cases.support import STALE, T0, A, B, ModelSubject, StoreSubject, must, owned, unchanged

NO_REQUEST = tenure.TransitionGuard("absent")
REQUEST = tenure.TransitionGuard("present")

CALLS = {
    "request": lambda subject: subject.request_cancel("r", T0 + 1),
    "acknowledge": lambda subject: subject.acknowledge_cancel("r", A, T0 + 2),
    "complete": lambda subject: subject.transition_owned("r", A, "completed", guard=NO_REQUEST),
}


def one_of_two_ends(answers):
    """Either the cancellation came first and the completion knows it, or the completion and the cancellation knows."""
    ends = (answers["request"], answers["complete"])
    assert ends in (
        (tenure.CancelRequested(T0 + 1), tenure.GuardFailed()),
        (tenure.Terminal("completed"), tenure.Transitioned()),
    )


def every_order_has_one_of_two_ends(make):
    """All orders of request, acknowledgement and guarded completion; the row says the same as the answers."""
    for order in itertools.permutations(CALLS):
        subject = owned(make)
        answers = {name: CALLS[name](subject) for name in order}
        one_of_two_ends(answers)
        row = subject.get("r")
        cancelled = answers["request"] == tenure.CancelRequested(T0 + 1)
        assert row.status == ("running" if cancelled else "completed")
        assert (row.cancel_requested_at_ms is not None) == cancelled
        assert answers["acknowledge"] == (cancelled and order.index("request") < order.index("acknowledge"))
        if cancelled:
            ending = subject.transition_owned("r", A, "cancelled", guard=REQUEST)
            assert ending == tenure.Transitioned()


def test_br_39_every_order_of_cancel_and_complete(make):
    """BR-39: in every order exactly one wins, and the other is told."""
    every_order_has_one_of_two_ends(make)


GUARD = (r"\(\?5 IS NULL OR \(cancel_requested_at_ms IS NOT NULL\) = \?5\)", "ifnull(?5, 0) >= 0")
SETTLED = (r"(cancel_requested_at_ms IS NULL) AND status IN \('pending', 'running', 'suspended'\)", r"\1")


@pytest.mark.parametrize("rewrite", [GUARD, SETTLED], ids=["no guard", "cancels what has settled"])
def test_br_39_kills_a_cancel_that_is_lost(kills, rewrite):
    """BR-39: a completion that does not look, and a request recorded on a settled run, are found."""
    kills(every_order_has_one_of_two_ends, rewrite)


STEPS = {
    "request": ("run.requestCancel", {"runId": "r", "nowMs": T0 + 1}),
    "acknowledge": ("run.acknowledgeCancel", {"runId": "r", "owner": A, "nowMs": T0 + 2}),
    "complete": ("run.transitionOwned", {"runId": "r", "owner": A, "toStatus": "completed", "guard": NO_REQUEST}),
}


class Party:
    """One session that makes one call inside a transaction of its own, in three steps, and repeats what is busy."""

    def __init__(self, system, name):
        self.system, self.name, self.answer = system, name, None
        self.steps = ["begin", "call", "commit"]

    def step(self):
        """Take the next step, unless another session has the write lock."""
        step = self.steps[0]
        if step == "call":
            self.answer = self.system.call(self.name, *STEPS[self.name], T0)
        elif not self.system.control(self.name, f"session.{step}"):
            return
        self.steps.pop(0)


def interleavings():
    """All orders of the three steps of each of three parties."""
    return sorted(set(itertools.permutations([name for name in CALLS for _ in range(3)])))


@pytest.fixture(params=["model", "store"])
def system(request):
    """One database with a session for each party."""
    names = tuple(CALLS)
    system = ModelSystem(REFERENCE, names) if request.param == "model" else StoreSystem.on_file(names)
    yield system
    if isinstance(system, StoreSystem):
        system.close()


def test_br_39_every_interleaving_of_their_transactions(system):
    """BR-39: the same with each call in a transaction of its own, begun, called and committed at any point."""
    orders = interleavings()
    undo = ("acknowledge", "row.delete", {"runId": "r"}, T0)
    # A file costs a hundred times as much as the model: every fourteenth order there.
    for order in orders if isinstance(system, ModelSystem) else orders[::14]:
        system.call("request", "run.create", {"runId": "r", "stateJson": "{}"}, T0)
        claim = {"runId": "r", "expected": tenure.PENDING, "owner": A, "nowMs": T0}
        must(system.call("request", "run.claimAndOwn", claim, T0), tenure.Activated)
        parties = {name: Party(system, name) for name in CALLS}
        for name in order:
            if parties[name].steps:
                parties[name].step()
        while any(party.steps for party in parties.values()):
            for party in parties.values():
                if party.steps:
                    party.step()
        one_of_two_ends({name: party.answer for name, party in parties.items()})
        assert system.call(*undo) is True


def unknown_ids_keep_nothing(make):
    """A request for a run that does not exist is told so and leaves no trace for a later run of that id."""
    subject = make()
    with unchanged(subject):
        assert subject.request_cancel("r", T0) == tenure.NotFound()
        assert subject.request_cancel_lineage("r", T0) == tenure.NotFound()
        assert subject.acknowledge_cancel("r", A, T0) is False
    must(subject.create("r", "{}"), type(None))
    assert subject.get("r").cancel_requested_at_ms is None
    must(subject.claim_and_own("r", tenure.PENDING, A, T0), tenure.Activated)
    assert subject.acknowledge_cancel("r", A, T0) is False
    assert subject.transition_owned("r", A, "completed", guard=NO_REQUEST) == tenure.Transitioned()


def test_br_41_a_cancel_before_the_run_exists(make):
    """BR-41: ``NotFound``, nothing kept, and a run that is created later starts uncancelled."""
    unknown_ids_keep_nothing(make)


class ReportsDelivered(ModelSystem):
    """Says that any cancellation was delivered."""

    def call(self, session, operation, arguments, clock_ms):
        answer = super().call(session, operation, arguments, clock_ms)
        if operation == "run.requestCancel" and answer == tenure.NotFound():
            return tenure.CancelRequested(arguments["nowMs"])
        return answer


class KeepsForLater(ModelSystem):
    """Remembers requests for runs that do not exist, and applies them to a run of that id."""

    waiting = False

    def call(self, session, operation, arguments, clock_ms):
        answer = super().call(session, operation, arguments, clock_ms)
        self.waiting |= operation == "run.requestCancel" and answer == tenure.NotFound()
        if operation == "run.create" and self.waiting:
            super().call(session, "run.requestCancel", {"runId": arguments["runId"], "nowMs": T0}, clock_ms)
        return answer


@pytest.mark.parametrize("wrong", [ReportsDelivered, KeepsForLater])
def test_br_41_kills_a_cancel_into_the_void(wrong):
    """BR-41: a request reported as delivered, or kept for a run that comes later, is found."""
    with pytest.raises(AssertionError):
        unknown_ids_keep_nothing(lambda: ModelSubject(wrong(REFERENCE, ("s0",))))


def intent_is_seen_at_once(make):
    """The next read shows the request, and the next guarded write obeys it, with no beat and no time between."""
    for target in ("completed", "failed", "suspended", "running"):
        subject = owned(make)
        assert subject.get("r").cancel_requested_at_ms is None
        must(subject.request_cancel("r", T0), tenure.CancelRequested)
        assert subject.transition_owned("r", A, target, guard=NO_REQUEST) == tenure.GuardFailed()
        assert subject.get("r").cancel_requested_at_ms == T0
        assert subject.latest_round("r").cancel_requested_at_ms == T0
        assert subject.acknowledge_cancel("r", A, T0) is True
        assert subject.transition_owned("r", A, target, guard=REQUEST) == tenure.Transitioned()


def test_br_42_a_cancel_is_seen_at_once(make):
    """BR-42: by the very next ``get``, and by the very next guarded transition, without a heartbeat in between."""
    intent_is_seen_at_once(make)


def test_br_42_other_connections_see_it_at_once(tmp_path):
    """BR-42: the same for an owner and a requester with connections of their own."""
    path = str(tmp_path / "runs.db")
    owner, requester = owned(lambda: StoreSubject(path)), StoreSubject(path)
    before = owner.get("r").cancel_requested_at_ms
    requested = requester.request_cancel("r", T0)
    seen = owner.get("r").cancel_requested_at_ms
    guarded = owner.transition_owned("r", A, "completed", guard=NO_REQUEST)
    owner.close()
    requester.close()

    assert (before, requested, seen, guarded) == (None, tenure.CancelRequested(T0), T0, tenure.GuardFailed())


class SeesAtHeartbeat(ModelSystem):
    """Shows a cancellation only after the owner has beaten."""

    beaten = False

    def call(self, session, operation, arguments, clock_ms):
        self.beaten |= operation == "run.heartbeat"
        answer = super().call(session, operation, arguments, clock_ms)
        if operation in ("run.get", "run.latestRound") and not self.beaten and not isinstance(answer, RunStoreError):
            return attrs.evolve(answer, cancel_requested_at_ms=None)
        return answer


def test_br_42_kills_a_cancel_seen_by_heartbeats(kills):
    """BR-42: a read that lags until the next beat, and a guarded write that does not look, are found."""
    kills(intent_is_seen_at_once, GUARD)

    with pytest.raises(AssertionError):
        intent_is_seen_at_once(lambda: ModelSubject(SeesAtHeartbeat(REFERENCE, ("s0",))))


def test_br_42_a_request_outlives_takeover_and_suspension(make):
    """BR-42: whoever owns the run next sees the request too: it is cleared by nobody (RS-424)."""
    subject = owned(make)
    must(subject.request_cancel("r", T0), tenure.CancelRequested)
    must(subject.transition_owned("r", A, "suspended"), tenure.Transitioned)
    subject.clock_ms = T0 + STALE
    must(subject.claim_and_own("r", tenure.SUSPENDED, B, subject.clock_ms), tenure.Activated)

    assert subject.get("r").cancel_requested_at_ms == T0
    assert subject.transition_owned("r", B, "completed", guard=NO_REQUEST) == tenure.GuardFailed()
