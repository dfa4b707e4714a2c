"""The documents: the code in them runs, and what they name exists."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import tenure
from tenure.cli import main
from tenure_model.vocabulary import outcomes

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_the_worker_of_the_readme_runs(tmp_path):
    """The example does what it says when it is copied into a file."""
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (tmp_path / "worker.py").write_text(code)

    result = subprocess.run([sys.executable, "worker.py"], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (result.returncode, result.stdout, result.stderr) == (0, "done\ncompleted\n", "")


def test_the_worker_of_the_readme_type_checks(tmp_path):
    """Copied into a program that is checked strictly, it is right."""
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (tmp_path / "worker.py").write_text(code)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".cache" / "mypy"), "worker.py"]

    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (result.returncode, result.stdout) == (0, "Success: no issues found in 1 source file\n")


def test_every_outcome_is_explained():
    """Each tag of the run store stands in the table of answers."""
    tags = {
        name
        for name, member in vars(outcomes).items()
        if isinstance(member, type) and member.__module__ == outcomes.__name__
    }

    assert {tag for tag in tags if f"`{tag}" not in README} == set()


def test_every_outcome_can_be_matched_by_users():
    """Each tag is a public name of the library."""
    tags = {
        name
        for name, member in vars(outcomes).items()
        if isinstance(member, type) and member.__module__ == outcomes.__name__
    }

    assert {tag for tag in tags if not hasattr(tenure, tag)} == set()


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_command_is_documented_and_has_json(name):
    """Each command stands in the README, explains itself and offers machine-readable output."""
    command = main.commands[name]

    assert re.search(rf"`tenure {name} [A-Z]+", README)
    assert command.help
    assert "--json" in {option for parameter in command.params for option in parameter.opts}
    assert all(parameter.help for parameter in command.params if isinstance(parameter, click.Option))


@pytest.mark.parametrize("document", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_every_path_named_exists(document):
    """A path in backticks is a file or a folder of the repository."""
    text = (ROOT / document).read_text()
    paths = re.findall(r"`((?:\.ci|\.github|model|impl|tests|specs)/[^`*…{}<>]*|[A-Z]+\.md|Makefile)`", text)

    assert {path for path in paths if not (ROOT / path).exists()} == set()


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_every_make_target_named_exists(document):
    """A target that a document names is in the Makefile."""
    makefile = (ROOT / "Makefile").read_text()
    named = set(re.findall(r"(?:`|^)make ([a-z]+)", (ROOT / document).read_text(), re.MULTILINE))

    assert {target for target in named if f"\n{target}:" not in makefile} == set()


@pytest.mark.parametrize("guide", sorted(path.name for path in (ROOT / "docs").glob("*.md")))
def test_the_guides_run(tmp_path, guide):
    """All code of a guide, in order, in one program."""
    code = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / guide).read_text(), re.DOTALL)
    (tmp_path / "guides.py").write_text("\n".join(code))

    result = subprocess.run([sys.executable, "guides.py"], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
