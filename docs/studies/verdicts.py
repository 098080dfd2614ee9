"""How often `compare` advises a change: where nothing is better than the score in use, and where .03 NDCG@10 is.

``PYTHONPATH=docs python -m studies.verdicts STORE`` makes 200 comparisons of each design, two hours on one core, and
prints a table. Each comparison trains on a table of its own, through the call that a user makes.
"""

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from boostplug.comparison.compare import compare
from boostplug.replication.tables import markdown
from studies.store import finished

__all__ = ["DESIGNS", "Design", "table", "verdict"]

TRIALS = 200
_DOCUMENTS, _FEATURES = 12, 6


@dataclass(frozen=True, kw_only=True)
class Design:
    """What the tables of a design have in common.

    Attributes
    ----------
    name : str
    n_queries : int
    signal, gain : float
        Weights in the labels of the score in use, and of a feature that it does not have.
    today : str or None
        The score in use; None: lambdarank is.
    options : tuple
        More arguments of `compare`.
    """

    name: str
    n_queries: int
    signal: float = 1.0
    gain: float = 0.0
    today: str | None = "old_score"
    options: tuple[tuple[str, Any], ...] = ()


_SPLIT = (("split", (0.6, 0.2, 0.2)),)
DESIGNS = (
    Design(name="labels are chance; a score in use; 5 folds", n_queries=300, signal=0.0),
    Design(name="labels are chance; lambdarank in use; 5 folds", n_queries=300, signal=0.0, today=None),
    Design(name="labels are chance; a score in use; one split", n_queries=300, signal=0.0, options=_SPLIT),
    Design(name="the score in use cannot be beaten; 5 folds", n_queries=300),
    Design(name="the score in use cannot be beaten; one split", n_queries=2500, options=_SPLIT),
    Design(name="a feature is worth .03; one split, 500 test queries", n_queries=2500, gain=0.45, options=_SPLIT),
    Design(name="a feature is worth .03; 5 folds of 500 queries", n_queries=500, gain=0.48),
)


def table(design: Design, seed: int) -> pd.DataFrame:
    """Return rows with grades 0 to 2, the score in use, a feature that may be worth something, and noise."""
    rng = np.random.default_rng((seed, design.n_queries))
    n = design.n_queries * _DOCUMENTS
    X = rng.normal(size=(n, _FEATURES))
    utility = design.signal * X[:, 0] + design.gain * X[:, 1] + rng.normal(size=n)
    grade = np.digitize(utility, np.quantile(utility, (0.75, 0.92)))
    names = ["old_score", "new", *(f"noise_{j}" for j in range(_FEATURES - 2))]
    return pd.DataFrame(X, columns=names).assign(grade=grade, query=np.repeat(np.arange(design.n_queries), _DOCUMENTS))


def verdict(design: Design, seed: int) -> dict[str, Any]:
    """Return the decision of one comparison, and the challenger's difference to what is in use."""
    result = compare(
        table(design, seed),
        label="grade",
        qid="query",
        today=design.today,
        losses=["crr", "qbrank"],
        baselines=["lambdarank", "column", "linear"],
        frameworks="lightgbm",
        seeds=1,
        rounds=300,
        early_stopping_rounds=10,
        num_threads=1,
        progress=False,
        **dict(design.options),
    )
    found = result.document["recommendation"]
    return {name: found[name] for name in ("outcome", "difference", "queries", "method")}


def main(store: str) -> None:
    """Make the comparisons that are not in the store, and print the table."""
    folder, rows = Path(store), []
    folder.mkdir(parents=True, exist_ok=True)
    for number, design in enumerate(DESIGNS):
        found = [finished(folder, f"{number}-{seed}", partial(verdict, design, seed)) for seed in range(TRIALS)]
        advised = sum(one["outcome"] == "better" for one in found)
        differences = [one["difference"] or 0.0 for one in found]
        queries = np.mean([one["queries"] for one in found if one["queries"]])
        rows.append([
            design.name, f"{queries:.0f}", f"{np.mean(differences):+.4f}", f"{advised} of {TRIALS}",
            f"{100 * advised / TRIALS:.1f} %",
        ])  # fmt: skip
    heads = ["design", "test queries", "mean difference of the challenger", "a change is advised", "share"]
    sys.stdout.write("\n".join(markdown(heads, rows)) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
