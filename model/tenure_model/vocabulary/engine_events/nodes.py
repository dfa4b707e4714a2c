"""Records of nodes: scheduled, settled, invalidated, reconciled (JN-370, JN-373..JN-376, JN-381..JN-384).

``object`` marks a member of which no more than the name is fixed: it is JSON. ``ABSENT`` is a member left out.
"""

from typing import ClassVar, Final, Literal, TypeAlias

import attrs

from tenure_model.vocabulary.absent import ABSENT, AbsentType

NODE_SCHEDULED: Final = "flows.engine.node-scheduled"
NODE_SETTLED: Final = "flows.engine.node-settled"
NODE_INVALIDATED: Final = "flows.engine.node-invalidated"
NODE_RECONCILED: Final = "flows.engine.node-reconciled"

NodeOutcome: TypeAlias = Literal["built", "clean", "failed", "skipped", "deferred"]
InvalidationReason: TypeAlias = Literal["measured-inputs-changed"]

NODE_OUTCOMES: Final[tuple[NodeOutcome, ...]] = ("built", "clean", "failed", "skipped", "deferred")
INVALIDATION_REASONS: Final[tuple[InvalidationReason, ...]] = ("measured-inputs-changed",)

DEFAULT_PREVIEW_UNITS: Final = 1_024
"""The longest preview unless told otherwise, in UTF-16 units (JN-384)."""

DEFAULT_REDACTION_BYTES: Final = 64 * 1024
"""The largest value that is redacted for a preview unless told otherwise, in bytes of its JSON (JN-384)."""


@attrs.frozen
class ResultPreview:
    """The beginning of the JSON text of a redacted value (JN-384).

    ``bytes`` is the size of the text it was cut from. ``truncated`` warns that it may not parse.
    """

    preview: str
    bytes: int
    truncated: bool


@attrs.frozen
class NodeScheduled:
    """A node is about to run, as its ``attempt``-th try, which counts from 1 (JN-373)."""

    event_type: ClassVar[str] = NODE_SCHEDULED

    node_id: str
    kind: str
    attempt: int
    plan_id: str | AbsentType = ABSENT
    plan_key: object = ABSENT
    dispatch_key: object = ABSENT
    priority: int | AbsentType = ABSENT
    waited: int | AbsentType = ABSENT
    action: object = ABSENT


@attrs.frozen
class NodeSettled:
    """What became of a node (JN-374).

    ``built`` ran, ``clean`` was served a recorded result, ``deferred`` is still owed (JN-381). ``attempts`` is the
    executor's own count; of an interpreter, the highest durable attempt of any dispatch (JN-382). ``step_key_digests``
    names each dispatch once: the attempts of the execution with such a digest are the node's; empty means that nothing
    was dispatched, ``ABSENT`` that the writer derives no digests (JN-383).
    """

    event_type: ClassVar[str] = NODE_SETTLED

    node_id: str
    outcome: NodeOutcome
    attempts: int
    plan_id: str | AbsentType = ABSENT
    plan_key: object = ABSENT
    dispatch_key: object = ABSENT
    step_key_digests: tuple[str, ...] | AbsentType = ABSENT
    rebases: int | AbsentType = ABSENT
    action: object = ABSENT
    result: ResultPreview | AbsentType = ABSENT


@attrs.frozen
class NodeInvalidated:
    """A node has another key than before, because what it was measured by changed (JN-375)."""

    event_type: ClassVar[str] = NODE_INVALIDATED

    plan_id: str
    node_id: str
    plan_key: object
    before: object
    after: object
    reason: InvalidationReason


@attrs.frozen
class NodeReconciled:
    """The verdict, JSON, on one deviation (JN-376)."""

    event_type: ClassVar[str] = NODE_RECONCILED

    plan_id: str
    node_id: str
    trigger: str
    verdict: object


NodeRecord: TypeAlias = NodeScheduled | NodeSettled | NodeInvalidated | NodeReconciled
