"""What is observed of each operation: the name and attributes of its span, the counter of its endings.

These are rules RS-966 and JN-413.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias, get_args

import attrs

from tenure.metrics import views
from tenure.metrics.telemetry import AttributeValue
from tenure.metrics.views import View
from tenure_model.admission.attempts import admit_attempt_id, admit_attempt_key
from tenure_model.admission.journal_input import admit_journal_input
from tenure_model.admission.journal_options import (
    admit_checkpoint_options,
    admit_compact_options,
    admit_entries_options,
    admit_stream_options,
)
from tenure_model.admission.records import admit_owner, admit_run_id
from tenure_model.admission.refusal import Refusal
from tenure_model.admission.text import has_surrogate
from tenure_model.vocabulary import attempt_outcomes, outcomes
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempts import AttemptId
from tenure_model.vocabulary.owners import OwnerId

FAILURE: Final = "failure"
"""The ending of a call that raised an ``Exception`` (RS-960)."""
INTERRUPT: Final = "interrupt"
"""The ending of a call that something else cut short: Ctrl-C, a cancellation (RS-960)."""
SUCCESS: Final = "success"
"""The ending of a call whose answers have no tag (RS-966)."""

Identify: TypeAlias = Callable[[Sequence[object]], Mapping[str, AttributeValue]]
"""From a call's arguments to what tells its span apart.

It judges them as admission does and leaves out what is refused: an argument may be anything.
"""


@attrs.frozen(eq=False)
class Operation:
    """One operation.

    ``endings`` has a view for each ending that is counted: a tag, ``failure``, ``interrupt``. ``outcomes`` are the
    values of the span's ``outcome`` by the class of the answer, or ``None`` where the span has none. ``to_at`` is where
    a requested status stands among the arguments.
    """

    span: str
    identify: Identify
    endings: Mapping[str, View] = attrs.Factory(dict)
    outcomes: Mapping[type[object], str] | None = None
    to_at: int | None = None


def requested_status(value: object) -> str:
    """The attribute ``to``: the text as given, even an invalid one (RS-961).

    What is no text is said by its type's name; half a surrogate pair, which no exporter can encode, as ``invalid``.
    """
    if type(value) is not str:
        return type(value).__name__
    return "invalid" if has_surrogate(value) else value


def _outcomes(union: object) -> Mapping[type[object], str]:
    return {outcome: views.snake_case(outcome.__name__) for outcome in get_args(union)}


def _endings(by_tag: Mapping[str, View]) -> Mapping[str, View]:
    """The published views, and those of the two endings without an outcome."""
    counter, attributes = next((view.counter, view.attributes[:-1]) for view in by_tag.values())
    unanswered = {ending: View(counter, (*attributes, ("outcome", ending))) for ending in (FAILURE, INTERRUPT)}
    return {**by_tag, **unanswered}


def _of_run(owner_name: str = "", owner_at: int | None = None) -> Identify:
    """The run's id is the first argument; the acting owner's host goes by ``owner_name``."""

    def identify(arguments: Sequence[object]) -> Mapping[str, AttributeValue]:
        attributes: dict[str, AttributeValue] = {}
        run_id = admit_run_id(arguments[0])
        if type(run_id) is str:
            attributes["runId"] = run_id
        if owner_at is not None:
            attributes.update(_host(owner_name, arguments[owner_at]))
        return attributes

    return identify


def _host(name: str, owner: object) -> Mapping[str, AttributeValue]:
    admitted = admit_owner(owner, "owner")
    return {name: admitted.host_id} if type(admitted) is OwnerId else {}


def _key(id: object) -> Mapping[str, AttributeValue]:
    if type(id) is not AttemptId:
        return {}
    return {"runId": id.run_id, "stepKeyDigest": id.step_key_digest, "attempt": id.attempt}


def _of_attempt(owner_at: int | None = None) -> Identify:
    """The attempt or its id is the first argument."""

    def identify(arguments: Sequence[object]) -> Mapping[str, AttributeValue]:
        host = _host("ownerHostId", arguments[owner_at]) if owner_at is not None else {}
        return {**_key(admit_attempt_id(arguments[0])), **host}

    return identify


def _of_attempt_beat(arguments: Sequence[object]) -> Mapping[str, AttributeValue]:
    run_id, step_key_digest, attempt, owner, *_ = arguments
    return {**_key(admit_attempt_key(run_id, step_key_digest, attempt)), **_host("ownerHostId", owner)}


def _run(
    method: str,
    identify: Identify,
    union: object = None,
    by_tag: Mapping[str, View] | None = None,
    to_at: int | None = None,
) -> Operation:
    endings = {} if by_tag is None else _endings(by_tag)
    return Operation(f"RunStore.{method}", identify, endings, _outcomes(union), to_at)


def _attempt(method: str, identify: Identify, union: object = None) -> Operation:
    return Operation(f"AttemptStore.{method}", identify, outcomes=_outcomes(union))


CREATE: Final = _run("create", _of_run())
GET: Final = _run("get", _of_run())
LINEAGE: Final = _run("lineage", _of_run())
LATEST_ROUND: Final = _run("latestRound", _of_run())
REQUEST_CANCEL: Final = _run("requestCancel", _of_run(), outcomes.RequestCancelOutcome)
REQUEST_CANCEL_LINEAGE: Final = _run("requestCancelLineage", _of_run(), outcomes.RequestCancelOutcome)
ACKNOWLEDGE_CANCEL: Final = _run("acknowledgeCancel", _of_run("ownerHostId", 1))
CLAIM: Final = _run("claim", _of_run("claimantHostId", 2), outcomes.ClaimOutcome, views.claim)
CLAIM_AND_OWN: Final = _run("claimAndOwn", _of_run("ownerHostId", 2), outcomes.ClaimAndOwnOutcome, views.claim_and_own)
ACTIVATE: Final = _run("activate", _of_run("claimantHostId", 1), outcomes.ActivateOutcome, views.activate)
ABANDON_CLAIM: Final = _run(
    "abandonClaim", _of_run("claimantHostId", 1), outcomes.AbandonClaimOutcome, views.abandon_claim
)
RECOVER_CLAIM: Final = _run(
    "recoverClaim", _of_run("observerHostId", 3), outcomes.RecoverClaimOutcome, views.recover_claim
)
HEARTBEAT: Final = _run("heartbeat", _of_run("ownerHostId", 1), outcomes.HeartbeatOutcome, views.heartbeat)
RECONFIRM: Final = _run("reconfirm", _of_run("ownerHostId", 1), outcomes.HeartbeatOutcome, views.heartbeat)
TRANSITION_OWNED: Final = _run(
    "transitionOwned", _of_run("ownerHostId", 1), outcomes.TransitionOutcome, views.transition, to_at=2
)
STEAL: Final = _run("steal", _of_run("claimantHostId", 2), outcomes.StealOutcome, views.steal)

PUT_ATTEMPT: Final = _attempt("put", _of_attempt(1), attempt_outcomes.PutResult)
GET_ATTEMPT: Final = _attempt("get", _of_attempt())
HEARTBEAT_ATTEMPT: Final = _attempt("heartbeat", _of_attempt_beat, attempt_outcomes.AttemptHeartbeatResult)
FINISH_ATTEMPT: Final = _attempt("finish", _of_attempt(1), attempt_outcomes.FinishResult)
PATCH_ATTEMPT: Final = _attempt("patch", _of_attempt(2), attempt_outcomes.PatchResult)


def _of_input(arguments: Sequence[object]) -> Mapping[str, AttributeValue]:
    """The event is the first argument."""
    admitted = admit_journal_input(arguments[0])
    if type(admitted) is Refusal:
        return {}
    return {"runId": admitted.run_id, "sourceId": admitted.source_id, "eventType": admitted.event_type}


def _of_options(admit: Callable[[object], object], fields: Mapping[str, str]) -> Identify:
    """The options are the first argument; ``fields`` says how an attribute goes by in what ``admit`` answers."""

    def identify(arguments: Sequence[object]) -> Mapping[str, AttributeValue]:
        admitted = admit(arguments[0])
        found = {name: getattr(admitted, field, ABSENT) for name, field in fields.items()}
        return {name: value for name, value in found.items() if value is not ABSENT}

    return identify


def _of_projection(arguments: Sequence[object]) -> Mapping[str, AttributeValue]:
    """The projection is the first argument, the run's id the second."""
    name: object = getattr(arguments[0], "name", None)
    return {**({"projection": name} if type(name) is str else {}), **_of_run()(arguments[1:])}


