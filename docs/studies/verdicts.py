"""How often `compare` advises a change that is none, how often it finds one that is, and how often its interval holds.

``PYTHONPATH=docs python -m studies.verdicts STORE docs/results/calibration.json docs/results/calibration.md`` makes 400
comparisons of each design, an hour on one core, and fills a table of the page. Each comparison trains on a table of its
own, through the call that a user makes.
"""

import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from boostplug.comparison.compare import compare
from boostplug.comparison.comparison import Comparison
from boostplug.comparison.decision import Decision, decide
from boostplug.comparison.inputs.columns import TODAY
from boostplug.comparison.inputs.features import score_of
from boostplug.comparison.inputs.folds import LoadedData
from boostplug.comparison.result import CompareResult
from boostplug.comparison.summary import Outcome
from boostplug.comparison.training.plan import TrainingPlan
from boostplug.comparison.training.runs import Method, MethodRun
from boostplug.comparison.training.trees import Trees
from boostplug.data.inputs import CheckedInputs
from boostplug.data.queries import Queries
from boostplug.losses import SquaredError
from boostplug.metrics import NDCG
from boostplug.model.boosters import as_booster
from studies.calibration import Sample, part_of, tables
from studies.store import finished
from studies.tables import publish

TRIALS, FRESH = 400, 5_000  # comparisons of each design; queries that say what a difference is in truth
_FEATURES = 6
_METRIC = NDCG(10)


def record(result: CompareResult, fresh: CheckedInputs | None) -> dict[str, Any]:
    """Return what a study keeps of a comparison: its runs, without models, and what these do on fresh queries.

    `fresh` has the values of the fresh queries by each fold's model, and by the mean of their scores, for each method
    that some way of choosing may take.
    """
    comparison, decision = result.outcomes, decide(result.outcomes)
    assert decision is not None
    by_validation = comparison.best_method(comparison.validation_means(decision.among, decision.runs))
    taken = {by_validation, decision.challenger, decision.incumbent, *chain.from_iterable(decision.pairs.values())}
    kept = ("framework", "method", "fold", "seed", "rounds", "rounds_trained", "validation", "test", "error")
    found = result.document["recommendation"]
    return {
        "methods": [(m.name, m.framework, str(m.objective), m.is_reference) for m in comparison.methods],
        "rounds": comparison.plan.rounds,
        "patience": comparison.plan.patience,
        "runs": [
            {**{name: getattr(run, name) for name in kept}, "per_query": {_METRIC.name: run.per_query[_METRIC.name]}}
            for run in comparison.runs
        ],
        "outcome": str(found["outcome"]),
        "fresh": {} if fresh is None else {m.key: _on(fresh, comparison, m) for m in taken if m is not None},
    }


def _on(fresh: CheckedInputs, comparison: Comparison, method: Method) -> NDArray[np.float32]:
    scores = []
    for (fold, _), run in comparison.finished(method).items():
        if run.model:
            scores.append(as_booster(run.model.encode()).predict(fresh.X))
        elif method.objective == TODAY:
            scores.append(fresh.queries.labels_by_name[TODAY])
        else:
            scores.append(score_of(comparison.best_columns[fold], fresh))
    values = [_METRIC.per_query(one, fresh.queries) for one in (*scores, np.mean(scores, axis=0))]
    return np.array(values, dtype=np.float32)


def decided(found: Mapping[str, Any]) -> Decision:
    """Return the decision of `compare` for a record, or for invented runs in its form."""
    methods = [Method(*one) for one in found["methods"]]
    runs = [MethodRun(**run) for run in found["runs"]]
    own = [run.per_query[_METRIC.name][None] for run in runs if (run.framework, run.method) == methods[0].key]
    ids = np.split(np.arange(sum(values.size for values in own)), np.cumsum([values.size for values in own])[:-1])
    parts = [part_of(Sample(of_fold, values, values)) for of_fold, values in zip(ids, own, strict=True)]
    plan = TrainingPlan(_METRIC, _METRIC, [_METRIC], Trees(), found["rounds"], found["patience"], 1, 0, [0])
    decision = decide(Comparison(LoadedData([[part] * 3 for part in parts]), plan, methods, runs))
    assert decision is not None
    return decision


