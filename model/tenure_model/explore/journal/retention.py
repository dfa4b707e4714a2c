"""Hazards of reading and of compaction."""

from functools import partial
from typing import Final

from tenure_model.explore.hazards.hazard import Hazard
from tenure_model.explore.journal import demonstrations
from tenure_model.explore.journal.evidence import demonstrated, traced

RETENTION: Final = (
    Hazard(
        "HZ-20",
        "Only one's own readers hold compaction back",
        what_happens=(
            "A stream protects its run only from the compactions of its own instance. Another process compacts past "
            "it, and its next page ends in `compacted`."
        ),
        reference_does="The same.",
        port_must="Resync from the checkpoint when a stream ends so, wherever compaction runs.",
        repaired_by=None,
        evidence=partial(traced, "HZ-20"),
    ),
    Hazard(
        "HZ-21",
        "What is read counts as consumed",
        what_happens=(
            "A stream's cursor moves when the page is read. Compaction then removes entries that the consumer still "
            "has in hand; if it dies, they can be had from the checkpoint only."
        ),
        reference_does="The same.",
        port_must="A consumer that must not miss entries keeps its own cursor, and checkpoints cover what it may lose.",
        repaired_by=None,
        evidence=partial(traced, "HZ-21"),
    ),
    Hazard(
        "HZ-22",
        "One loss ends every stream",
        what_happens=(
            "A loss that is reported ends every live stream of the instance at its next page, also of runs that lost "
            "nothing."
        ),
        reference_does="The same.",
        port_must="Open the stream again from the last cursor: nothing of its run is missing.",
        repaired_by=None,
        evidence=partial(traced, "HZ-22"),
    ),
    Hazard(
        "HZ-23",
        "A stranger compacts the run",
        what_happens=(
            "Automatic compaction has no fence: a process that does not own the run files its own state over the "
            "owner's checkpoint, and truncates the run below it. It asks for that state outside any transaction, so "
            "that rows committed meanwhile lie above the tail that it is filed under; a state that covers them is "
            "applied to them again."
        ),
        reference_does="The same.",
        port_must="Capture a state that says how far it goes, and let only the owner's process have a policy.",
        repaired_by=None,
        evidence=partial(traced, "HZ-23"),
    ),
    Hazard(
        "HZ-24",
        "A capture that flushes waits for itself",
        what_happens=(
            "A flush waits for maintenance, and the capture is part of it: the attempt is stuck until its time limit, "
            "and then damped."
        ),
        reference_does="The flush is refused at once as a mistake of the program, and the attempt damped.",
        port_must="Refuse what waits for the writer from within a capture.",
        repaired_by="R-9",
        evidence=partial(traced, "HZ-24"),
    ),
    Hazard(
        "HZ-25",
        "Rows that the policy does not count",
        what_happens=(
            "Rows that settle while an attempt is in flight are not counted, and a flush makes the policy forget an "
            "idle run's counter, the damping of failed attempts included."
        ),
        reference_does="The same.",
        port_must=(
            "Take the threshold for a hint: compaction may come later, and a failing capture is asked again sooner."
        ),
        repaired_by=None,
        evidence=partial(traced, "HZ-25"),
    ),
    Hazard(
        "HZ-26",
        "A compaction that is rolled back around",
        what_happens=(
            "Inside a transaction a compaction inserts what is pending of its run and truncates, and admissions go on "
            "before the outer commit. A rollback takes it all back, while producers still hold pending receipts; what "
            "failed on the way is not told before the writer meets it. In a transaction that a raw statement began, "
            "the rows are committed and never published."
        ),
        reference_does="The same: the entries stay queued, and the writer inserts them.",
        port_must="Compact at the top level unless it must be one with other writes.",
        repaired_by=None,
        evidence=partial(traced, "HZ-26"),
    ),
    Hazard(
        "HZ-27",
        "Tombstones are never collected",
        what_happens=(
            "Each entry that compaction removes leaves its identity, number and fingerprint for ever, so that the "
            "table grows with all that was ever emitted."
        ),
        reference_does="The same.",
        port_must="Delete a run whole when its producers are gone; nothing else may remove a tombstone.",
        repaired_by=None,
        evidence=partial(
            demonstrated,
            demonstrations.tombstones_stay,
            "that something grows without bound shows in no scope, as each is finite.",
        ),
    ),
    Hazard(
        "HZ-32",
        "Followers do not see a rewind",
        what_happens=(
            "After a rewind numbers come again under a new generation. A stream that stood above the cut waits where "
            "it stood, and never sees the rows that took those numbers."
        ),
        reference_does="The same.",
        port_must="Compare the generation with the one that was followed, and start over when it changed.",
        repaired_by=None,
        evidence=partial(
            demonstrated,
            demonstrations.rewound,
            "a rewind is the work of another program, no step of the model: the cut is made by hand here.",
        ),
    ),
    Hazard(
        "HZ-36",
        "A compaction that never gets its turn",
        what_happens=(
            "A compaction waits for a moment without a pending entry of its run. Emits that keep coming put that "
            "moment off without bound."
        ),
        reference_does="The same.",
        port_must="Pause the producer, or compact inside a transaction, which takes pending entries along.",
        repaired_by=None,
        evidence=partial(
            demonstrated,
            demonstrations.starved_compaction,
            "a scope has only so many emits, so that in each of them the compaction gets its turn at last. The "
            "sequence shows what can be repeated.",
        ),
    ),
    Hazard(
        "HZ-37",
        "Dropped below another's floor",
        what_happens=(
            "A reservation at or below a floor that another instance has compacted to is refused when it is written, "
            "and lost, although it could have moved up like any that was overtaken."
        ),
        reference_does="The same: reported as `compacted`.",
        port_must="Compact in the process that emits, or emit again when told.",
        repaired_by=None,
        evidence=partial(traced, "HZ-37"),
    ),
)
