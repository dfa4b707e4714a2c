"""Staleness against clocks that differ, step back or are presented wrongly (BR-17..BR-20, BR-25, BR-27)."""

import inspect
import itertools
from pathlib import Path

import pytest

import tenure
from tenure_model.conform.model_system import ModelSystem
from tenure_model.semantics.profiles import REFERENCE
from tenure_model.vocabulary import constants
from tests.cases.support import STALE, T0, A, B, ModelSubject, SetupError, expired, must, owned, unchanged

TOLERANCE = tenure.HEARTBEAT_WRITE_TOLERANCE_MS
SKEW = tenure.HEARTBEAT_SKEW_ALLOWANCE_MS
INTERVAL = tenure.HEARTBEAT_INTERVAL_MS


def bound_is_exact(make):
    """A stamp exactly S old is fresh and one millisecond more is stale, for every operation that asks."""
    for age in (STALE - 1, STALE, STALE + 1):
        stale, now_ms = age > STALE, T0 + age
        subject = owned(make)
        subject.clock_ms = now_ms
        row, evidence = subject.get("r"), expired(A, now_ms)
        loss = tenure.SnapshotChanged() if stale else tenure.HeartbeatFresh()
        assert subject.claim("r", tenure.PENDING, B, now_ms) == loss
        own = subject.claim_and_own("r", row, B, now_ms)
        assert own == (tenure.EvidenceRequired() if stale else tenure.HeartbeatFresh())
        taken = subject.steal("r", row, B, now_ms, evidence)
        assert taken == (tenure.Claimed(now_ms) if stale else tenure.HeartbeatFresh())
        subject = owned(make)
        subject.clock_ms = now_ms
        owner = subject.claim_and_own("r", row, B, now_ms, evidence)
        assert owner == (tenure.Activated() if stale else tenure.HeartbeatFresh())
        subject = owned(make)
        subject.clock_ms = now_ms
        again = subject.claim_and_own("r", row, A, now_ms)
        assert again == (tenure.Activated() if stale else tenure.HeartbeatFresh())
        subject = make()
        must(subject.create("r", "{}"), type(None))
        must(subject.claim("r", tenure.PENDING, A, T0), tenure.Claimed)
        subject.clock_ms = now_ms
        recovered = subject.recover_claim("r", A, T0, B, now_ms, evidence)
        assert recovered == (tenure.Recovered() if stale else tenure.ClaimFresh())


def test_br_17_the_bound_of_staleness(make):
    """BR-17: at S-1 and S ms a stamp is fresh, at S+1 it is stale."""
    bound_is_exact(make)


@pytest.mark.parametrize(
    "rewrite", [(r"< (\?\d) - 30000", r"<= \1 - 30000"), ("- 30000", "- 30001"), ("- 30000", "- 29999")]
)
def test_br_17_kills_a_bound_that_is_off_by_one(kills, rewrite):
    """BR-17: one millisecond to either side is found."""
    kills(bound_is_exact, rewrite)


def test_br_17_staleness_is_nobodys_setting():
    """BR-17: S is a constant of the program: nothing that opens a store, or calls it, can say otherwise."""
    openers = [tenure.open, tenure.migrate, tenure.LocalConsensus.__init__]
    names = {name for opener in openers for name in inspect.signature(opener).parameters}

    assert {name for name in names if any(word in name for word in ("stale", "lease", "heartbeat", "ttl"))} == set()
    assert tenure.HEARTBEAT_STALE_AFTER_MS == 30_000


def steal_after(make, skew_ms, elapsed_ms, ahead_ms=0):
    """Whether a peer whose clock is ``skew_ms`` ahead of the owner's steals ``elapsed_ms`` after the owner's beat,
    presenting a reading ``ahead_ms`` ahead of its own clock."""
    subject = owned(make)
    subject.clock_ms = T0 + elapsed_ms + skew_ms
    now_ms = subject.clock_ms + ahead_ms
    outcome = subject.steal("r", subject.get("r"), B, now_ms, expired(A, now_ms))
    return isinstance(must(outcome, tenure.Claimed | tenure.HeartbeatFresh), tenure.Claimed)


SKEWS = (-SKEW, -SKEW + 1, -1, 0, 1, SKEW - 1, SKEW)
ELAPSED = tuple(edge + step for edge in (TOLERANCE, TOLERANCE + INTERVAL, STALE, STALE + SKEW) for step in (-1, 0, 1))


def tolerance_outlasts_peers(make):
    """While the owner's tolerance and one more interval last, no peer within the allowance of skew can steal."""
    for skew_ms, elapsed_ms in itertools.product(SKEWS, ELAPSED):
        taken = steal_after(make, skew_ms, elapsed_ms)
        assert taken == (elapsed_ms + skew_ms > STALE), (skew_ms, elapsed_ms)
        assert not (taken and elapsed_ms <= TOLERANCE + INTERVAL), (skew_ms, elapsed_ms)


