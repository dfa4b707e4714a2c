"""The fixtures that pytest has once the library is installed."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """A suite of somebody else's, as strict as can be."""
    pytester.makeini("[pytest]\nfilterwarnings = error\naddopts = --strict-markers --strict-config\n")
    return pytester


def test_it_is_installed() -> None:
    """pytest finds the plug-in by itself."""
    (found,) = (point for point in entry_points(group="pytest11") if point.name == "tenure")

    assert found.value == "tenure_pytest"


def test_the_fixtures(suite: pytest.Pytester) -> None:
    """Stores in memory and on file, on the clock of the test, new ones for every test."""
    suite.makepyfile(
        """
        import tenure

        def test_memory(tenure_store, tenure_clock):
            tenure_clock.set(1_000)
            tenure_store.runs.create("r", "{}")
            assert tenure_store.now() == 1_000
            assert tenure_store.journal.generation("r").generation == 0

        def test_another(tenure_store):
            assert tenure_store.runs.lineage("r") == ()

        def test_file(tenure_file, tenure_file_store, tenure_clock):
            tenure_file_store.runs.create("r", "{}")
            with tenure.open(tenure_file) as other:
                assert other.runs.get("r").run_id == "r"
            tenure_clock.advance(5)
            assert tenure_file_store.now() == tenure_clock()

        def test_two(tenure_store, tenure_file_store):
            tenure_store.runs.create("r", "{}")
            assert tenure_file_store.runs.lineage("r") == ()
        """
    )

    suite.runpytest_inprocess().assert_outcomes(passed=4)


def test_a_store_is_closed_after_its_test(suite: pytest.Pytester) -> None:
    """Whether the test passed or not."""
    suite.makepyfile(
        """
        import pytest, tenure

        kept = []

        def test_fails(tenure_store):
            kept.append(tenure_store)
            assert False

        def test_is_closed():
            with pytest.raises(tenure.RunStoreError):
                kept[0].runs.get("r")
        """
    )

    suite.runpytest_inprocess().assert_outcomes(passed=1, failed=1)


def test_who_does_not_use_it_does_not_load_it(suite: pytest.Pytester) -> None:
    """A run without its fixtures imports nothing of the library."""
    suite.makepyfile(
        """
        import sys

        def test_nothing_is_imported():
            assert "tenure_pytest" in sys.modules
            assert not {"tenure", "tenure_model", "apsw", "attrs"} & set(sys.modules)
        """
    )

    suite.runpytest_subprocess("-p", "no:hypothesispytest", "-p", "no:anyio").assert_outcomes(passed=1)


def test_the_library_does_not_load_pytest() -> None:
    """Neither ``tenure`` nor ``tenure.testing`` needs it."""
    code = "import sys, tenure, tenure.testing, tenure.stubs; sys.exit('pytest' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_library_may_be_imported_before_pytest(suite: pytest.Pytester) -> None:
    """pytest marks what is installed with a plug-in for rewriting, and warns of what it comes too late for."""
    suite.makeconftest("import pytest; pytest.register_assert_rewrite('tenure', 'tenure_model')")
    suite.makepyfile("def test_it(): pass")
    code = "import sys, tenure, pytest; sys.exit(pytest.main())"

    result = subprocess.run([sys.executable, "-c", code], cwd=suite.path, capture_output=True, text=True, check=False)

    assert (result.returncode, "1 passed" in result.stdout) == (0, True)


def test_it_can_be_left_out(suite: pytest.Pytester) -> None:
    """By its name, as every plug-in."""
    suite.makepyfile("def test_it(tenure_store): pass")

    suite.runpytest_inprocess("-p", "no:tenure").assert_outcomes(errors=1)
