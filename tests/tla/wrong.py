"""Wrong protocols: each property of ``Properties.tla`` has one that breaks it, a few words away from the right one."""

LEASE_STALENESS = ("l.owner = from /\\ Stale(l.heartbeat, now) /\\", "l.owner = from /\\")

WRONG: dict[str, tuple[tuple[str, str], ...]] = {
    "WellTyped": (
        (
            "RowWithClaim(who, now) == [row EXCEPT !.claimant = who, !.token = now]",
            "RowWithClaim(who, now) == [row EXCEPT !.claimant = who, !.token = now + 1]",
        ),
    ),
    "RunningIffOwned": (("!.status = to, !.owner = None, !.heartbeat = None]", "!.status = to, !.owner = None]"),),
    "AllOrNothing": (
        (
            "WithoutClaim(l) == [l EXCEPT !.claimant = None, !.token = None]",
            "WithoutClaim(l) == [l EXCEPT !.claimant = None]",
        ),
    ),
    "AcknowledgedOnlyWhenRequested": (("IF Owned(owner) /\\ row.cancel", "IF Owned(owner)"),),
    "RowClaimIsLeased": (('Answer("Recovered", RowWithoutClaim,', 'Answer("Recovered", row,'),),
    "LeasedOwnerOwnsRow": (("IF l.owner = who THEN [l EXCEPT !.owner = None, !.heartbeat = None] ELSE l", "l"),),
    "RowAndLeaseAgree": (("IF Repaired THEN WithoutClaim(Release(l, who)) ELSE Release(l, who)", "Release(l, who)"),),
    "TerminalIsForEver": (('row.status \\in {"pending", "suspended", "running"}', "row.status \\in Statuses"),),
    "StatusesFollowTheMachine": (('to \\in Statuses \\ {"pending"}', "to \\in Statuses"),),
    "CancelIsWrittenOnce": (
        ('Unchanged("AlreadyRequested")', 'Answer("CancelRequested", [row EXCEPT !.cancel = FALSE], lease)'),
    ),
    "FencedWritesByTheOwner": (
        ("Beaten(owner, now, lease.owner = owner)  ", "Beaten(lease.owner, now, lease.owner # None)  "),
    ),
    "ReconfirmedWithoutClaim": (("lease.owner = owner /\\ lease.claimant = None", "lease.owner = owner"),),
    "OwnersChangeByClaim": (
        LEASE_STALENESS,
        ('/\\ row.status = "running" => Stale(row.heartbeat, now)', ""),
    ),
    "StolenOnlyWhenStale": (
        LEASE_STALENESS,
        ("RowIs(expected) /\\ ClaimFree /\\ Stale(row.heartbeat, now)", "RowIs(expected) /\\ ClaimFree"),
    ),
    "ClaimsEndInOrder": (("IF ~Stale(token, now)", "IF FALSE"),),
    "StampNeverFalls": (
        ("IF @ < now THEN now ELSE @", "now"),
        ("IF row.heartbeat < renewed.heartbeat THEN renewed.heartbeat ELSE row.heartbeat", "renewed.heartbeat"),
    ),
    "RefusalsChangeNothing": (
        ('Unchanged("GuardFailed")', 'Answer("GuardFailed", [row EXCEPT !.cancel = TRUE], lease)'),
    ),
}
"""By the property that TLC must report, what is replaced by what in ``Ownership.tla``."""