def test_br_18_skew_within_the_allowance(make):
    """BR-18: over (beat, owner's clock, peer's clock) no steal succeeds before the owner's 19 s, and 1 s, are over."""
    tolerance_outlasts_peers(make)


def test_br_18_kills_a_staleness_without_room_for_skew(kills):
    """BR-18: with S no more than tolerance and half the allowance, a fast peer robs an owner within its tolerance."""
    kills(tolerance_outlasts_peers, ("- 30000", "- 24000"))


def test_br_18_a_reading_ahead_spends_the_allowance(make):
    """BR-18: the limit: a peer may present a reading 10 s ahead of its own clock, which with equal clocks leaves the
    owner its 19 s and 1 s to the millisecond, and with any skew less (H-09)."""
    assert not steal_after(make, 0, TOLERANCE + INTERVAL, SKEW)
    assert steal_after(make, 0, TOLERANCE + INTERVAL + 1, SKEW)
    assert steal_after(make, SKEW, TOLERANCE, SKEW)

    subject = owned(make)
    now_ms = T0 + SKEW + 1
    assert subject.steal("r", subject.get("r"), B, now_ms, expired(A, now_ms)).code == "invalid_run"


def probes_cannot_be_replayed(make):
    """Evidence counts at the instant of the call only; presenting an old instant instead meets the renewal."""
    subject = owned(make)
    old = subject.get("r")
    probed_at = T0 + STALE + 1
    subject.clock_ms = probed_at
    must(subject.heartbeat("r", A, probed_at), tenure.Updated)
    renewed, evidence = subject.get("r"), expired(A, probed_at)
    with unchanged(subject):
        for now_ms in (probed_at - 1, probed_at + 1, probed_at + STALE + 1):
            subject.clock_ms = now_ms
            for row in (old, renewed):
                assert subject.steal("r", row, B, now_ms, evidence) == tenure.LivenessUnconfirmed()
                owning = subject.claim_and_own("r", row, B, now_ms, evidence)
                assert not isinstance(owning, tenure.Activated)
        assert subject.claim_and_own("r", renewed, B, now_ms, evidence) == tenure.EvidenceRequired()
        for row in (old, renewed):
            assert subject.steal("r", row, B, probed_at, evidence) == tenure.HeartbeatFresh()
            assert subject.claim_and_own("r", row, B, probed_at, evidence) == tenure.HeartbeatFresh()
        for observer in (A, B):
            claim = ("r", A, T0, observer, now_ms, evidence)
            assert subject.recover_claim(*claim) == tenure.LivenessUnconfirmed()


def test_br_19_evidence_of_another_instant(make):
    """BR-19: ``checkedAtMs`` other than ``nowMs`` is refused unread; a probe before a renewal is no use after it."""
    probes_cannot_be_replayed(make)


class TakesOldEvidence(ModelSystem):
    """Believes evidence of any instant."""

    def call(self, session, operation, arguments, clock_ms):
        evidence = arguments.get("evidence")
        if isinstance(evidence, tenure.LivenessEvidence):
            now = expired(evidence.expected_owner, arguments["nowMs"])
            arguments = {**arguments, "evidence": now}
        return super().call(session, operation, arguments, clock_ms)


def test_br_19_kills_evidence_without_an_instant():
    """BR-19: where an old probe counts, old silence is held against a renewed lease."""
    with pytest.raises(AssertionError):
        probes_cannot_be_replayed(lambda: ModelSubject(TakesOldEvidence(REFERENCE, ("s0",))))


def stamps_never_fall(make):
    """A beat with an older reading is ``Updated`` and lowers no stamp, in the row or in the lease."""
    subject = owned(make)
    # The store's own clock is ahead of every reading and must not stand in for one.
    subject.clock_ms = T0 + STALE
    high = T0
    for now_ms in (T0, T0 - 1, 0, T0 + 5_000, T0 + 4_999, T0 - 60_000, T0 + 5_000, 0):
        for method in (subject.heartbeat, subject.reconfirm):
            high = max(high, now_ms)
            assert method("r", A, now_ms) == tenure.Updated()
            assert subject.get("r").heartbeat_at_ms == high
            assert subject.lease()[5] == high


def test_br_20_a_clock_that_steps_back(make):
    """BR-20: readings that do not grow are acknowledged and never shorten the lease."""
    stamps_never_fall(make)


