"""Subjects for the checks, and what kills mutants."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cases.support import Check, Make, ModelSubject, Rewriter, StoreSubject, Subject, memory_engine


@pytest.fixture
def opened() -> Iterator[Callable[[Subject], Subject]]:
    """Remembers subjects and closes them after the test."""
    subjects: list[Subject] = []

    def remember(subject: Subject) -> Subject:
        subjects.append(subject)
        return subject

    yield remember
    for subject in subjects:
        subject.close()


@pytest.fixture(params=["model", "store"])
def make(request: pytest.FixtureRequest, opened: Callable[[Subject], Subject]) -> Make:
    """Fresh subjects of either kind: the model, or the store over a database in memory."""
    kind: type[Any] = ModelSubject if request.param == "model" else StoreSubject
    return lambda: opened(kind())


@pytest.fixture
def make_store(opened: Callable[[Subject], Subject]) -> Callable[..., Any]:
    """Fresh stores; arguments as ``StoreSubject``."""
    return lambda *arguments, **named: opened(StoreSubject(*arguments, **named))


@pytest.fixture
def kills(opened: Callable[[Subject], Subject]) -> Callable[..., None]:
    """Asserts that a check fails on a store whose statements are rewritten, and that every rewrite took effect."""

    def kills(check: Check, *rewrites: tuple[str, str], **named: Any) -> None:
        rewriter = Rewriter(*rewrites)
        with pytest.raises(AssertionError):
            check(lambda: opened(StoreSubject(memory_engine(rewriter), **named)))

        assert rewriter.used == {pattern for pattern, _ in rewrites}

    return kills
