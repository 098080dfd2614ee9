"""Puts this folder on the path, so that test modules can import `loops`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
