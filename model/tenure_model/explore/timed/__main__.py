"""`python -m tenure_model.explore.timed FOLDER`: write `bounds.md` and `bounds.svg` into the folder."""

import sys
from pathlib import Path

from tenure_model.explore.timed.plot import drawn
from tenure_model.explore.timed.report import written


def main(folder: Path) -> None:
    """Write both files, replacing what is there."""
    sys.stderr.write("searching for the schedules that break each assumption\n")
    for name, text in (("bounds.md", written()), ("bounds.svg", drawn())):
        (folder / name).write_text(text, "utf-8")
        sys.stderr.write(f"wrote {folder / name}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "specs"))