class Verdict(NamedTuple):
    """What a comparison promises, and what is true."""

    advised: bool
    promised: float
    interval: tuple[float, float] | None
    """None where every fold chose what is in use."""
    true: float
    true_error: float
    """Standard error of `true`."""
    queries: int
    second: bool
    """Whether the change is to a method that was not the best on validation."""

    @property
    def covered(self) -> bool | None:
        """Whether the interval holds the truth, whose own error widens it."""
        if self.interval is None:
            return None
        end = self.interval[0] if self.true < self.promised else self.interval[1]
        return bool(abs(self.true - self.promised) <= np.hypot(end - self.promised, 1.96 * self.true_error))


def judged(found: Mapping[str, Any]) -> Verdict:
    """Return the verdict of a record beside the truth: 0 where nothing was kept of fresh queries, as labels are chance.

    The truth is about the models that were compared: in each fold, the chosen one and the one in use.
    """
    decision, fresh = decided(found), found["fresh"]
    gaps = [fresh[a.key][fold] - fresh[b.key][fold] for fold, (a, b) in decision.pairs.items() if fresh]
    true, error = mean_and_error(np.mean(gaps, axis=0)) if gaps else (0.0, 0.0)
    contrast = decision.contrast
    told = (0.0, None, 0) if contrast is None else (contrast.difference, contrast.interval, contrast.n_queries)
    return Verdict(decision.outcome is Outcome.BETTER, told[0], told[1], true, error, told[2], decision.comparisons > 0)


def mean_and_error(values: Sequence[float] | NDArray[np.floating[Any]]) -> tuple[float, float]:
    """Return the mean of the values that are not NaN, and its standard error."""
    known = np.asarray(values, np.float64)
    known = known[~np.isnan(known)]
    if len(known) < 2:
        return (float(known[0]) if len(known) else np.nan), np.nan
    return float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known)))


def shares(found: Sequence[Verdict]) -> dict[str, Any]:
    """Return the numbers of both pages about some verdicts."""
    covered = [one.covered for one in found if one.covered is not None]
    return {
        "trials": len(found),
        "queries": float(np.mean([one.queries for one in found if one.queries])),
        "promised": mean_and_error([one.promised for one in found]),
        "true": mean_and_error([one.true for one in found]),
        "promised - true": mean_and_error([one.promised - one.true for one in found]),
        "advised": sum(one.advised for one in found),
        "covered": [sum(covered), len(covered)],
    }


@dataclass(frozen=True, kw_only=True)
class Design:
    """What the tables of a design have in common.

    Attributes
    ----------
    name : str
    n_queries, documents : int
        Queries, and documents of each.
    signal, gain : float
        Weights in the labels of the score in use, and of a feature that it does not have. Without both, labels are
        chance, and the score in use is no feature.
    aims : int
        Number of methods that each learn a label of their own, which has nothing to do with the grade.
    in_use : str or None
        The score in use; None: lambdarank is.
    options : tuple
        More arguments of `compare`.
    """

    name: str
    n_queries: int
    documents: int = 12
    signal: float = 0.0
    gain: float = 0.0
    aims: int = 0
    in_use: str | None = "old_score"
    options: tuple[tuple[str, Any], ...] = ()


_CHANCE = "labels are chance"
_SPLIT = (("split", (0.6, 0.2, 0.2)),)
DESIGNS = (
    Design(name=f"{_CHANCE}: 12 unrelated methods; 5 folds", n_queries=60, documents=6, aims=12),
    Design(name=f"{_CHANCE}: 12 unrelated methods; one split", n_queries=300, documents=6, aims=12, options=_SPLIT),
    Design(name=f"{_CHANCE}: default methods; 5 folds", n_queries=60),
    Design(name=f"{_CHANCE}: default methods; one split", n_queries=300, options=_SPLIT),
    Design(name=f"{_CHANCE}: default methods, lambdarank in use; 5 folds", n_queries=60, in_use=None),
    Design(name="the score in use cannot be beaten; 5 folds", n_queries=300, signal=1.0),
    Design(name="the score in use cannot be beaten; one split", n_queries=2500, signal=1.0, options=_SPLIT),
    Design(name="a feature is worth .03; 5 folds", n_queries=500, signal=1.0, gain=0.48),
    Design(name="a feature is worth .03; one split", n_queries=2500, signal=1.0, gain=0.45, options=_SPLIT),
)


