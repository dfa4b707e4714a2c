"""What an outcome lets its caller do: nothing, unless it is a success (BR-30)."""

import re
import typing
from pathlib import Path

import attrs
import mypy.api
import pytest

import tenure
from tenure_model.vocabulary import outcomes
from tests.cases.support import STALE, T0, A, B, expired, must, owned, stolen, unchanged

ROOT = Path(__file__).parents[2]
USAGE = Path(__file__).parent / "usage"

CLASSES = {value for value in vars(outcomes).values() if isinstance(value, type) and attrs.has(value)}
UNIONS = {name: set(typing.get_args(value)) for name, value in vars(outcomes).items() if name.endswith("Outcome")}
SUCCESSES = {
    tenure.Claimed,
    tenure.Activated,
    tenure.Abandoned,
    tenure.Recovered,
    tenure.Updated,
    tenure.Transitioned,
    tenure.CancelRequested,
}


def offers_nothing(kind):
    """The outcome carries no identity and no token that ``activate`` or a fence would take."""
    assert {field.name for field in attrs.fields(kind)} <= {"requested_at_ms", "status"}


@pytest.mark.parametrize("kind", sorted(CLASSES - SUCCESSES, key=lambda kind: kind.__name__))
def test_br_30_a_loss_carries_no_handle(kind):
    """BR-30: every non-success is a class of its own, with nothing in it that a loser could work with."""
    offers_nothing(kind)
    assert not any(kind in other.__mro__[1:] or other in kind.__mro__[1:] for other in CLASSES)


def test_br_30_kills_a_loss_with_a_token():
    """BR-30: a loss that tells the token of the claim that stands is found."""

    @attrs.frozen
    class AlreadyClaimedBy:
        claimant: tenure.OwnerId
        claimed_at_ms: int

    with pytest.raises(AssertionError):
        offers_nothing(AlreadyClaimedBy)


def test_br_30_every_union_has_losses_and_successes():
    """BR-30: no operation's union is without a loss, every class is in one, and ownership comes with one class only."""
    assert set().union(*UNIONS.values()) == CLASSES
    for name, members in UNIONS.items():
        assert members & SUCCESSES, name
        assert members - SUCCESSES, name
        assert len(members & {tenure.Activated, tenure.Claimed}) <= 1, name


def test_br_30_only_a_token_activates(make):
    """BR-30: a loser that goes on with what it has, its own reading or a guess, activates nothing."""
    subject = owned(make)
    now_ms = T0 + STALE + 1
    token, row = stolen(subject, B, now_ms)
    with unchanged(subject):
        assert subject.steal("r", row, A, now_ms, expired(A, now_ms)) == tenure.AlreadyClaimed()
        for guess in (token, token - 1, T0, 0):
            assert subject.activate("r", A, guess, row) == tenure.ClaimLost()
    must(subject.activate("r", B, token, row), tenure.Activated)


def test_br_30_the_type_checker_sees_a_forgotten_outcome():
    """BR-30: callers that handle every outcome pass strict checking; each that forgets one fails on its very line."""
    cache, config = str(ROOT / ".cache" / "mypy-usage"), str(ROOT / "pyproject.toml")
    files = [USAGE / "exhaustive.py", USAGE / "forgetful.py"]
    report, problems, _ = mypy.api.run(
        ["--config-file", config, "--cache-dir", cache, "--no-error-summary", *map(str, files)]
    )
    found = {
        (Path(name).name, int(line), code)
        for name, line, code in re.findall(r"^(.+?):(\d+): error: .*\[([a-z-]+)\]$", report, re.MULTILINE)
    }
    expected = {
        (file.name, number, code)
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        for code in re.findall(r"# E: ([a-z-]+)", line)
    }

    assert problems == ""
    assert found == expected
    assert len(expected) == 4
