"""Durable text: `tenure_model.admission.text`."""

from hypothesis import given
from hypothesis import strategies as st

from tenure_model.admission.text import has_surrogate, is_durable_text, utf16_length
from tests.admission import hostile

_TEXT = st.text(st.characters(), max_size=6) | st.builds(
    lambda piece, count, tail: piece * count + tail,
    st.sampled_from(["a", "\u00e9", "\ufffd", "\U0001f600", "\ud800"]),
    st.integers(510, 1026),
    st.sampled_from(["", "a", "\0", "\U0001f600"]),
)


@given(_TEXT)
def test_durable_text_is_what_the_rule_counts(text: str) -> None:
    """The answer is that of the rule spelled out over UTF-16 code units (RS-301)."""
    units = len(text.encode("utf-16-le", "surrogatepass")) // 2
    well_formed = not any(0xD800 <= ord(character) <= 0xDFFF for character in text)

    assert is_durable_text(text) == (1 <= units <= 1024 and "\0" not in text and well_formed)


@given(_TEXT)
def test_length_counts_an_astral_character_twice(text: str) -> None:
    """The length is that of the text in UTF-16, each lone surrogate being one unit (RS-014)."""
    expected = sum(2 if ord(character) > 0xFFFF else 1 for character in text)

    assert utf16_length(text) == expected


@given(_TEXT)
def test_surrogates_are_found_wherever_they_stand(text: str) -> None:
    """Every surrogate code point is found, and nothing else is taken for one (RS-301)."""
    expected = any("\ud800" <= character <= "\udfff" for character in text)

    assert has_surrogate(text) == expected


def test_a_subclass_is_refused_without_running_its_code() -> None:
    """A subclass of `str` is no durable text, and no method of it is called (RS-304)."""
    assert not is_durable_text(hostile.hostile_instance(hostile.HostileStr))
