"""What all tests share: the helper modules of this folder on the path, and names that every process gives alike."""

import re
import sys
from dataclasses import is_dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def pytest_make_parametrize_id(val):
    """Name a loss, a metric, a distance or a ranker by its repr, without the addresses of the functions in it.

    Workers of pytest-xdist compare the names of their tests: an address differs in each of them.
    """
    function = callable(val) and hasattr(val, "__name__")
    if function or isinstance(val, type) or not (is_dataclass(val) or hasattr(val, "get_params")):
        return None  # pytest's own way is fine
    return " ".join(re.sub(r"<function (\S+) at 0x[0-9a-f]+>", r"\1", repr(val)).split())
