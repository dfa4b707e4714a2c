"""``python -m tenure_model.explore.hazards FILE`` writes the document of all hazards."""

import sys
from pathlib import Path

from tenure_model.explore.hazards.document import document
from tenure_model.explore.hazards.table import HAZARDS

if __name__ == "__main__":
    Path(sys.argv[1]).write_text(document(HAZARDS.values()), encoding="utf-8")
