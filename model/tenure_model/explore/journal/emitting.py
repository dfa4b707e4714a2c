"""Hazards of emitting, of flushing and of closing."""

from functools import partial
from typing import Final

from tenure_model.explore.hazards.hazard import Hazard
from tenure_model.explore.journal import demonstrations
from tenure_model.explore.journal.evidence import demonstrated, traced

EMITTING: Final = (
    Hazard(
        "HZ-01",
        "A number given by hand makes the next one collide",
        what_happens=(
            "A producer's number that was given explicitly passes for all that is known of the producer. After a "
            "restart an explicit retry of an old number makes the next lossy emit take a number that is taken on disk: "
            "the event is lost as a conflict, or falls silently onto another under `identity`."
        ),
        reference_does=(
            "An explicit number raises the floor but does not warm it; an emit that leaves its number out reads the "
            "disk first, unless an earlier one did."
        ),
        port_must="Keep apart what the floor of a producer is and whether it covers the disk.",
        repaired_by="R-5",
        evidence=partial(traced, "HZ-01"),
    ),
    Hazard(
        "HZ-02",
        "Two processes give one number to two events",
        what_happens=(
            "The number of a lossy event is chosen at admission and not looked at again when it is written. Of two "
            "instances that emit for one producer, the one that writes later loses its event as a conflict."
        ),
        reference_does="The same. The loss is reported, so the next flush tells of it.",
        port_must="Give each process a producer of its own, or explicit numbers from one source.",
        repaired_by=None,
        evidence=partial(traced, "HZ-02"),
    ),
    Hazard(
        "HZ-03",
        "Closing drops accepted entries without a word",
        what_happens=(
            "The last flush of a close fails at once if a loss was never reported, and what is still queued goes with "
            "the queue: no row, no report."
        ),
        reference_does="A close drains until nothing is pending, whatever was lost before.",
        port_must="Drain before closing; treat a failing final flush as one report and go on.",
        repaired_by="R-6",
        evidence=partial(traced, "HZ-03"),
    ),
    Hazard(
        "HZ-04",
        "Several losses, one report",
        what_happens=(
            "Losses that nobody has been told of are told as one, the latest, without a count; whoever flushes first "
            "takes the report that another waits for."
        ),
        reference_does=(
            "The report is still one and the latest, but every flush that covers a lost entry fails by it too."
        ),
        port_must="Count losses in metrics, and let only one place flush where each loss matters.",
        repaired_by=None,
        evidence=partial(traced, "HZ-04"),
    ),
    Hazard(
        "HZ-05",
        "A flush that waits for what came after it",
        what_happens=(
            "A flush ends well only when nothing at all is pending, so that steady emits, of other runs too, keep it "
            "waiting although all that it was called for is on disk."
        ),
        reference_does=(
            "A flush is a ticket: it waits for what was admitted and registered before it, and for nothing else."
        ),
        port_must="Note at the call what a flush covers, and answer when that has ended.",
        repaired_by="R-8",
        evidence=partial(traced, "HZ-05"),
    ),
    Hazard(
        "HZ-06",
        "The evicted are not told",
        what_happens=(
            "With `drop-oldest` the entry that gives way may be of another run and producer. Only the emitter that "
            "displaced it sees so in its receipt: neither who emitted the entry is told, nor who sent it again and was "
            "answered that it is a duplicate and pending. No loss is reported, and nothing counts it."
        ),
        reference_does="The same.",
        port_must="Count evictions, and give runs that must not lose entries a journal or a policy of their own.",
        repaired_by=None,
        evidence=partial(traced, "HZ-06"),
    ),
    Hazard(
        "HZ-07",
        "A repeated identity spoils what is remembered",
        what_happens=(
            "After a duplicate under `identity` the memory holds the repetition's content. A later exact retry of the "
            "row is then refused as a conflict that does not exist, until the identity is forgotten."
        ),
        reference_does="What stands is remembered, whatever was sent.",
        port_must="Fill the cache from the row that stands, never from the call.",
        repaired_by="R-7",
        evidence=partial(traced, "HZ-07"),
    ),
    Hazard(
        "HZ-13",
        "What is committed may never be published",
        what_happens=(
            "A process that dies between the commit and what follows it leaves rows that its subscribers were never "
            "told of. Other processes are not told of anything in any case."
        ),
        reference_does="The same.",
        port_must="Take notifications for hints; read `entries` or a stream, which polls, for the truth.",
        repaired_by=None,
        evidence=partial(traced, "HZ-13"),
    ),
    Hazard(
        "HZ-14",
        "A body that runs again gets other numbers",
        what_happens=(
            "Numbers stay spent when a transaction rolls back. A body that is run again gets new ones, so that a "
            "receipt kept from its first run names nothing."
        ),
        reference_does="The same.",
        port_must=(
            "Use receipts of the attempt that committed only, and explicit numbers where a retry must be the same "
            "event."
        ),
        repaired_by=None,
        evidence=partial(traced, "HZ-14"),
    ),
    Hazard(
        "HZ-15",
        "Sending again after an unknown commit",
        what_happens=(
            "A commit that reached the disk and was reported as a failure looks like one that did not. An event with "
            "its number given collapses when it is sent again; one without is stored twice."
        ),
        reference_does="The same; a failing commit is told apart as an unknown outcome.",
        port_must="Give numbers to whatever must not be doubled.",
        repaired_by=None,
        evidence=partial(
            demonstrated,
            demonstrations.unknown_commit,
            "a commit is one in the model or it is none. That its caller does not know which is no part of a state.",
        ),
    ),
    Hazard(
        "HZ-16",
        "A lossy entry outlives the transaction it was made in",
        what_happens=(
            "A lossy emit inside a transaction is queued at once. When the transaction is rolled back the entry stays, "
            "and the writer makes a row of it: telemetry of something that never was."
        ),
        reference_does="The same.",
        port_must="Inside a transaction emit durably, or emit after the commit.",
        repaired_by=None,
        evidence=partial(traced, "HZ-16"),
    ),
    Hazard(
        "HZ-17",
        "Order of the producer, order of the run",
        what_happens=(
            "A lossy event that is admitted before a durable one of the same producer may be committed after it: "
            "ascending in the run, the producer's numbers then descend."
        ),
        reference_does="The same.",
        port_must="Order one producer's events by `sourceSeq`, a run's by `seq`; or use one channel a producer.",
        repaired_by=None,
        evidence=partial(traced, "HZ-17"),
    ),
    Hazard(
        "HZ-18",
        "A provisional number is another's",
        what_happens=(
            "The `seq` of an accepted lossy event is a reservation. Overtaken, the event moves up, and another row "
            "stands at the number that its receipt named."
        ),
        reference_does="The same.",
        port_must="Use as cursor or checkpoint only what was read back or durably received.",
        repaired_by=None,
        evidence=partial(traced, "HZ-18"),
    ),
    Hazard(
        "HZ-19",
        "Forgetting a run while something is in flight",
        what_happens=(
            "Told to forget a run, an instance drops its floors, not its queue. With an entry pending, the next one "
            "gets the same numbers, and one of the two is lost or falls onto the other."
        ),
        reference_does="The same.",
        port_must="A rewinder brings the run's producers to rest and flushes before it forgets.",
        repaired_by=None,
        evidence=partial(traced, "HZ-19"),
    ),
    Hazard(
        "HZ-33",
        "A wait for oneself",
        what_happens="A flush in a transaction waits for a writer that waits for the transaction: nothing ends it.",
        reference_does="A usage error at once.",
        port_must="Refuse whatever waits for the writer inside a transaction.",
        repaired_by="R-9",
        evidence=partial(traced, "HZ-33"),
    ),
    Hazard(
        "HZ-40",
        "A flush returns before its entries are on disk",
        what_happens=(
            "With a loss unreported a flush fails at once, while entries that were admitted before it are still "
            "queued. Whoever takes any return for a barrier goes on too early."
        ),
        reference_does="A flush waits for all it covers, and then fails.",
        port_must="Answer no flush before its entries have ended.",
        repaired_by="R-8",
        evidence=partial(traced, "HZ-40"),
    ),
    Hazard(
        "HZ-41",
        "A flush that a close leaves waiting",
        what_happens=(
            "Found by the search: while a close is about to give up (HZ-03), a flush may still be called. It waits for "
            "the entries that the close then drops, and as they never settle, nothing ever answers it."
        ),
        reference_does="A close drains, so whatever a flush waits for beside it settles.",
        port_must="Answer every waiting flush before the journal is closed, whatever the close has done.",
        repaired_by="R-6",
        evidence=partial(traced, "HZ-41"),
    ),
)
