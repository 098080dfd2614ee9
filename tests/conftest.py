"""What all tests share: the helper modules of this folder on the path, names that every process gives alike, marks.

Of several processes (pytest-xdist) each gets its share of the cores. They use one cache of compiled kernels, and wait
for each other where both need the same one (`boostplug.kernels.base.compiling`).
"""

import gc
import os
import re
import signal
import sys
from dataclasses import is_dataclass
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS))

from quick import QUICK  # noqa: E402 (the path comes first)
from versions import version_of  # noqa: E402

# Threads that LightGBM and XGBoost keep spinning take the cores from the tests beside them.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
if workers := os.environ.get("PYTEST_XDIST_WORKER_COUNT"):  # before anything starts its threads
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // int(workers))))


def pytest_configure(config):
    """Let Ctrl-C interrupt, which a shell's background jobs ignore; let older versions warn of what is theirs."""
    gc.disable()  # while modules load: it would look for garbage among them for three seconds
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if version_of("lightgbm") < (4, 7):  # its predict warns of any array without names
        config.addinivalue_line("filterwarnings", "ignore:X does not have valid feature names:UserWarning")
    if version_of("scikit-learn") < (1, 9) and hasattr(pytest, "PytestRemovedIn10Warning"):
        # parametrize_with_checks passes a generator
        config.addinivalue_line("filterwarnings", "ignore:Passing a non-Collection:pytest.PytestRemovedIn10Warning")


def pytest_collection_finish():
    """Collect garbage again."""
    gc.enable()


def pytest_collection_modifyitems(items):
    """Mark the tests of the quick files and the doctests; refuse names that differ from process to process."""
    for item in items:
        if " at 0x" in item.name:
            raise pytest.UsageError(f"{item.nodeid} has an address in its name, other in each process: leave ids= out")
        inside = item.path.relative_to(TESTS).as_posix() if item.path.is_relative_to(TESTS) else None
        if inside is not None and inside.startswith("frameworks/"):
            item.add_marker(pytest.mark.frameworks)
        of_studies = inside is not None and inside.startswith("studies/")
        if of_studies and not item.get_closest_marker("benchmark"):
            item.add_marker(pytest.mark.ci)
        if (inside is None or inside in QUICK) and not item.get_closest_marker("ci"):
            item.add_marker(pytest.mark.quick)


def pytest_make_parametrize_id(val):
    """Name a loss, a metric, a distance or a ranker by its repr, without the addresses in it.

    Workers of pytest-xdist compare the names of their tests: an address differs in each of them.
    """
    function = callable(val) and hasattr(val, "__name__")
    if function or isinstance(val, type) or not (is_dataclass(val) or hasattr(val, "get_params")):
        return None  # pytest's own way is fine
    return " ".join(re.sub(r"<(?:function )?(\S+)(?: object)? at 0x[0-9a-f]+>", r"\1", repr(val)).split())
