"""Event ids, fingerprints, companion streams: `tenure_model.admission.event_identity`."""

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure_model.admission.event_identity import companion_run_id, content_fingerprint, event_id, is_companion_run_id
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER

# Characters that look like the id's own punctuation.
TEXTS = st.text(st.sampled_from("0123:a\U0001f600"), max_size=6)
IDENTITIES = st.tuples(TEXTS, TEXTS, st.integers(0, MAX_SAFE_INTEGER - 1) | st.integers(0, 20))


@pytest.mark.parametrize(
    ("identity", "expected"),
    [
        (("run", "source", 3), "flows:event:3:run6:source3"),
        (("a:1", "b:2", 10), "flows:event:3:a:13:b:210"),
        (("", "", 0), "flows:event:0:0:0"),
        (("\U0001f600", "é", 1), "flows:event:2:\U0001f6001:é1"),
    ],
)
def test_an_event_id_spells_the_identity(identity: tuple[str, str, int], expected: str) -> None:
    """Lengths are counted in UTF-16 units (JN-026, JN-600)."""
    assert event_id(*identity) == expected


@given(first=IDENTITIES, second=IDENTITIES)
def test_different_identities_have_different_event_ids(
    first: tuple[str, str, int], second: tuple[str, str, int]
) -> None:
    """The id is injective (JN-026)."""
    assert (event_id(*first) == event_id(*second)) == (first == second)


@given(identity=IDENTITIES)
def test_an_event_id_reads_back(identity: tuple[str, str, int]) -> None:
    """Reading the lengths off the id gives the identity again, so no two can share one (JN-026)."""
    units = event_id(*identity).encode("utf-16-le").decode("latin-1")
    position = 2 * len("flows:event:")
    parts = []
    for _ in range(2):
        end = units.index(":\0", position)
        length = 2 * int(units[position:end:2])
        parts.append(units[end + 2 : end + 2 + length].encode("latin-1").decode("utf-16-le"))
        position = end + 2 + length

    assert (*parts, int(units[position::2])) == identity


def test_a_fingerprint_is_the_hash_of_a_json_array() -> None:
    """Type and both texts, compact and with raw non-ASCII characters (JN-048)."""
    expected = hashlib.sha256('["e\\"é",'.encode() + b'"{\\"a\\":\\"\\\\n\\"}","null"]').hexdigest()

    assert content_fingerprint('e"é', '{"a":"\\n"}', "null") == expected


def test_fingerprints_are_64_digits() -> None:
    """As the table of tombstones demands (JN-009)."""
    assert re.fullmatch("[0-9a-f]{64}", content_fingerprint("", "", ""))


@given(st.tuples(TEXTS, TEXTS, TEXTS), st.tuples(TEXTS, TEXTS, TEXTS))
def test_fingerprints_tell_contents_apart(first: tuple[str, str, str], second: tuple[str, str, str]) -> None:
    """Texts cannot flow into one another (JN-048)."""
    assert (content_fingerprint(*first) == content_fingerprint(*second)) == (first == second)


@pytest.mark.parametrize("run_id", ["", "run-1", "\U0001f600"])
def test_a_companion_stream_is_named_by_a_hash(run_id: str) -> None:
    """Prefix, stream, and the hash of the run id's UTF-8 bytes (JN-030)."""
    expected = "flows.companion/run-store/" + hashlib.sha256(run_id.encode()).hexdigest()

    assert companion_run_id("run-store", run_id) == expected


@pytest.mark.parametrize(
    ("run_id", "companion"), [("flows.companion/x", True), ("flows.companion/", True), ("flows.companion", False)]
)
def test_companion_streams_are_told_by_their_prefix(run_id: str, companion: bool) -> None:
    """Nothing else is looked at (JN-030)."""
    assert is_companion_run_id(run_id) is companion
