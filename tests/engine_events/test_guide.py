"""The guide: `docs/engine-events.md`."""

import re
import subprocess
import sys
from pathlib import Path

from tenure_model.vocabulary.engine_events.errors import EVENT_ERROR_CODES

GUIDE = (Path(__file__).parents[2] / "docs" / "engine-events.md").read_text()


def test_the_guide_runs(tmp_path: Path) -> None:
    """All its code, in order, in one program."""
    (tmp_path / "guide.py").write_text("\n".join(re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)))

    result = subprocess.run([sys.executable, "guide.py"], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_every_code_is_explained() -> None:
    """In the table of errors (JN-360)."""
    assert [code for code in EVENT_ERROR_CODES if f"| `{code}` |" not in GUIDE] == []