def table(design: Design, seed: int, n_queries: int = 0) -> pd.DataFrame:
    """Return rows with grades 0 to 2, the score in use, a feature that may be worth something, noise, and aims."""
    n_queries = n_queries or design.n_queries
    rng = np.random.default_rng((seed, n_queries, design.aims))
    n = n_queries * design.documents
    X = rng.normal(size=(n, max(_FEATURES, design.aims + 1)))
    utility = design.signal * X[:, 0] + design.gain * X[:, 1] + rng.normal(size=n)
    grade = np.digitize(utility, np.quantile(utility, (0.75, 0.92)))
    names = ["old_score", "new", *(f"noise_{j}" for j in range(X.shape[1] - 2))]
    aims = {f"aim_{j}": np.digitize(X[:, j + 1], [-0.5, 0.5, 1.2]) for j in range(design.aims)}
    query = np.repeat(np.arange(n_queries), design.documents)
    return pd.DataFrame(X, columns=names).assign(grade=grade, query=query, **aims)


def _options(design: Design) -> dict[str, Any]:
    """Return the methods of a design: cheap trainings of a few, unless the default ones are asked for."""
    if design.aims:
        losses = {f"aim_{j}": SquaredError().on(f"aim_{j}") for j in range(design.aims)}
        stopped = {"rounds": 5, "early_stopping_rounds": None, "params": {"num_leaves": 4, "learning_rate": 0.3}}
        return {"losses": losses, "labels": [*losses], "baselines": (), "drop": ["old_score"], **stopped}
    few = {"losses": ["crr", "qbrank"], "baselines": ["lambdarank", "column", "linear"]}
    return {"early_stopping_rounds": 10, **(few if design.signal else {"drop": ["old_score"]})}


def verdict(design: Design, seed: int) -> dict[str, Any]:
    """Return the record of one comparison."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = compare(
            table(design, seed),
            label="grade",
            qid="query",
            today=design.in_use,
            **{"rounds": 300, **_options(design), **dict(design.options)},
            frameworks="lightgbm",
            seeds=1,
            num_threads=1,
            progress=False,
        )
    return record(result, _fresh(design, seed) if design.signal else None)


def _fresh(design: Design, seed: int) -> CheckedInputs:
    frame = table(design, seed, FRESH)
    in_use = {TODAY: frame["old_score"].to_numpy()}
    queries = Queries(frame["grade"], qid=frame["query"], labels_by_name=in_use)
    return CheckedInputs(
        frame.drop(columns=["grade", "query"]).to_numpy(), queries, feature_names=(*frame.columns[:-2],)
    )


def summary(store: Path) -> list[dict[str, Any]]:
    """Make the comparisons that are not in the store, and return a row of the page's table for each design."""
    store.mkdir(parents=True, exist_ok=True)
    rows = []
    for number, design in enumerate(DESIGNS):
        found = [finished(store, f"{number}-{seed}", partial(verdict, design, seed)) for seed in range(TRIALS)]
        verdicts = [judged(one) for one in found]
        second = [one for one in verdicts if one.second]
        doubtful = sum(one["outcome"] == "doubtful" for one in found)
        more = {"doubtful": doubtful, "second": shares(second) if second else None}
        rows.append({"design": design.name, **shares(verdicts), **more})
    return rows


def main(store: str, result: str, page: str) -> None:
    """Make the comparisons, and write their numbers and their table beside those of the other studies of the page."""
    stored = json.loads(Path(result).read_text(encoding="utf-8"))
    publish({**stored, "changes": summary(Path(store))}, result, page, tables)


if __name__ == "__main__":
    main(*sys.argv[1:])