def _of_flush(arguments: Sequence[object]) -> Mapping[str, AttributeValue]:
    """How many entries were not settled is the first argument."""
    (pending,) = arguments
    return {"pending": pending} if type(pending) is int else {}


def _of_nothing(arguments: Sequence[object]) -> Mapping[str, AttributeValue]:
    """Nothing tells one call from another."""
    return {}


def _journal(method: str, identify: Identify, endings: Mapping[str, View] | None = None) -> Operation:
    return Operation(f"Journal.{method}", identify, {} if endings is None else endings)


EMIT_DURABLE: Final = _journal("emitDurable", _of_input, views.durable)
EMIT_DURABLE_UNFENCED: Final = _journal("emitDurableUnfenced", _of_input, views.durable)
EMIT_LOSSY: Final = _journal("emitLossy", _of_input, views.lossy)
FLUSH: Final = _journal("flush", _of_flush)
ENTRIES: Final = _journal(
    "entries",
    _of_options(
        admit_entries_options, {"runId": "run_id", "limit": "limit", "after": "after", "eventTypes": "event_types"}
    ),
)
STREAM: Final = _journal(
    "stream", _of_options(admit_stream_options, {"runId": "run_id", "afterSequence": "after_sequence"})
)
CHANGES: Final = _journal("changes", _of_nothing)
PROJECT: Final = _journal("project", _of_projection)
CHECKPOINT: Final = _journal("checkpoint", _of_options(admit_checkpoint_options, {"runId": "run_id", "seq": "seq"}))
LATEST_CHECKPOINT: Final = _journal("latestCheckpoint", _of_run())
COMPACT: Final = _journal("compact", _of_options(admit_compact_options, {"runId": "run_id", "upTo": "up_to"}))
TRANSACT: Final = _journal("transact", _of_nothing)
WHEN_COMMITTED: Final = _journal("whenCommitted", _of_nothing)
GENERATION: Final = _journal("generation", _of_run())
FORGET: Final = _journal("forget", _of_nothing)
CLOSE: Final = _journal("close", _of_nothing)


def consensus(method: str) -> Operation:
    """The operation of a strategy; the run's id is its first argument (JN-413)."""
    return Operation(f"Consensus.{method}", _of_run())
