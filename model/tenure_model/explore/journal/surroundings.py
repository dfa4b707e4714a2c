"""Hazards of what the journal stands on: owners and clocks, what is on disk, and what texts look like."""

from functools import partial
from typing import Final

from tenure_model.explore.hazards.hazard import Hazard
from tenure_model.explore.journal import demonstrations
from tenure_model.explore.journal.evidence import demonstrated, outside, traced

SURROUNDINGS: Final = (
    Hazard(
        "HZ-08",
        "The fence asks only for the name",
        what_happens=(
            "A fenced write passes as long as the lease names its caller: with a stamp long stale, with a steal "
            "pending, and again after a release if the same identity comes back."
        ),
        reference_does="The same.",
        port_must="Draw a fresh nonce for every tenure, and stop work by the local deadline rather than by the fence.",
        repaired_by=None,
        evidence=partial(traced, "HZ-08"),
    ),
    Hazard(
        "HZ-09",
        "A live owner is displaced",
        what_happens=(
            "A steal looks at the stamp when it claims. If the owner beats between the claim and the activation, and "
            "the thief activates with the snapshot as it is then, the owner is replaced all the same, fresh as its "
            "stamp is. With the snapshot of the steal it is not, unless the beat moved nothing (H-31, H-36)."
        ),
        reference_does="The same.",
        port_must=(
            "An owner that was late reconfirms, which fails beside any claim, before it goes on; whoever stole "
            "activates with the snapshot it stole by."
        ),
        repaired_by=None,
        evidence=partial(traced, "HZ-09"),
    ),
    Hazard(
        "HZ-10",
        "A claim never expires",
        what_happens=(
            "A claimant or a thief that dies leaves its claim for ever: nobody can claim the run, however much time "
            "passes, until somebody removes the claim with evidence. A lease with an owner and without a stamp, which "
            "no operation leaves, is never stale, and so it can never be stolen."
        ),
        reference_does="The same.",
        port_must="Run a recovery that gathers evidence about claimants, and calls `recoverClaim`.",
        repaired_by=None,
        evidence=partial(
            demonstrated,
            demonstrations.stuck_claim,
            "every move of a scope has a clock of its own, and no time passes; and that a claim does not end by itself "
            "is said of all steps, not shown by one.",
        ),
    ),
    Hazard(
        "HZ-11",
        "Two tenures within one millisecond are one",
        what_happens=(
            "The time of a claim is all that tells tenures apart. An identity that gives its claim up and claims again "
            "within the millisecond makes the old grant good again."
        ),
        reference_does="The same.",
        port_must="Use an identity once.",
        repaired_by=None,
        evidence=partial(traced, "HZ-11"),
    ),
    Hazard(
        "HZ-12",
        "The caller's clock is believed",
        what_happens=(
            "Whether an owner is stale is judged by the reading that the thief brings. With the allowance of 10 s "
            "ahead, a run is taken whose owner beat 20.001 s ago by the store's own clock."
        ),
        reference_does="The same: a reading may be ahead of the store's clock by the allowance and no more.",
        port_must="Bound readings as the rules do, and leave the margins that the supervision leaves.",
        repaired_by=None,
        evidence=partial(
            demonstrated,
            demonstrations.clock_ahead,
            "the moves of a scope bring the readings that they were given: a search would find the one that was put "
            "there.",
        ),
    ),
    Hazard(
        "HZ-28",
        "Two secrets look alike",
        what_happens=(
            "Content is compared after redaction. Two events with one identity that differ only in secrets are the "
            "same event, and the second is a duplicate."
        ),
        reference_does="The same.",
        port_must="Let what must tell events apart stand outside sensitive members.",
        repaired_by=None,
        evidence=partial(
            demonstrated,
            demonstrations.secrets_look_alike,
            "scopes store what they are given, without looking for secrets. Redaction is one call without a state.",
        ),
    ),
    Hazard(
        "HZ-29",
        "What is remembered at the start goes by the clock",
        what_happens=(
            "An instance starts with the newest identities by emission time. After a backward step of the clock newer "
            "rows are older, and a lossy retry of one of them is admitted rather than recognised; the insert collapses "
            "it."
        ),
        reference_does="The same: receipts differ, rows do not.",
        port_must="Decide by the constraints of the tables; the cache only answers sooner.",
        repaired_by=None,
        evidence=partial(
            demonstrated,
            demonstrations.clock_back,
            "when an event was emitted is no part of the states that are searched, as only the start of an instance "
            "looks at it.",
        ),
    ),
    Hazard(
        "HZ-30",
        "One bad row keeps the journal shut",
        what_happens="A row among the newest that does not decode refuses the instance, for every run.",
        reference_does="The same: `decode_failed`.",
        port_must="Repair or remove the row by hand; there is no way around it.",
        repaired_by=None,
        evidence=partial(
            demonstrated,
            demonstrations.corrupt_row,
            "rows that a hand has written are in no scope. The one call that meets such a row is all there is to see.",
        ),
    ),
    Hazard(
        "HZ-31",
        "One lookup by two keys",
        what_happens=(
            "A duplicate is looked for by event id or by producer identity. In a table where a hand has forked a row, "
            "the two may find different rows, and the lowest number is taken."
        ),
        reference_does="The same. Rows that the store wrote cannot part the two, as the id is made of the identity.",
        port_must="Look by both, take the lowest.",
        repaired_by=None,
        evidence=partial(
            outside,
            "In the model a row is found by its identity alone, and its event id follows from that: no state of "
            "it has the two apart. Only a row that was written by hand can, in a table that is a real one.",
        ),
    ),
    Hazard(
        "HZ-34",
        "A cause may quote what was to be redacted",
        what_happens=(
            "A refusal of the input carries the complaint of the decoder, which in the recorded system may quote the "
            "payload before any redaction."
        ),
        reference_does="The cause names the member and what it must be, and quotes nothing.",
        port_must="Never put the value into the cause of a refused input.",
        repaired_by=None,
        evidence=partial(
            demonstrated,
            demonstrations.causes,
            "it is one call without a state.",
        ),
    ),
    Hazard(
        "HZ-35",
        "A lease in memory does not roll back",
        what_happens=(
            "With the strategy that keeps leases in process memory, what a transaction did to a lease stays when the "
            "transaction is rolled back: lease and row disagree."
        ),
        reference_does="The same for that strategy; the database strategy is part of the transaction.",
        port_must="Use the database strategy wherever transactions are.",
        repaired_by=None,
        evidence=partial(
            outside,
            "The model has one strategy, whose leases are rows of the transaction. The strategy that keeps them "
            "in process memory is the library's own, and no part of the model.",
        ),
    ),
    Hazard(
        "HZ-38",
        "Words that look like credentials",
        what_happens=(
            "The textual rules take ordinary prose for credentials: the word after `basic` or `bearer` is replaced, "
            "and a stored row cannot be restored."
        ),
        reference_does="The same.",
        port_must="Narrow the rules for journals of prose, or give a redactor of one's own.",
        repaired_by=None,
        evidence=partial(
            demonstrated,
            demonstrations.prose,
            "it is one call without a state.",
        ),
    ),
    Hazard(
        "HZ-39",
        "Absolute paths of other systems pass",
        what_happens=(
            "Only a leading slash makes a path absolute. A path with a drive letter is accepted, and names a place on "
            "one machine."
        ),
        reference_does="The same.",
        port_must="Make paths relative before they are recorded.",
        repaired_by=None,
        evidence=partial(
            demonstrated,
            demonstrations.foreign_paths,
            "it is one call without a state.",
        ),
    ),
)
