"""Wrong models, each wrong in one place: what the explorer must find."""

from typing import Final

import attrs

from tenure_model.explore.scope import Scope
from tenure_model.explore.scopes import LINEAGE
from tenure_model.vocabulary.outcomes import (
    Abandoned,
    Activated,
    AlreadyClaimed,
    AlreadyRequested,
    CancelRequested,
    ClaimChanged,
    Claimed,
    ClaimFresh,
    ClaimLost,
    EvidenceRequired,
    FenceLost,
    GuardFailed,
    HeartbeatFresh,
    LivenessUnconfirmed,
    NotFound,
    Recovered,
    SnapshotChanged,
    Transitioned,
    Updated,
)
from tests.explore import wrong_steps
from tests.explore.wrong_steps import (
    LEASE_IN_HAND,
    ROW_IN_HAND,
    TWO_OWNERS,
    Apply,
    after,
    owns_settled_runs,
    owns_under_a_claim,
    rewriting_settled_rounds,
)


@attrs.frozen
class Mutant:
    """A wrong model: the property it is wrong by, and the number of steps of the shortest counterexample.

    ``also`` are the other properties that the same going wrong breaks in as few steps, ``scope`` is where it shows.
    Where a hand breaks properties before the model does, ``alone`` has just the one be asked.
    """

    name: str
    property: str
    apply: Apply
    steps: int
    also: frozenset[str] = frozenset()
    scope: Scope = TWO_OWNERS
    alone: bool = False


