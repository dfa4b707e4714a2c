----------------------------- MODULE Ownership -----------------------------
(* Who may own one run: the run's row, the lease that arbitrates, and the    *)
(* sixteen operations on them. Written from the rules (RS-...), as a second  *)
(* opinion: it shares nothing with the model in Python.                      *)
(*                                                                           *)
(* Every operation is a function from its arguments to one answer: the       *)
(* outcome, the row after and the lease after. An operation's action picks   *)
(* one of the SET of answers that all its arguments give, so that TLC        *)
(* generates each labelled transition exactly once, however many arguments   *)
(* lead to it. A refusal is an answer that changes nothing.                  *)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS
    Hosts,        \* a set of disjoint sets of owners: who lives together on one host; owners are 1..n
    Readings,     \* what any clock may say when a call is made, in ms; time does not pass by itself
    Kinds,        \* of evidence that callers present
    Profile,      \* "reference" (R-1 to R-4 applied) or "original"
    AllowDelete,  \* may an administrator delete the row behind the store's back?
    None          \* a model value, what SQL calls null

VARIABLES
    row,    \* None, or what the table of runs says
    lease,  \* what the lease table says; all None is the same as no lease
    last    \* the call just answered; cfg files take it out of the state with VIEW

Repaired == Profile = "reference"
Owners == UNION Hosts
StaleAfter == 30000
Terminal == {"completed", "failed", "cancelled"}
Statuses == {"pending", "running", "suspended"} \union Terminal
EvidenceKinds == {"same-host-pid-dead", "cross-host-unreachable-stale", "lease-expired"}

ASSUME /\ Profile \in {"reference", "original"}
       /\ AllowDelete \in BOOLEAN
       /\ Owners = 1..Cardinality(Owners)
       /\ Readings \subseteq Nat
       /\ Kinds \subseteq EvidenceKinds /\ Kinds # {}

state == <<row, lease>>
NoLease == [owner |-> None, heartbeat |-> None, claimant |-> None, token |-> None]

-----------------------------------------------------------------------------
(* Predicates (RS-004).                                                      *)

Stale(stamp, now) == stamp # None /\ stamp < now - StaleAfter
SameHost(a, b) == \E host \in Hosts : {a, b} \subseteq host

Snapshot(status, owner, heartbeat) == [status |-> status, owner |-> owner, heartbeat |-> heartbeat]
Idle(status) == Snapshot(status, None, None)
RowSnapshot == IF row = None THEN Idle("pending") ELSE Snapshot(row.status, row.owner, row.heartbeat)

RowIs(expected) == row # None /\ RowSnapshot = expected
ClaimFree == row.claimant = None
ClaimIs(who, token) == row # None /\ row.claimant = who /\ row.token = token
Owned(who) == row # None /\ row.status = "running" /\ row.owner = who

(* RS-456: why a claim, a steal or a takeover was not admitted.              *)
Loss(now) ==
    IF row = None THEN "NotFound"
    ELSE IF ~ClaimFree THEN "AlreadyClaimed"
    ELSE IF row.status = "running" /\ ~Stale(row.heartbeat, now) THEN "HeartbeatFresh"
    ELSE "SnapshotChanged"

-----------------------------------------------------------------------------
(* Arguments. Kinds of evidence differ only in which pairs of hosts they fit *)
(* (RS-207), and evidence that does not fit is as useless as one of another  *)
(* reading. So "lease-expired" alone gives every transition that all give.   *)

Expected ==
    {RowSnapshot, Idle("pending"), Idle("suspended")}
        \union {Snapshot("running", owner, heartbeat) : owner \in Owners, heartbeat \in Readings}

Evidence(now) ==
    [about : Owners, kind : Kinds, checkedAt : {now}]
        \union [about : Owners, kind : Kinds, checkedAt : {now + 1}]

Matches(target, observer, now, evidence) ==
    /\ evidence # None
    /\ evidence.about = target
    /\ evidence.checkedAt = now
    /\ evidence.kind = "same-host-pid-dead" => SameHost(target, observer)
    /\ evidence.kind = "cross-host-unreachable-stale" => ~SameHost(target, observer)

-----------------------------------------------------------------------------
(* The lease (RS-202 to RS-210). The strategy decides by it alone.           *)

LeaseFree(l) == l.claimant = None /\ l.owner = None                               \* RS-202
WithClaim(l, who, now) == [l EXCEPT !.claimant = who, !.token = now]
WithoutClaim(l) == [l EXCEPT !.claimant = None, !.token = None]
WithOwner(who, now) == [NoLease EXCEPT !.owner = who, !.heartbeat = now]          \* RS-203
Renewed(l, now) == [l EXCEPT !.heartbeat = IF @ < now THEN now ELSE @]            \* RS-204
LeaseStealable(l, from, now) == l.owner = from /\ Stale(l.heartbeat, now) /\ l.claimant = None   \* RS-208

ReleaseClaim(l, who) == IF l.claimant = who THEN WithoutClaim(l) ELSE l
ReleaseOwner(l, who) == IF l.owner = who THEN [l EXCEPT !.owner = None, !.heartbeat = None] ELSE l
Release(l, who) == ReleaseOwner(ReleaseClaim(l, who), who)                        \* RS-206

(* R-1: leaving a run ends every claim on it, a stranger's too.              *)
ReleaseOnLeaving(l, who) == IF Repaired THEN WithoutClaim(Release(l, who)) ELSE Release(l, who)
(* R-2: giving up a claim never gives up an ownership.                       *)
ReleaseOnGivingUp(l, who) == IF Repaired THEN ReleaseClaim(l, who) ELSE Release(l, who)

-----------------------------------------------------------------------------
(* Answers.                                                                  *)

Answer(outcome, rowAfter, leaseAfter) == [outcome |-> outcome, row |-> rowAfter, lease |-> leaseAfter]
Unchanged(outcome) == Answer(outcome, row, lease)

RowWithClaim(who, now) == [row EXCEPT !.claimant = who, !.token = now]
RowWithoutClaim == [row EXCEPT !.claimant = None, !.token = None]
RowWithOwner(who, now) ==
    [row EXCEPT !.status = "running", !.owner = who, !.heartbeat = now, !.claimant = None, !.token = None]

(* RS-400 to RS-402                                                          *)
Created ==
    IF row # None THEN Unchanged("constraint")
    ELSE Answer("ok",
                [status |-> "pending", owner |-> None, heartbeat |-> None, claimant |-> None, token |-> None,
                 cancel |-> FALSE, acknowledged |-> FALSE],
                lease)

(* RS-405, RS-742, RS-743: reads. The lineage of an unknown run is empty.    *)
Got == Unchanged(IF row = None THEN "not_found_row" ELSE "ok")
LineageRead == Unchanged("ok")

(* RS-421, RS-422; with one run in its lineage RS-431, RS-432 say the same.  *)
CancelRequested ==
    IF row = None THEN Unchanged("NotFound")
    ELSE IF row.status \in Terminal THEN Unchanged("Terminal")
    ELSE IF row.cancel THEN Unchanged("AlreadyRequested")
    ELSE Answer("CancelRequested", [row EXCEPT !.cancel = TRUE], lease)

(* RS-441, RS-442: the row decides, not the lease.                           *)
Acknowledged(owner) ==
    IF Owned(owner) /\ row.cancel
    THEN Answer("true", [row EXCEPT !.acknowledged = TRUE], lease)
    ELSE Unchanged("false")

(* RS-451 to RS-455                                                          *)
Claimed(expected, claimant, now) ==
    LET admitted == RowIs(expected) /\ row.status \in {"pending", "suspended"} /\ ClaimFree
    IN  IF ~admitted \/ ~LeaseFree(lease) THEN Unchanged(Loss(now))
        ELSE Answer("Claimed", RowWithClaim(claimant, now), WithClaim(lease, claimant, now))

(* RS-461 to RS-466. The lease step ends in an activation that nothing can   *)
(* come between, so that what remains of the lease is the new owner alone.   *)
ClaimedAndOwned(expected, owner, now, evidence) ==
    LET another == expected.status = "running" /\ expected.owner # owner
        own == expected.status = "running" /\ expected.owner = owner
        admitted ==
            /\ RowIs(expected)
            /\ row.status \in {"pending", "suspended", "running"}
            /\ ClaimFree
            /\ row.status = "running" => Stale(row.heartbeat, now)
        (* A refused re-own keeps the release under original; R-4.           *)
        released == IF own THEN Release(lease, owner) ELSE lease
        refusedLease == IF Repaired THEN lease ELSE released
        granted == IF another THEN LeaseStealable(lease, expected.owner, now) ELSE LeaseFree(released)
    IN  IF another /\ ~Matches(expected.owner, owner, now, evidence) THEN
            Unchanged(IF Loss(now) = "SnapshotChanged" /\ RowIs(expected) THEN "EvidenceRequired" ELSE Loss(now))
        ELSE IF ~admitted THEN Unchanged(Loss(now))
        ELSE IF ~granted THEN Answer(Loss(now), row, refusedLease)
        ELSE Answer("Activated", RowWithOwner(owner, now), WithOwner(owner, now))

(* RS-471 to RS-475; the clock is the store's.                               *)
Activated(claimant, token, expected, clock) ==
    IF ~ClaimIs(claimant, token) THEN Unchanged("ClaimLost")
    ELSE IF ~RowIs(expected) THEN Answer("SnapshotChanged", RowWithoutClaim, ReleaseOnGivingUp(lease, claimant))
    ELSE IF lease.claimant # claimant \/ lease.token # token THEN Answer("ClaimLost", RowWithoutClaim, lease)
    ELSE Answer("Activated", RowWithOwner(claimant, clock), WithOwner(claimant, clock))

(* RS-480                                                                    *)
Abandoned(claimant, token) ==
    IF ~ClaimIs(claimant, token) THEN Unchanged("ClaimLost")
    ELSE Answer("Abandoned", RowWithoutClaim, ReleaseOnGivingUp(lease, claimant))

(* RS-486, RS-209                                                            *)
Recovered(claimant, token, observer, now, evidence) ==
    IF ~Matches(claimant, observer, now, evidence) THEN Unchanged("LivenessUnconfirmed")
    ELSE IF row = None THEN Unchanged("NotFound")
    ELSE IF ~ClaimIs(claimant, token) THEN Unchanged("ClaimChanged")
    ELSE IF ~Stale(token, now) THEN Unchanged("ClaimFresh")
    ELSE IF lease.claimant # claimant \/ lease.token # token THEN Unchanged("ClaimChanged")
    ELSE Answer("Recovered", RowWithoutClaim, WithoutClaim(lease))

(* RS-490 to RS-493; RS-224: the lease keeps a renewal that the row refuses. *)
Beaten(owner, now, renews) ==
    LET lost == IF row = None THEN "NotFound" ELSE "FenceLost"
        renewed == Renewed(lease, now)
        stamp == IF row.heartbeat < renewed.heartbeat THEN renewed.heartbeat ELSE row.heartbeat
    IN  IF ~renews THEN Unchanged(lost)
        ELSE IF ~Owned(owner) THEN Answer(lost, row, renewed)
        ELSE Answer("Updated", [row EXCEPT !.heartbeat = stamp], renewed)

HeartbeatBy(owner, now) == Beaten(owner, now, lease.owner = owner)                                  \* RS-204
ReconfirmedBy(owner, now) == Beaten(owner, now, lease.owner = owner /\ lease.claimant = None)       \* RS-205

(* RS-501 to RS-506                                                          *)
Transitioned(owner, to, guard) ==
    IF row = None THEN Unchanged("NotFound")
    ELSE IF lease.owner # owner \/ ~Owned(owner) THEN Unchanged("FenceLost")
    ELSE IF (guard = "absent" /\ row.cancel) \/ (guard = "present" /\ ~row.cancel) THEN Unchanged("GuardFailed")
    ELSE IF to = "running" THEN Unchanged("Transitioned")
    ELSE Answer("Transitioned",
                [RowWithoutClaim EXCEPT !.status = to, !.owner = None, !.heartbeat = None],
                ReleaseOnLeaving(lease, owner))

(* RS-511, RS-512, RS-208                                                    *)
Stolen(expected, claimant, now, evidence) ==
    LET admitted == RowIs(expected) /\ ClaimFree /\ Stale(row.heartbeat, now)
    IN  IF expected.status # "running" \/ ~Matches(expected.owner, claimant, now, evidence)
        THEN Unchanged("LivenessUnconfirmed")
        ELSE IF ~admitted \/ ~LeaseStealable(lease, expected.owner, now) THEN Unchanged(Loss(now))
        ELSE Answer("Claimed", RowWithClaim(claimant, now), WithClaim(lease, claimant, now))

(* Not an operation of the store but raw SQL; R-3 is the trigger.            *)
Deleted == IF row = None THEN Unchanged("false") ELSE Answer("true", None, IF Repaired THEN NoLease ELSE lease)

-----------------------------------------------------------------------------
(* Actions: anyone may call anything at any reading.                         *)

Answered(operation, caller, answers) ==
    \E answer \in answers :
        /\ row' = answer.row
        /\ lease' = answer.lease
        /\ last' = [operation |-> operation, outcome |-> answer.outcome, by |-> caller]

Create == \E w \in Owners : Answered("create", w, {Created})
Get == \E w \in Owners : Answered("get", w, {Got})
Lineage == \E w \in Owners : Answered("lineage", w, {LineageRead})
LatestRound == \E w \in Owners : Answered("latestRound", w, {Got})
RequestCancel == \E w \in Owners : Answered("requestCancel", w, {CancelRequested})
RequestCancelLineage == \E w \in Owners : Answered("requestCancelLineage", w, {CancelRequested})
AcknowledgeCancel == \E w \in Owners : Answered("acknowledgeCancel", w, {Acknowledged(w)})
Heartbeat == \E w \in Owners : Answered("heartbeat", w, {HeartbeatBy(w, t) : t \in Readings})
Reconfirm == \E w \in Owners : Answered("reconfirm", w, {ReconfirmedBy(w, t) : t \in Readings})

Claim == \E w \in Owners :
    Answered("claim", w, {Claimed(expected, w, t) : expected \in Expected, t \in Readings})

ClaimAndOwn == \E w \in Owners :
    Answered("claimAndOwn", w,
        UNION {{ClaimedAndOwned(expected, w, t, evidence) :
                    expected \in Expected, evidence \in {None} \union Evidence(t)} : t \in Readings})

Steal == \E w \in Owners :
    Answered("steal", w,
        UNION {{Stolen(expected, w, t, evidence) : expected \in Expected, evidence \in Evidence(t)} : t \in Readings})

Activate == \E w \in Owners :
    Answered("activate", w,
        {Activated(w, token, expected, t) : token \in Readings, expected \in Expected, t \in Readings})

AbandonClaim == \E w \in Owners : Answered("abandonClaim", w, {Abandoned(w, token) : token \in Readings})

RecoverClaim == \E w \in Owners :
    Answered("recoverClaim", w,
        UNION {{Recovered(claimant, token, w, t, evidence) :
                    claimant \in Owners, token \in Readings, evidence \in Evidence(t)} : t \in Readings})

TransitionOwned == \E w \in Owners :
    Answered("transitionOwned", w,
        {Transitioned(w, to, guard) : to \in Statuses \ {"pending"}, guard \in {"none", "absent", "present"}})

(* By an administrator, at whichever owner's host.                           *)
Delete == AllowDelete /\ \E w \in Owners : Answered("row.delete", w, {Deleted})

Init == row = None /\ lease = NoLease /\ last = [operation |-> "none", outcome |-> "ok", by |-> None]

Next ==
    \/ Create \/ Get \/ Lineage \/ LatestRound
    \/ RequestCancel \/ RequestCancelLineage \/ AcknowledgeCancel
    \/ Claim \/ ClaimAndOwn \/ Activate \/ AbandonClaim \/ RecoverClaim \/ Steal
    \/ Heartbeat \/ Reconfirm \/ TransitionOwned
    \/ Delete

Spec == Init /\ [][Next]_<<row, lease, last>>
=============================================================================
