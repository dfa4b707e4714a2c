"""What must hold of the protocol in TLA+ holds, and can fail."""

import pytest

from tests.tla import tlc
from tests.tla.wrong import WRONG

pytestmark = pytest.mark.skipif(tlc.missing() is not None, reason=str(tlc.missing()))


@pytest.mark.parametrize("profile", ["reference", "original"])
@pytest.mark.parametrize("deletes", [False, True])
def test_every_property_holds(profile, deletes):
    """TLC refutes none of a profile's properties, whether or not rows may be deleted."""
    report = tlc.check(tlc.Scope(profile, deletes=deletes))

    assert report.violated is None


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_protocol_is_refuted(name):
    """A small mistake in the protocol is reported by the property that forbids it."""
    report = tlc.check(tlc.Scope("reference"), wrong=WRONG[name])

    assert report.violated == name


def test_row_and_lease_part_under_original():
    """Without the repairs the lease and the row disagree after a while (H-01, H-02)."""
    report = tlc.check(tlc.Scope("reference"), wrong=[('Repaired == Profile = "reference"', "Repaired == FALSE")])

    assert report.violated == "RowAndLeaseAgree"


def test_every_property_has_a_wrong_protocol():
    """What the reference's configuration lists, the wrong protocols refute; the original's lacks only the agreement."""
    reference, original = tlc.listed("reference"), tlc.listed("original")

    assert sorted(reference) == sorted(WRONG)
    assert set(reference) - set(original) == {"RowAndLeaseAgree"}


def test_modules_that_do_not_parse_are_no_verdict():
    """A mistake in the modules themselves is an error, neither a success nor a violation."""
    with pytest.raises(tlc.TlcFailed, match="Abort"):
        tlc.check(tlc.Scope("reference"), wrong=[("StaleAfter == 30000", "StaleAfter == (")])
