"""Worlds and the copies they are changed by."""

from tenure_model.semantics.profiles import ORIGINAL, REFERENCE
from tenure_model.semantics.world import Lease, World, empty_world, with_fact, with_lease, without_lease
from tenure_model.vocabulary.facts import OwnershipFact
from tests.semantics.worlds import ALICE, BOB, T

HELD = Lease(None, None)


def test_an_empty_world_has_nothing() -> None:
    """A fresh database has revision 0 and no row anywhere (RS-144)."""
    assert empty_world(ORIGINAL, "f" * 32) == World(ORIGINAL, {}, {}, {}, 0, {}, "f" * 32)
    assert empty_world().profile == REFERENCE


def test_leases_come_and_go_in_copies() -> None:
    """Each change is a new world, the old one stays, other leases stay in both."""
    one = with_lease(empty_world(), "r", HELD)
    two = with_lease(one, "s", HELD)
    three = without_lease(two, "r")

    assert one.leases == {"r": HELD}
    assert two.leases == {"r": HELD, "s": HELD}
    assert three.leases == {"s": HELD}


def test_facts_are_appended_per_run() -> None:
    """A stream grows at its end and other streams stay (RS-703)."""
    first, second = OwnershipFact("r", "claimed", ALICE, T), OwnershipFact("r", "activated", ALICE, T)
    other = OwnershipFact("s", "claimed", BOB, T)
    world = with_fact(with_fact(with_fact(empty_world(), first), other), second)

    assert world.facts == {"r": (first, second), "s": (other,)}
