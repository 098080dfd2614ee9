"""The studies are no part of the package: they are imported from the clone, as `PYTHONPATH=docs` does."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "docs"))
