"""A disk that forgets what was not synced: a VFS that logs every write, and the images that a power cut could leave."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, TypeAlias

import apsw

File: TypeAlias = Literal["database", "wal"]
Entry: TypeAlias = tuple[str, File, int, bytes]
"""What happened (write, truncate, sync, delete), to which file, at which offset or size, with which bytes."""
Images: TypeAlias = dict[File, bytearray]

SUFFIXES: Final[dict[File, str]] = {"database": "", "wal": "-wal"}


class LoggingVfs(apsw.VFS):
    """The platform's VFS, which also keeps a log; ``acknowledge`` adds a mark. Unregister it when done."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "")
        self.name = name
        self.log: list[Entry] = []

    def acknowledge(self) -> None:
        """The caller has been told that its write is committed."""
        self.log.append(("acknowledged", "database", 0, b""))

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> "LoggingFile":  # noqa: N802  # APSW's name
        return LoggingFile(self.log, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802  # APSW's name
        if filename.endswith("-wal"):
            self.log.append(("delete", "wal", 0, b""))
        super().xDelete(filename, syncdir)


class LoggingFile(apsw.VFSFile):
    """One open file of the platform, logged."""

    def __init__(self, log: list[Entry], name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("", name, flags)
        path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        self._file: File = "wal" if path.endswith("-wal") else "database"
        self._log = log

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802  # APSW's name
        self._log.append(("write", self._file, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802  # APSW's name
        self._log.append(("truncate", self._file, size, b""))
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802  # APSW's name
        super().xSync(flags)
        self._log.append(("sync", self._file, 0, b""))


def read_images(path: Path) -> Images:
    """Both files as they are."""
    return {file: bytearray(read_if_there(path, suffix)) for file, suffix in SUFFIXES.items()}


def read_if_there(path: Path, suffix: str) -> bytes:
    """A file's bytes; none for a file that does not exist."""
    file = path.with_name(path.name + suffix)
    return file.read_bytes() if file.exists() else b""


def write_images(images: Images, path: Path) -> None:
    """Both files anew, without the index that SQLite rebuilds from them."""
    path.with_name(path.name + "-shm").unlink(missing_ok=True)
    for file, suffix in SUFFIXES.items():
        path.with_name(path.name + suffix).write_bytes(images[file])


def _apply(image: bytearray, entry: Entry) -> None:
    kind, _, offset, data = entry
    if kind == "write":
        image.extend(bytes(max(0, offset - len(image))))
        image[offset : offset + len(data)] = data
    elif kind == "truncate":
        del image[offset:]
    elif kind == "delete":
        image.clear()


def _torn(entry: Entry, chooser: random.Random) -> Entry:
    kind, file, offset, data = entry
    return kind, file, offset, data[: chooser.randrange(len(data) + 1)]


def power_cuts(start: Images, log: list[Entry], chooser: random.Random) -> Iterator[tuple[int, Images]]:
    """After every entry of the log, what the disk may hold: what was synced, and of the rest nothing, everything, a
    beginning torn at any byte, or any selection with torn members. With it, how many commits were acknowledged."""
    synced = {file: bytearray(image) for file, image in start.items()}
    pending: dict[File, list[Entry]] = {"database": [], "wal": []}
    acknowledged = 0
    for entry in log:
        kind, file = entry[:2]
        if kind == "acknowledged":
            acknowledged += 1
        elif kind == "sync":
            for kept in pending[file]:
                _apply(synced[file], kept)
            pending[file].clear()
        else:
            pending[file].append(entry)
        for choose in (_nothing, _everything, _beginning, _selection):
            images = {name: bytearray(image) for name, image in synced.items()}
            for name in images:
                for kept in choose(pending[name], chooser):
                    _apply(images[name], kept)
            yield acknowledged, images


def _nothing(entries: list[Entry], chooser: random.Random) -> list[Entry]:
    return []


def _everything(entries: list[Entry], chooser: random.Random) -> list[Entry]:
    return entries


def _beginning(entries: list[Entry], chooser: random.Random) -> list[Entry]:
    end = chooser.randrange(len(entries) + 1)
    return [*entries[:end], *(_torn(entry, chooser) for entry in entries[end : end + 1])]


def _selection(entries: list[Entry], chooser: random.Random) -> list[Entry]:
    chosen = [entry for entry in entries if chooser.random() < 0.5]
    return [_torn(entry, chooser) if chooser.random() < 0.2 else entry for entry in chosen]
