"""What came of the calls, counted: ``python tests/fuzz/outcomes.py FOLDER`` writes docs/results/fuzz.md.

The folder is the one that ``BOOSTPLUG_FUZZ_COUNTS`` named in a run of ``pytest -m fuzz``.
"""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "results" / "fuzz.md"
WORKER = Path(__file__).with_name("worker.py")
KINDS = ("returned", "ValueError", "TypeError", "OSError", "ImportError", "else")


def run(name, n_calls, seed, file):
    """Make calls of a target in a process of their own; return the counts, and the defects by what they are."""
    command = [sys.executable, str(WORKER), name, str(n_calls), str(seed), str(file)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        call = Path(f"{file}.call")
        text = call.read_text(encoding="utf-8", errors="replace") if call.exists() else ""
        detail = done.stderr[-3000:]
        return {"else": 1}, {f"the process ended with {done.returncode}": {"n": 1, "text": text, "detail": detail}}
    result = json.loads(Path(file).read_text())
    return result["counts"], result["defects"]


def page(counts, seed):
    """Return the page of these counts, by target."""
    total = {kind: sum(found.get(kind, 0) for found in counts.values()) for kind in KINDS}
    lines = [
        "# Outcomes of hostile calls",
        "",
        f"{sum(total.values()):,} calls over the whole public API, most of them with one argument, or part of one,",
        "that is not as it should be. A call returns, and then what it returns is checked (finite; equal to plain",
        "loops; the same for another order of the documents; kept by pickles and files), or it is refused in words.",
        "Anything else (another exception, a NaN, a warning that is not documented, an error of NumPy's in place of",
        "ours, a crash, a minute without an end) is a defect, which the last column counts.",
        "",
        f"`BOOSTPLUG_FUZZ_SEED={seed} BOOSTPLUG_FUZZ_COUNTS=counts pytest -m fuzz` makes the calls,",
        "`python tests/fuzz/outcomes.py counts` this page. "
        + ", ".join(f"{name} {version(name)}" for name in ("numpy", "lightgbm", "xgboost", "scikit-learn"))
        + f", Python {sys.version.split()[0]}.",
        "",
        f"| target | calls | {' | '.join(kind if kind != 'else' else 'anything else' for kind in KINDS)} |",
        f"|---|---:|{'---:|' * len(KINDS)}",
    ]
    for name, found in [*sorted(counts.items(), key=lambda item: item[0].lower()), ("all", total)]:
        cells = [f"{sum(found.values()):,}", *(f"{found.get(kind, 0):,}" for kind in KINDS)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(folder):
    """Write the page."""
    results = [json.loads(path.read_text()) for path in sorted(Path(folder).glob("*.json"))]
    PAGE.write_text(page({result["target"]: result["counts"] for result in results}, results[0]["seed"]))


if __name__ == "__main__":
    main(sys.argv[1])
