"""Details of the report: curves, cut-offs, importances, single queries, times, the call."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.outcomes import Done, Runs
from boostplug.comparison.recommendation import call
from boostplug.comparison.summary import Bin, Curve, Details, MethodDetails, QueryValue
from boostplug.comparison.training.runs import CUTOFFS, Method
from boostplug.metrics import NDCG

Floats = NDArray[np.float64]
Finished = dict[Method, Done]

_MOST_FEATURES = 30
_EXTREME = 5  # queries that are named for each method, at either end
_HARDEST = 10
_TIED = 1e-9
_QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


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
    - quantiles: of the differences to the reference. They are above 0 where the method is better, of errors too.
    - worst, best: the queries with the most extreme differences; of a reference, and if there is none, values.
    - seconds: median over runs of a complete training, the metric after each round included.

    Of all methods together:

    - features: the 30 at most whose importances are the largest, mean over methods; f0, f1, … without names.
    - hardest: the queries whose mean over all methods is the worst, beside the best method there.
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
                seconds=float(np.median(seconds)) if (seconds := _known(done, "seconds")) else None,
                **_queries(runs, method, finished),
            )
            for method, done in finished.items()
        ],
        cutoffs=list(CUTOFFS),
        cutoff_metric=re.sub("@[^(]*", "", metric.name) if isinstance(metric, NDCG) else "NDCG",
        features=features,
        tied_below=_TIED,
        hardest=[*_hardest(runs, finished)],
        python=call(runs),
        command=runs.command,
        data=runs.data.parts(),
    )


def _known(done: Done, field: str) -> list[Any]:
    """Return a field of the runs that have it."""
    return [value for run in done.values() if (value := getattr(run, field)) is not None]


def _listed(values: Floats | None) -> list[float | None]:
    return [] if values is None else values.tolist()


def _mean_over_runs(done: Done, field: str) -> list[float | None]:
    """Return the mean over runs of the places that all of them have."""
    known = _known(done, field)
    n = min(map(len, known), default=0)
    return _listed(np.mean([values[:n] for values in known], axis=0)) if known else []


def _bins(known: Sequence[Floats]) -> list[Bin]:
    """Return the bins that hold documents, by the sums over all runs."""
    if not known:
        return []
    weight, predicted, observed = np.sum(known, axis=0).reshape(3, -1)
    total = weight.sum()
    return [
        Bin(predicted=float(p / w), observed=float(o / w), share=float(w / total))
        for w, p, o in zip(weight, predicted, observed, strict=True)
        if w > 0
    ]


def _importances(runs: Runs, finished: Finished) -> tuple[list[str], dict[Method, list[float | None]]]:
    """Return the features with the largest importances, and these by method."""
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
    """Return the gains over their sum; infinite ones share it alone."""
    largest = gains.max(initial=0.0)
    scaled = np.isinf(gains).astype(np.float64) if np.isinf(largest) else gains / (largest or 1.0)
    shares: Floats = scaled / (scaled.sum() or 1.0)
    return shares


class _Values(NamedTuple):
    """Values of queries, which stand in folds one after another."""

    values: Floats
    fold: NDArray[np.int64]
    query: NDArray[np.int64]


def _mean_values(runs: Runs, done: Done, common: Sequence[tuple[int, int]]) -> dict[int, Floats]:
    """Return each fold's values of queries, mean over seeds; NaN where a query has none, or counts for nothing."""
    found = runs.fold_means(done, common)
    for fold, values in found.items():
        weight = runs.tests[fold].queries.query_weight
        found[fold] = values if weight is None else np.where(weight > 0, values, np.nan)
    return found


def _joined(runs: Runs, by_fold: dict[int, Floats]) -> _Values:
    """Return the values of all folds that are defined; a query that stands in several folds once, with its mean."""
    places = [(np.full(len(values), fold), np.arange(len(values)), values) for fold, values in by_fold.items()]
    fold, query, values = (np.concatenate(columns) for columns in zip(*places, strict=True))
    kept = ~np.isnan(values)
    found = _Values(values[kept], fold[kept], query[kept])
    if runs.codes is None:
        return found
    codes = np.concatenate([runs.codes[fold] for fold in by_fold])[kept]
    first, place = np.unique(codes, return_index=True, return_inverse=True)[1:]
    means = np.bincount(place, found.values) / np.bincount(place)
    order = np.argsort(first)
    return _Values(means[order], found.fold[first[order]], found.query[first[order]])


def _queries(runs: Runs, method: Method, finished: Finished) -> dict[str, Any]:
    """Return the fields of a method's details that are of single queries."""
    sign = 1.0 if runs.plan.metric.greater_is_better else -1.0
    reference = runs.reference_of(method)
    done, theirs = finished[method], {} if reference is None else finished.get(reference, {})
    common = sorted(set(done) & set(theirs))
    if reference is None or reference == method or not common:
        own, other = _joined(runs, _mean_values(runs, done, sorted(done))), None
        d, found = sign * own.values, {}
    else:
        own = _joined(runs, _mean_values(runs, done, common))
        other = _joined(runs, _mean_values(runs, theirs, common)).values
        d = sign * (own.values - other)
        found = {
            "outcomes": [int((d >= _TIED).sum()), int((np.abs(d) < _TIED).sum()), int((d <= -_TIED).sum())],
            "quantiles": np.quantile(d, _QUANTILES).tolist() if len(d) else [],
        }
    beside = reference.name if reference is not None and other is not None else None
    for end, way in (("worst", 1.0), ("best", -1.0)):
        order = np.argsort(way * d, kind="stable")[:_EXTREME]
        found[end] = [
            _query_value(runs, own, i, own.values[i], None if other is None else float(other[i]), beside) for i in order
        ]
    return found


def _query_value(
    runs: Runs, places: _Values, i: int, value: float, other_value: float | None, other: str | None
) -> QueryValue:
    """Return a value with the facts about its query, whatever the method."""
    fold, query = int(places.fold[i]), int(places.query[i])
    part = runs.tests[fold]
    queries = part.queries
    rows = slice(*queries.boundaries[query : query + 2])
    least = getattr(runs.plan.metric, "relevant", None)
    labels = queries.labels[rows]
    relevant = queries.labelled_rows[rows] & (labels > 0 if least is None else labels >= least)
    return QueryValue(
        query=str(part.ids[query]),
        fold=fold,
        documents=len(labels),
        relevant=int(relevant.sum()),
        value=float(value),
        other_value=other_value,
        other=other,
    )


def _hardest(runs: Runs, finished: Finished) -> Iterator[QueryValue]:
    """Yield the queries with the worst mean over the methods, beside the best method."""
    sign = 1.0 if runs.plan.metric.greater_is_better else -1.0
    values = {method: _mean_values(runs, done, sorted(done)) for method, done in finished.items()}
    folds = sorted({fold for of_method in values.values() for fold in of_method})
    if not folds:
        return
    methods = {fold: [method for method in values if fold in values[method]] for fold in folds}
    tables = {fold: np.array([values[method][fold] for method in methods[fold]]) for fold in folds}
    means = _joined(runs, {fold: sign * table.mean(axis=0) for fold, table in tables.items()})
    for i in np.argsort(means.values, kind="stable")[:_HARDEST]:
        fold = int(means.fold[i])
        of_query = tables[fold][:, int(means.query[i])]
        best = int(np.argmax(sign * of_query))
        method = methods[fold][best]
        other = f"{method.framework} {method.name}"
        yield _query_value(runs, means, i, of_query.mean(), float(of_query[best]), other)
