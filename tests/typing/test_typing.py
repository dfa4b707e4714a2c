"""What both type checkers say in strict mode about programs that use the library, line by line.

Files in ``accepted`` must pass. In ``refused`` every line that ends in ``# E:`` must fail, by the codes that stand
there (those of pyright begin with ``report``), and no other line may.
"""

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import mypy.api
import pytest

import tenure
from tenure import aio

ROOT = Path(__file__).parents[2]
FILES = sorted(path for folder in ("accepted", "refused") for path in (Path(__file__).parent / folder).glob("*.py"))
NAMES = [f"{path.parent.name}/{path.name}" for path in FILES]
PATIENCE_SECONDS = 300
"""How long pyright may take before it counts as hanging."""

Findings = Mapping[str, set[tuple[int, str]]]
"""For each file, which lines are refused by which codes."""

pytestmark = pytest.mark.xdist_group("typing")


def expected(path: Path) -> set[tuple[int, str]]:
    """What is marked in the file."""
    return {
        (number, code)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        for codes in re.findall(r"# E: (.*)$", line)
        for code in codes.split(", ")
    }


def by_file(found: Iterable[tuple[str, int, str]]) -> Findings:
    """Findings sorted by the files that they are in."""
    findings = {name: set[tuple[int, str]]() for name in NAMES}
    for file, line, code in found:
        path = Path(file)
        findings[f"{path.parent.name}/{path.name}"].add((line, code))
    return findings


@pytest.fixture(scope="module")
def mypy_findings() -> Findings:
    """All that mypy refuses."""
    options = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".cache" / "mypy-typing")]
    report, problems, _ = mypy.api.run([*options, "--no-error-summary", *map(str, FILES)])

    assert problems == ""
    found = re.findall(r"^(.+?):(\d+): error: .*\[([a-z-]+)\]$", report, re.MULTILINE)
    assert len(found) == report.count(": error: ")
    return by_file((file, int(line), code) for file, line, code in found)


@pytest.fixture(scope="module")
def pyright_findings() -> Findings:
    """All that pyright refuses. It runs on node; without one it would go and download it."""
    if shutil.which("node") is None:
        pytest.fail("pyright needs node on the PATH", pytrace=False)
    command = [sys.executable, "-m", "pyright", "--outputjson", "--project", str(ROOT), *map(str, FILES)]
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS, env=environment
        )
    except subprocess.TimeoutExpired:
        pytest.fail(f"pyright did not end within {PATIENCE_SECONDS} s", pytrace=False)
    if result.returncode not in (0, 1):
        pytest.fail(f"pyright could not run: {result.stderr or result.stdout}", pytrace=False)
    report = json.loads(result.stdout)
    return by_file(
        (finding["file"], finding["range"]["start"]["line"] + 1, finding.get("rule", "syntax"))
        for finding in report["generalDiagnostics"]
    )


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_mypy_refuses_exactly_what_is_marked(path: Path, mypy_findings: Findings) -> None:
    """In strict mode, for the reason that stands there."""
    marked = {(line, code) for line, code in expected(path) if not code.startswith("report")}

    assert mypy_findings[f"{path.parent.name}/{path.name}"] == marked


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_pyright_refuses_exactly_what_is_marked(path: Path, pyright_findings: Findings) -> None:
    """In strict mode, for the reason that stands there."""
    marked = {(line, code) for line, code in expected(path) if code.startswith("report")}

    assert pyright_findings[f"{path.parent.name}/{path.name}"] == marked


def test_only_refused_files_are_marked() -> None:
    """There is something to refuse in each of those, and nothing in the others."""
    assert {path for path in FILES if expected(path)} == {path for path in FILES if path.parent.name == "refused"}


@pytest.mark.parametrize("kind", [tenure.Store, tenure.RunStore, tenure.AttemptStore, tenure.Journal])
def test_every_operation_is_called(kind: type) -> None:
    """None is missing in what must pass."""
    calls_all_operations(kind, [path for path in FILES if path.parent.name == "accepted" and path.stem != "tasks"])


@pytest.mark.parametrize("kind", [aio.Store, aio.RunStore, aio.AttemptStore, aio.Journal])
def test_every_operation_of_a_task_is_called(kind: type) -> None:
    """None is missing in what must pass."""
    calls_all_operations(kind, [Path(__file__).parent / "accepted" / "tasks.py"])


def calls_all_operations(kind: type, files: Iterable[Path]) -> None:
    """Each public operation of the class is called somewhere in the files."""
    text = "\n".join(path.read_text("utf-8") for path in files)
    operations = {name for name, member in vars(kind).items() if inspect.isfunction(member) and name[0] != "_"}

    assert {name for name in operations if f".{name}(" not in text} == set()
