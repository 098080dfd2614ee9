"""Details of the report: curves, cut-offs, importances, queries won and lost, times, the call."""

import re
from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.outcomes import Done, Runs, weight_of
from boostplug.comparison.recommendation import call
from boostplug.comparison.summary import Bin, Curve, Details, MethodDetails, Numbers
from boostplug.comparison.training.runs import CUTOFFS, Method
from boostplug.metrics import NDCG

Floats = NDArray[np.float64]
Finished = dict[Method, Done]

_MOST_FEATURES = 20
_TIED = 1e-9


def details(runs: Runs) -> Details:
    """Return the details that a report shows in addition to the summary of a comparison.

    Of each method with a finished run, in the order of the summary:

    - curves: the metric on the validation part after each round of each run.
    - cutoffs: mean NDCG over the test queries, by weight, and over runs, at each of `CUTOFFS`: by the conventions of
      the comparison's metric if that is an NDCG, else by its defaults. Empty if the grades allow no NDCG.
    - bins: documents of all runs in bins of the predicted probability, if a metric judges probabilities.
    - positions: click probability by position, relative to the first, as given to the method or estimated by it.
    - importances: share of each of `features` in the gains of all splits of the model at its best round, mean over
      runs. Empty if the framework reports no gains.
    - outcomes: number of test queries won, tied and lost against the framework's reference, by the comparison's metric,
      mean over the seeds that both have finished. Queries on which the metric is undefined, and those of weight 0, are
      left out. Empty for a reference, and if there is none.
    - seconds: median over runs of a complete training, the metric after each round included.

    Of all methods together:

    - features: the 20 at most whose importances are the largest, mean over methods; f0, f1, … without names.
    - python, command: the call that trains all of this again, and the command that did, if one did.
    - data: size and digest of each part of the data.
    """
    finished = {method: done for method in runs.methods if (done := runs.finished(method))}
    features, importances = _importances(runs, finished)
    metric = runs.plan.metric
    return Details(
        methods=[
            MethodDetails(
                framework=method.framework,
                method=method.name,
                curves=[
                    Curve(fold=run.fold, seed=run.seed, best_round=run.rounds, values=_listed(run.curve))
                    for run in done.values()
                ],
                cutoffs=_mean_over_runs(done, "cutoffs"),
                bins=_bins(_known(done, "reliability")),
                positions=_mean_over_runs(done, "position_bias"),
                importances=importances.get(method, []),
                outcomes=_outcomes(runs, method, finished),
                seconds=float(np.median(seconds)) if (seconds := _known(done, "seconds")) else None,
            )
            for method, done in finished.items()
        ],
        cutoffs=list(CUTOFFS),
        cutoff_metric=re.sub("@[^(]*", "", metric.name) if isinstance(metric, NDCG) else "NDCG",
        features=features,
        tied_below=_TIED,
        python=call(runs),
        command=runs.command,
        data=runs.data.parts(),
    )


def _known(done: Done, field: str) -> list[Any]:
    """Return a field of the runs in which it is not None."""
    return [value for run in done.values() if (value := getattr(run, field)) is not None]


def _listed(values: Floats | None) -> Numbers:
    return [] if values is None else [None if isnan(value) else value for value in values.tolist()]


def _mean_over_runs(done: Done, field: str) -> Numbers:
    """Return the mean over runs, for the positions that all runs have."""
    known = _known(done, field)
    n = min(map(len, known), default=0)
    return _listed(np.mean([values[:n] for values in known], axis=0)) if known else []


def _bins(known: Sequence[Floats]) -> list[Bin]:
    """Return the bins with documents, from the sums over all runs."""
    if not known:
        return []
    weight, predicted, observed = np.sum(known, axis=0).reshape(3, -1)
    total = weight.sum()
    return [
        Bin(predicted=float(p / w), observed=float(o / w), share=float(w / total))
        for w, p, o in zip(weight, predicted, observed, strict=True)
        if w > 0
    ]


def _importances(runs: Runs, finished: Finished) -> tuple[list[str], dict[Method, Numbers]]:
    """Return the features with the largest importances, and their importances by method."""
    shares = {
        method: np.mean([*map(_shares, known)], axis=0)
        for method, done in finished.items()
        if (known := _known(done, "gains"))
    }
    means = np.mean([*shares.values()], axis=0) if shares else np.zeros(0)
    order = [int(i) for i in np.argsort(-means, kind="stable")[:_MOST_FEATURES] if means[i] > 0]
    names = runs.tests[0].feature_names
    features = [f"f{i}" if names is None else str(names[i]) for i in order]
    return features, {method: _listed(of_method[order]) for method, of_method in shares.items()}


def _shares(gains: Floats) -> Floats:
    """Return gains divided by their sum; infinite gains share it equally."""
    largest = gains.max(initial=0.0)
    scaled = np.isinf(gains).astype(np.float64) if np.isinf(largest) else gains / (largest or 1.0)
    shares: Floats = scaled / (scaled.sum() or 1.0)
    return shares


def _outcomes(runs: Runs, method: Method, finished: Finished) -> list[int]:
    """Return the numbers of queries that a method won, tied and lost; a query in several folds counts once."""
    reference = runs.reference_of(method)
    common = [] if reference is None else sorted(set(finished[method]) & set(finished.get(reference, {})))
    if reference is None or reference == method or not common:
        return []
    ours, theirs = (runs.fold_means(finished[one], common) for one in (method, reference))
    sign = 1.0 if runs.plan.metric.greater_is_better else -1.0
    d = np.concatenate([sign * (ours[fold] - theirs[fold]) for fold in ours])
    kept = ~np.isnan(d) & (np.concatenate([weight_of(runs.tests[fold]) for fold in ours]) > 0)
    d = d[kept]
    if runs.codes is not None:
        place = np.unique(np.concatenate([runs.codes[fold] for fold in ours])[kept], return_inverse=True)[1]
        d = np.bincount(place, d) / np.bincount(place)
    return [int((d >= _TIED).sum()), int((np.abs(d) < _TIED).sum()), int((d <= -_TIED).sum())]
