----------------------------- MODULE Properties -----------------------------
(* What must hold of the ownership protocol, each in one place with its      *)
(* rules. The cfg files say which of them hold under which profile; each is  *)
(* refuted by a wrong module in tests/tla.                                   *)
EXTENDS Ownership

-----------------------------------------------------------------------------
(* Of every state.                                                           *)

Maybe(set) == set \union {None}
Rows == [status : Statuses, owner : Maybe(Owners), heartbeat : Maybe(Readings), claimant : Maybe(Owners),
         token : Maybe(Readings), cancel : BOOLEAN, acknowledged : BOOLEAN]
Leases == [owner : Maybe(Owners), heartbeat : Maybe(Readings), claimant : Maybe(Owners), token : Maybe(Readings)]

(* One row and one lease, each with at most one owner and one claimant.      *)
WellTyped == row \in Maybe(Rows) /\ lease \in Leases

(* RS-1000: running iff owner iff heartbeat.                                 *)
RunningIffOwned ==
    row # None => /\ row.status = "running" <=> row.owner # None
                  /\ row.status = "running" <=> row.heartbeat # None

(* RS-1000: a claim is all or nothing; an ownership too.                     *)
AllOrNothing ==
    /\ row # None => (row.claimant = None <=> row.token = None)
    /\ lease.claimant = None <=> lease.token = None
    /\ lease.owner = None <=> lease.heartbeat = None

(* RS-441: nothing to acknowledge without a request.                         *)
AcknowledgedOnlyWhenRequested == row # None /\ row.acknowledged => row.cancel

(* Under original, a lease outlives its deleted row (H-03), and then some   *)
(* of what follows cannot hold.                                              *)
LeaseGoesWithRow == Repaired \/ ~AllowDelete

(* RS-222: the row never shows a claim that the lease does not hold.         *)
RowClaimIsLeased ==
    LeaseGoesWithRow /\ row # None /\ ~ClaimFree => lease.claimant = row.claimant /\ lease.token = row.token

(* RS-224: the lease never names an owner that the row does not.             *)
LeasedOwnerOwnsRow ==
    LeaseGoesWithRow /\ lease.owner # None => Owned(lease.owner) /\ row.heartbeat = lease.heartbeat

(* RS-213, under reference only: the lease says what the row says.           *)
RowAndLeaseAgree ==
    lease = IF row = None THEN NoLease
            ELSE [owner |-> row.owner, heartbeat |-> row.heartbeat, claimant |-> row.claimant, token |-> row.token]

-----------------------------------------------------------------------------
(* Of every step.                                                            *)

vars == <<row, lease, last>>
Kept == row # None /\ row' # None
Outcome(operations, outcome) == last'.operation \in operations /\ last'.outcome = outcome
By(who) == last'.by = who

(* RS-1005                                                                   *)
TerminalIsForEver == [][Kept /\ row.status \in Terminal => row' = row /\ lease'.owner = None]_vars

(* RS-520: only create makes a pending run, and a run leaves no other way    *)
(* than by a transition of its owner once it runs.                           *)
StatusesFollowTheMachine ==
    [][Kept /\ row'.status # row.status =>
        \/ row.status \in {"pending", "suspended"} /\ row'.status = "running"
        \/ row.status = "running" /\ row'.status \in {"suspended"} \union Terminal]_vars

(* RS-1004                                                                   *)
CancelIsWrittenOnce ==
    [][Kept => (row.cancel => row'.cancel) /\ (row.acknowledged => row'.acknowledged)]_vars

(* RS-1001: transitions and beats land only under the owner of that instant, *)
(* in row and lease; nobody else moves an ownership's stamp or ends it.      *)
FencedWritesByTheOwner ==
    [][/\ Outcome({"transitionOwned"}, "Transitioned") \/ Outcome({"heartbeat", "reconfirm"}, "Updated")
            => row.owner = last'.by /\ lease.owner = last'.by
       /\ Kept /\ row.owner # None /\ row'.owner = None => By(row.owner)
       /\ Kept /\ row.owner # None /\ row'.owner = row.owner /\ row'.heartbeat # row.heartbeat => By(row.owner)]_vars

(* RS-205: no confirmation while a claim is pending.                         *)
ReconfirmedWithoutClaim == [][Outcome({"reconfirm"}, "Updated") => lease.claimant = None]_vars

(* RS-1002: whoever becomes the owner held a claim or takes one in the same  *)
(* step, and then the stamp it replaces is stale at its reading.             *)
OwnersChangeByClaim ==
    [][Kept /\ row'.owner # None /\ row'.owner # row.owner =>
        /\ By(row'.owner)
        /\ \/ row.claimant = row'.owner
           \/ row.owner = None
           \/ Stale(row.heartbeat, row'.heartbeat)]_vars

(* RS-1002: a claim on a running run is taken against a stale stamp.         *)
StolenOnlyWhenStale ==
    [][Kept /\ ClaimFree /\ row'.claimant # None /\ row.status = "running" => Stale(row.heartbeat, row'.token)]_vars

(* RS-486: a claim ends by its claimant, by the owner, or stale.             *)
ClaimsEndInOrder ==
    [][Kept /\ ~ClaimFree /\ row'.claimant = None =>
        \/ By(row.claimant)
        \/ By(row.owner) /\ row'.owner = None
        \/ Outcome({"recoverClaim"}, "Recovered") /\ \E t \in Readings : Stale(row.token, t)]_vars

(* RS-1003: the stamp never falls under one ownership, unless an owner that  *)
(* stole its own run activates.                                              *)
StampNeverFalls ==
    [][Kept /\ row.owner # None /\ row'.owner = row.owner /\ row'.heartbeat < row.heartbeat =>
        row.claimant = row.owner /\ Outcome({"activate"}, "Activated")]_vars

(* RS-364, R-4: a refusal changes nothing, except that an activation against *)
(* a row that moved on gives its claim up (RS-472), and that a lease without *)
(* its row is still renewed (RS-224, H-17).                                  *)
Refusals == {"constraint", "not_found_row", "NotFound", "Terminal", "AlreadyRequested", "false", "AlreadyClaimed",
             "HeartbeatFresh", "SnapshotChanged", "EvidenceRequired", "LivenessUnconfirmed", "ClaimLost",
             "ClaimChanged", "ClaimFresh", "FenceLost", "GuardFailed"}
RefusalsChangeNothing ==
    [][LeaseGoesWithRow /\ last'.outcome \in Refusals /\ ~Outcome({"activate"}, "SnapshotChanged")
        => UNCHANGED state]_vars
=============================================================================
