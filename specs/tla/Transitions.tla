---------------------------- MODULE Transitions -----------------------------
(* Writes the labelled graph. TLC's own `-dump dot,actionlabels` does hold   *)
(* self-loops and one edge for each generated transition, but it labels an   *)
(* edge by the operator that was expanded last, without outcome and owner.   *)
(* So an action constraint prints each transition instead: TLC evaluates it  *)
(* for every transition that it generates, self-loops and known successors   *)
(* included, and Ownership generates each labelled transition once.          *)
EXTENDS Properties

Flat(r, l) ==
    (IF r = None THEN <<None, None, None, None, None, FALSE, FALSE>>
     ELSE <<r.status, r.owner, r.heartbeat, r.claimant, r.token, r.cancel, r.acknowledged>>)
        \o <<l.owner, l.heartbeat, l.claimant, l.token>>

Label(call) == call.operation \o "." \o call.outcome \o ".o" \o ToString(call.by)

(* One line; a tuple would be broken into several by TLC's printer.          *)
PrintTransition ==
    PrintT("|" \o ToString(Flat(row, lease)) \o "|" \o Label(last') \o "|" \o ToString(Flat(row', lease')) \o "|")
=============================================================================