MUTANTS: Final = (
    Mutant(
        "takeover-leaves-the-lease",
        "one-owner",
        after("claimAndOwn", Activated, wrong_steps.keeps_the_old_owner),
        4,
        frozenset({"owners-agree", "facts-tell"}),
    ),
    Mutant(
        "heartbeat-forgets-the-row", "owners-agree", after("heartbeat", Updated, wrong_steps.forgets_the_rows_stamp), 3
    ),
    Mutant("steal-forgets-the-row", "claims-agree", after("steal", Claimed, wrong_steps.forgets_the_rows_claim), 4),
    Mutant(
        "abandon-forgets-the-lease",
        "claims-agree",
        after("abandonClaim", Abandoned, wrong_steps.keeps_the_leases_claim),
        3,
        frozenset({"facts-tell"}),
    ),
    Mutant(
        "suspend-keeps-the-owner",
        "running-is-owned",
        after("transitionOwned", Transitioned, wrong_steps.only_the_status),
        3,
    ),
    Mutant(
        "suspend-keeps-the-stamp",
        "running-is-owned",
        after("transitionOwned", Transitioned, wrong_steps.keeps_the_stamp),
        3,
        frozenset({"owners-agree"}),
    ),
    Mutant(
        "claim-creates",
        "rows-stay",
        after("claim", NotFound, wrong_steps.creates_what_is_missing),
        1,
        frozenset({"answers-tell"}),
    ),
    Mutant(
        "lineage-removes-the-settled",
        "rows-stay",
        after("requestCancelLineage", CancelRequested, wrong_steps.removes_settled_rounds),
        5,
        scope=LINEAGE,
    ),
    Mutant(
        "completion-removes-the-run",
        "rows-stay",
        after("transitionOwned", Transitioned, wrong_steps.removes_what_is_completed),
        3,
    ),
    Mutant("lineage-ends-again", "terminal-stays", rewriting_settled_rounds(finished_at_ms=1), 5, scope=LINEAGE),
    Mutant(
        "lineage-cancels-the-settled", "terminal-stays", rewriting_settled_rounds(status="cancelled"), 5, scope=LINEAGE
    ),
    Mutant("settled-runs-are-claimable", "terminal-stays", owns_settled_runs, 4),
    Mutant(
        "settled-state-is-written",
        "terminal-stays",
        after("transitionOwned", FenceLost, wrong_steps.writes_late_state),
        4,
        frozenset({"answers-tell", "fenced", "guarded"}),
    ),
    Mutant(
        "heartbeat-goes-back", "stamp-never-falls", after("heartbeat", Updated, wrong_steps.stamps_what_it_is_told), 3
    ),
    Mutant(
        "last-request-stands", "written-once", after("requestCancel", AlreadyRequested, wrong_steps.requests_again), 3
    ),
    Mutant(
        "last-acknowledgement-stands",
        "written-once",
        after("acknowledgeCancel", True, wrong_steps.acknowledges_again),
        5,
    ),
    Mutant(
        "lineage-requests-again",
        "written-once",
        after("requestCancelLineage", CancelRequested, wrong_steps.requests_other_rounds_again),
        4,
        scope=LINEAGE,
    ),
    Mutant("own-under-a-claim", "owners-come-in", owns_under_a_claim, 3),
    Mutant(
        "activate-the-unclaimed", "owners-come-in", after("activate", ClaimLost, wrong_steps.activates_the_unclaimed), 2
    ),
    Mutant(
        "activate-untold-claims",
        "owners-come-in",
        after("activate", ClaimLost, wrong_steps.activates_and_tells_of_no_claim),
        2,
        frozenset({"facts-tell"}),
    ),
    Mutant("activate-again", "owners-come-in", after("activate", ClaimLost, wrong_steps.activates_again), 3),
    Mutant(
        "activate-over-an-owner",
        "owners-come-in",
        after("activate", ClaimLost, wrong_steps.activates_over_an_owner),
        3,
        frozenset({"no-theft", "evidence-first"}),
    ),
    Mutant(
        "activate-by-the-row",
        "owners-come-in",
        after("activate", ClaimLost, wrong_steps.activates_by_the_row),
        4,
        scope=LEASE_IN_HAND,
        alone=True,
    ),
    Mutant(
        "activate-by-the-lease",
        "owners-come-in",
        after("activate", ClaimLost, wrong_steps.activates_by_the_lease),
        3,
        scope=LEASE_IN_HAND,
        alone=True,
    ),
    Mutant("claim-owns-at-once", "owners-come-in", after("claim", Claimed, wrong_steps.owns_what_it_claimed), 2),
    Mutant("own-for-the-other", "owners-come-in", after("claimAndOwn", Activated, wrong_steps.owns_for_the_other), 2),
    Mutant(
        "own-by-another-token", "owners-come-in", after("claimAndOwn", Activated, wrong_steps.owns_by_another_token), 2
    ),
    Mutant("steal-from-the-living", "no-theft", after("steal", HeartbeatFresh, wrong_steps.steals_from_the_living), 3),
    Mutant(
        "steal-with-a-later-token",
        "no-theft",
        after("steal", HeartbeatFresh, wrong_steps.steals_with_a_later_token),
        3,
        frozenset({"claims-begin-well"}),
    ),
    Mutant(
        "take-over-the-living", "no-theft", after("claimAndOwn", HeartbeatFresh, wrong_steps.takes_over_the_living), 3
    ),
    Mutant(
        "abandon-gives-the-run-back",
        "no-theft",
        after("abandonClaim", Abandoned, wrong_steps.gives_the_run_back_too),
        5,
    ),
    Mutant("claim-with-a-later-token", "claims-begin-well", after("claim", Claimed, wrong_steps.claims_later), 2),
    Mutant("claim-for-the-other", "claims-begin-well", after("claim", Claimed, wrong_steps.claims_for_the_other), 2),
    Mutant(
        "recovery-claims",
        "claims-begin-well",
        after("recoverClaim", Recovered, wrong_steps.claims_what_it_recovered),
        4,
    ),
    Mutant(
        "recover-a-fresh-claim", "claims-end-well", after("recoverClaim", ClaimFresh, wrong_steps.recovers_anyway), 3
    ),
    Mutant(
        "recover-by-any-token",
        "claims-end-well",
        after("recoverClaim", ClaimChanged, wrong_steps.recovers_whatever_the_token),
        4,
    ),
    Mutant(
        "abandon-by-any-token",
        "claims-end-well",
        after("abandonClaim", ClaimLost, wrong_steps.abandons_whatever_the_token),
        3,
    ),
    Mutant(
        "abandon-by-anybody",
        "claims-end-well",
        after("abandonClaim", ClaimLost, wrong_steps.ends_a_claim_by_its_token(Abandoned())),
        3,
    ),
    Mutant(
        "recover-from-another",
        "claims-end-well",
        after("recoverClaim", ClaimChanged, wrong_steps.ends_a_claim_by_its_token(Recovered())),
        4,
        frozenset({"evidence-first"}),
    ),
    Mutant(
        "running-clears-the-claim",
        "claims-end-well",
        after("transitionOwned", Transitioned, wrong_steps.clears_while_running),
        5,
    ),
    Mutant(
        "request-clears-the-claim",
        "claims-end-well",
        after("requestCancel", CancelRequested, wrong_steps.clears_the_claim),
        3,
    ),
    Mutant("claim-over-a-claim", "claims-end-well", after("claim", AlreadyClaimed, wrong_steps.claims_over), 3),
    Mutant(
        "steal-by-any-proof",
        "evidence-first",
        after("steal", LivenessUnconfirmed, wrong_steps.steals_whatever_the_proof),
        4,
    ),
    Mutant(
        "steal-by-proof-about-another",
        "evidence-first",
        after("steal", SnapshotChanged, wrong_steps.steals_whatever_the_proof),
        4,
    ),
    Mutant(
        "own-without-proof",
        "evidence-first",
        after("claimAndOwn", EvidenceRequired, wrong_steps.takes_over_without_proof),
        4,
    ),
    Mutant(
        "recover-by-any-proof",
        "evidence-first",
        after("recoverClaim", LivenessUnconfirmed, wrong_steps.recovers_whatever_the_proof),
        4,
    ),
    Mutant(
        "absent-is-no-guard",
        "guarded",
        after("transitionOwned", GuardFailed, wrong_steps.moves_whatever_the_guard("absent")),
        4,
    ),
    Mutant(
        "present-is-no-guard",
        "guarded",
        after("transitionOwned", GuardFailed, wrong_steps.moves_whatever_the_guard("present")),
        3,
    ),
    Mutant(
        "strangers-transition",
        "fenced",
        after("transitionOwned", FenceLost, wrong_steps.moves_for_its_owner),
        3,
    ),
    Mutant(
        "transition-by-the-row",
        "fenced",
        after("transitionOwned", FenceLost, wrong_steps.moves_by(row=True)),
        4,
        scope=LEASE_IN_HAND,
        alone=True,
    ),
    Mutant(
        "transition-by-the-lease",
        "fenced",
        after("transitionOwned", FenceLost, wrong_steps.moves_by(row=False)),
        4,
        scope=ROW_IN_HAND,
        alone=True,
    ),
    Mutant("strangers-heartbeat", "fenced", after("heartbeat", FenceLost, wrong_steps.moves_for_its_owner), 3),
    Mutant("strangers-reconfirm", "fenced", after("reconfirm", FenceLost, wrong_steps.moves_for_its_owner), 3),
    Mutant("strangers-acknowledge", "fenced", after("acknowledgeCancel", False, wrong_steps.moves_for_its_owner), 4),
    Mutant("heartbeat-is-no-change", "revision-grows", after("heartbeat", Updated, wrong_steps.spends_no_revision), 3),
    Mutant(
        "late-heartbeat-gives-back", "revision-grows", after("heartbeat", Updated, wrong_steps.gives_a_revision_back), 3
    ),
    Mutant(
        "change-is-ahead", "revision-grows", after("heartbeat", Updated, wrong_steps.changes_ahead_of_the_source), 3
    ),
    Mutant(
        "rounds-share-a-revision",
        "revision-grows",
        after("requestCancelLineage", CancelRequested, wrong_steps.spends_one_revision),
        3,
        scope=LINEAGE,
    ),
    Mutant("recovery-goes-untold", "facts-tell", after("recoverClaim", Recovered, wrong_steps.tells_nothing), 4),
    Mutant("heartbeat-takes-facts-back", "facts-tell", after("heartbeat", Updated, wrong_steps.takes_facts_back), 3),
    Mutant(
        "own-tells-another-token", "facts-tell", after("claimAndOwn", Activated, wrong_steps.tells_another_token), 2
    ),
    Mutant("own-tells-no-claim", "facts-tell", after("claimAndOwn", Activated, wrong_steps.tells_no_claim), 2),
    Mutant(
        "grant-is-not-the-token",
        "facts-tell",
        after("activate", Activated, wrong_steps.grants_its_own_clock),
        3,
        frozenset({"owners-come-in"}),
    ),
    Mutant("heartbeat-is-not-written", "answers-tell", after("heartbeat", Updated, wrong_steps.writes_nothing), 3),
    Mutant(
        "acknowledgement-is-not-written",
        "answers-tell",
        after("acknowledgeCancel", True, wrong_steps.writes_nothing),
        4,
    ),
    Mutant("create-is-not-written", "answers-tell", after("create", None, wrong_steps.writes_nothing), 1),
    Mutant(
        "refused-claim-is-written", "answers-tell", after("claim", SnapshotChanged, wrong_steps.rewrites_the_row), 2
    ),
    Mutant(
        "strangers-are-told-updated", "answers-tell", after("heartbeat", FenceLost, wrong_steps.answers(Updated())), 2
    ),
    Mutant(
        "guards-are-told-transitioned",
        "answers-tell",
        after("transitionOwned", GuardFailed, wrong_steps.answers(Transitioned())),
        3,
    ),
    Mutant(
        "abandon-is-told-lost", "answers-tell", after("abandonClaim", Abandoned, wrong_steps.answers(ClaimLost())), 3
    ),
    Mutant(
        "activate-gives-up-the-state",
        "answers-tell",
        after("activate", SnapshotChanged, wrong_steps.gives_up_the_state_too),
        3,
    ),
    Mutant(
        "any-claim-is-given-up",
        "answers-tell",
        after("activate", ClaimLost, wrong_steps.drops_any_claim),
        3,
        frozenset({"claims-end-well"}),
    ),
)
"""At least one for every property, and one for each thing that a property looks at apart."""
