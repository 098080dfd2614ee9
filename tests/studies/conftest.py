"""The studies are no part of the package: they are imported from the clone, as `PYTHONPATH=docs` does."""

import sys
from pathlib import Path

# The second for `replication.toy`, what the tests of a folder share.
sys.path += [str(Path(__file__).parents[2] / "docs"), str(Path(__file__).parent)]
