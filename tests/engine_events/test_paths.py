"""Paths relative to a root: `tenure_model.admission.engine_events.paths`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure_model.admission.engine_events.paths import relative_path
from tenure_model.vocabulary.absent import ABSENT

PATHS = st.text("ab/.:C\\", max_size=8)


@pytest.mark.parametrize(
    ("root", "path", "expected"),
    [
        ("/repo", "/repo/src/flow.py", "src/flow.py"),
        ("/repo/", "/repo/src/flow.py", "src/flow.py"),
        ("repo", "repo/a", "a"),
        ("C:\\repo", "C:\\repo/a", "a"),
        ("C:/repo", "C:/repo/a", "a"),
        ("CD:", "CD:/a", "a"),
        ("1:", "1:/a", "a"),
        ("C://", "C://a", "a"),
        ("//", "//a", "a"),
        (" ", " /a", "a"),
        ("/repo", "/repo/../a", "../a"),
        ("/repo", "/repo//a", "/a"),
    ],
)
def test_what_follows_the_root(root: str, path: str, expected: str) -> None:
    """As text, nothing is normalised (JN-380)."""
    assert relative_path(root, path) == expected


@pytest.mark.parametrize("root", [None, ABSENT, "", "/", "C:", "c:/", "Z:\\", 1], ids=repr)
@pytest.mark.parametrize("path", ["/repo/a", "C:/a", "C:\\a", "c:/a", "Z:\\/a", "a"])
def test_a_root_that_is_missing_or_everything(root: object, path: str) -> None:
    """JN-380."""
    assert relative_path(root, path) is None


@pytest.mark.parametrize(
    ("root", "path"),
    [
        ("/repo", ""),
        ("/repo", "/repo"),
        ("/repo", "/repo/"),
        ("/repo/", "/repo"),
        ("/repo", "/repository/a"),
        ("/repo", "/other/a"),
        ("/repo", "repo/a"),
        ("/Repo", "/repo/a"),
        ("C:\\repo", "C:\\repo\\a"),
        ("/repo/./", "/repo/a"),
    ],
)
def test_a_path_elsewhere(root: str, path: str) -> None:
    """Or the root itself, or a sibling whose name begins with the root's (JN-380)."""
    assert relative_path(root, path) is None


def test_a_drive_root_ends_where_it_ends() -> None:
    """A newline after it makes it another name (JN-606)."""
    assert relative_path("C:\n", "C:\n/a") == "a"


def test_what_is_no_text_has_no_answer() -> None:
    """It is not asked for one."""
    assert relative_path("/repo", None) is None
    assert relative_path(b"/repo", b"/repo/a") is None


@given(root=PATHS, path=PATHS)
def test_root_and_answer_make_the_path(root: str, path: str) -> None:
    """An answer is never empty and never reaches outside as text (JN-380)."""
    answer = relative_path(root, path)

    if answer is not None:
        assert answer != ""
        assert path in (f"{root}/{answer}", f"{root}{answer}")
