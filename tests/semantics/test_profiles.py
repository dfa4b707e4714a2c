"""The two profiles."""

from tenure_model.semantics.profiles import ORIGINAL, REFERENCE


def test_reference_has_every_repair() -> None:
    """The profile everything else speaks of repairs R-1 to R-9."""
    assert REFERENCE.repairs == {"R-1", "R-2", "R-3", "R-4", "R-5", "R-6", "R-7", "R-8", "R-9"}


def test_original_has_none() -> None:
    """The recorded profile repairs nothing."""
    assert ORIGINAL.repairs == frozenset()