@pytest.mark.parametrize("row_too", [False, True])
def test_br_20_kills_a_stamp_that_follows_the_clock(kills, row_too):
    """BR-20: a lease that takes over the reading as it is shrinks, whether or not the row does."""
    in_lease = (r"max\(ifnull\(heartbeat_at_ms, \?5\), \?5\)", "?5")
    in_row = (r"max\(heartbeat_at_ms, \?5\)", "?5")
    kills(stamps_never_fall, in_lease, *([in_row] if row_too else []))


def load_constants(*change):
    """The module of constants, with one of them changed, as it is when imported."""
    source = Path(constants.__file__).read_text(encoding="utf-8")
    if change:
        if change[0] not in source:
            raise SetupError(change[0])
        source = source.replace(*change)
    module = {}
    exec(compile(source, constants.__file__, "exec"), module)
    return module


def test_br_25_the_constants_fit():
    """BR-25: interval, skew and tolerance fit into S, and several beats fit into the tolerance: asserted at import."""
    load_constants()

    assert INTERVAL + SKEW + TOLERANCE <= STALE
    assert 2 * INTERVAL <= TOLERANCE


@pytest.mark.parametrize(
    "change",
    [
        ("INTERVAL_MS: Final = 1_000", "INTERVAL_MS: Final = 10_001"),
        ("INTERVAL_MS: Final = 1_000", "INTERVAL_MS: Final = 0"),
        ("STALE_AFTER_MS: Final = 30_000", "STALE_AFTER_MS: Final = 12_000"),
        ("ALLOWANCE_MS: Final = 10_000", "ALLOWANCE_MS: Final = 28_500"),
        ("HEARTBEAT_STALE_AFTER_MS - HEARTBEAT_SKEW_ALLOWANCE_MS -", "HEARTBEAT_STALE_AFTER_MS -"),
    ],
)
def test_br_25_constants_that_do_not_fit_cannot_be_imported(change):
    """BR-25: a beat as long as its own tolerance, or a tolerance that eats the allowance, fails at import."""
    with pytest.raises(AssertionError):
        load_constants(*change)


def beats_keep_the_lease(make, write_ms, beats):
    """An owner that beats an interval after each acknowledgement, whose writes take ``write_ms``, is never stale."""
    subject = owned(make)
    last, sent = T0, T0
    for number in range(beats):
        sent = last + INTERVAL
        subject.clock_ms = acknowledged = sent + write_ms(number)
        peer_ms = acknowledged + SKEW
        subject.clock_ms = peer_ms
        evidence = expired(A, peer_ms)
        with unchanged(subject):
            assert subject.steal("r", subject.get("r"), B, peer_ms, evidence) == tenure.HeartbeatFresh()
        subject.clock_ms = acknowledged
        assert subject.heartbeat("r", A, sent) == tenure.Updated()
        last = acknowledged


@pytest.mark.parametrize("longest_ms", [0, 999, 1_000, 1_001, 15_450])
def test_br_25_jittered_writes_never_exceed_the_lease(make, longest_ms):
    """BR-25: with writes that take up to 15.45 s, a peer 10 s ahead, looking just before each lands, never finds it
    stale; the supervised loop is not part of this store."""
    last_write = 0

    def write_ms(number):
        nonlocal last_write
        # Two slow writes in a row are what the tolerance is for: their sum stays below it.
        last_write = 0 if last_write > TOLERANCE - INTERVAL - longest_ms else longest_ms * (number % 5) // 4
        return last_write

    beats_keep_the_lease(make, write_ms, 60)


def test_br_27_a_beating_owner_is_never_stolen_from(make):
    """BR-27: for 100 times S, peers with the fastest admitted clock look at every beat and never get the run."""
    subject = owned(make)
    row = subject.get("r")
    for second in range(1, 100 * STALE // INTERVAL + 1):
        now_ms = T0 + second * INTERVAL
        subject.clock_ms = now_ms + SKEW
        taking = subject.steal("r", row, B, now_ms + SKEW, expired(A, now_ms + SKEW))
        assert taking == tenure.HeartbeatFresh()
        subject.clock_ms = now_ms
        assert subject.heartbeat("r", A, now_ms) == tenure.Updated()
        row = subject.get("r")

    assert row.owner == A
    assert row.heartbeat_at_ms == T0 + 100 * STALE


def test_br_27_kills_a_lease_without_renewal(kills):
    """BR-27: where beats are acknowledged and do not move the stamp, live work is taken."""

    def check(make):
        test_br_27_a_beating_owner_is_never_stolen_from(make)

    no_lease = (r"max\(ifnull\(heartbeat_at_ms, \?5\), \?5\)", "max(heartbeat_at_ms, ?5 - ?5)")
    no_row = (r"max\(heartbeat_at_ms, \?5\)", "max(heartbeat_at_ms, ?5 - ?5)")
    kills(check, no_lease, no_row)
