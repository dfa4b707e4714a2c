"""What a program hears of its lease: receipts of a confirmation, hooks of a lapse, and both when they hang or raise."""

import logging

import pytest

import tenure
from tests.ownership.stage import ends_with, fails, lost


@pytest.mark.parametrize("reconfirmed", [fails(), lambda run_id: tenure.FenceLost(), lambda run_id: 1 / 0])
def test_br_12_a_lapse_calls_its_hook_once(stage, reconfirmed):
    """BR-12: on a lapse the hook is called exactly once, also where a claim or another owner was the reason."""
    gaps = []
    stage.on_beat, stage.on_reconfirm = fails(), reconfirmed
    with lost("lapsed"), stage.supervise(on_lapse=gaps.append):
        stage.advance(120_000)

    assert gaps == [19_000]


def test_br_23_a_lapse_of_the_writes_is_no_loss_yet(stage):
    """BR-23: when the budget is spent the owner asks the store, and goes on if it is confirmed."""
    gaps = []
    stage.on_beat = fails()
    with stage.supervise(on_reconfirm=gaps.append) as lease:
        stage.advance(60_000)
        lease.check()

    assert stage.reconfirmations == [("r", 19_000), ("r", 38_000), ("r", 57_000)]
    assert gaps == [19_000, 19_000, 19_000]


def test_a_receipt_that_hangs(stage):
    """RS-915: it lapses when the renewed budget is spent, and the receipt's end is then ignored."""
    gaps = []
    stage.on_beat = fails()
    with lost("lapsed"), stage.supervise(on_reconfirm=lambda gap: None, on_lapse=gaps.append) as lease:
        stage.advance(18_999)
        stage.holding = True
        stage.advance(19_001 - 1)
        assert not lease.lost.is_set()
        assert gaps == []
        receipt, *others = stage.held
        stage.held.clear()
        stage.held.extend(others)
        stage.holding = False
        stage.advance(1)
        assert lease.lost.is_set()
        receipt()

    assert gaps == [19_000]


def test_a_receipt_that_hangs_holds_up_nobody_else(stage):
    """RS-913: another run is reconfirmed and goes on meanwhile."""
    stage.on_beat = fails()
    with stage.supervise("other") as other:
        with lost("lapsed"), stage.supervise(on_reconfirm=lambda gap: None):
            stage.holding = True
            stage.advance(45_000)
        other.check()

    assert ("other", 19_000) in stage.reconfirmations
    assert ("other", 38_000) in stage.reconfirmations


def test_the_limit_of_a_receipt_is_not_that_of_the_next(stage):
    """RS-913: the clock jumps, so that a second receipt runs when the first one's limit would have ended."""
    gaps = []
    stage.on_beat = fails()
    with stage.supervise(on_reconfirm=gaps.append) as lease:
        stage.advance(19_000)
        stage.ahead_ms += 10_000
        stage.holding = True
        stage.advance(21_000)
        stage.holding = False
        stage.settle()
        lease.check()

    assert gaps == [19_000, 19_000]


def test_a_receipt_that_ends_after_the_block_changes_nothing(stage):
    """RS-913: it raises when the block is left already: no lapse, no hook."""
    gaps = []
    stage.on_beat = fails()
    with stage.supervise(on_reconfirm=lambda gap: 1 / 0, on_lapse=gaps.append) as lease:
        stage.holding = True
        stage.advance(19_500)
    stage.holding = False
    stage.settle()

    assert gaps == []
    assert not lease.lost.is_set()


def test_a_lapse_hook_that_hangs_keeps_the_work_running(stage):
    """RS-914: the body hears of it when the hook is over (H-15); leaving the block meanwhile is a loss as well."""
    stage.on_beat = stage.on_reconfirm = fails()
    for _ in range(2):
        with lost("lapsed"), stage.supervise(on_lapse=lambda gap: None) as lease:
            stage.holding = True
            stage.advance(60_000)
            assert not lease.lost.is_set()
            if _ == 0:
                stage.holding = False
                stage.settle()
                assert lease.lost.is_set()


def test_a_hook_that_raises(stage):
    """RS-913, RS-914: a receipt that raises is a lapse; what the lapse hook raises, the body gets."""

    def refuse(gap_ms):
        raise ValueError(gap_ms)

    stage.on_beat = fails()
    with ends_with(ValueError, "19000"), stage.supervise(on_reconfirm=refuse, on_lapse=refuse) as lease:
        stage.advance(20_000)
        assert lease.reason is None
        with pytest.raises(ValueError, match="19000"):
            lease.check()


@pytest.mark.parametrize("hook", ["on_reconfirm", "on_lapse"])
def test_a_hook_that_is_cancelled_from_within(stage, hook):
    """RS-913: neither a failure nor a lapse: the loop is interrupted."""

    def leave(gap_ms):
        raise SystemExit

    stage.on_beat = fails()
    if hook == "on_lapse":
        stage.on_reconfirm = fails()
    with lost("interrupted"), stage.supervise(**{hook: leave}):
        stage.advance(20_000)


def test_the_lapse_is_logged_before_its_hook(stage, caplog):
    """RS-914: by the time the hook runs the warning is there."""
    caplog.set_level(logging.WARNING, "tenure.ownership")
    stage.on_beat = stage.on_reconfirm = fails()
    seen = []
    with lost("lapsed"), stage.supervise(on_lapse=lambda gap: seen.append(len(caplog.records))):
        stage.advance(20_000)

    assert seen == [2]
