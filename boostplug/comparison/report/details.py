"""Details of the report: curves, cut-offs, importances, single queries, times, the call."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.outcomes import Done, Runs
from boostplug.comparison.recommendation import call, command
from boostplug.comparison.summary import (
    Curve,
    Curves,
    Cutoffs,
    Details,
    Importances,
    MethodCurves,
    MethodMeans,
    MethodPositions,
    MethodQueries,
    MethodReliability,
    MethodSeconds,
    MethodShares,
    Positions,
    Queries,
    QueryDifference,
    QueryMean,
    Reliability,
    Reproduce,
)
from boostplug.comparison.training.runs import CUTOFFS, Method
from boostplug.metrics import NDCG

Floats = NDArray[np.float64]

_MOST_FEATURES = 30
_EXTREME = 5  # queries that are named for each method, at either end
_HARDEST = 10
_TIED = 1e-9
_QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


def details(runs: Runs) -> Details:
    """Return what a report shows beside the summary of a comparison.

    In each list the methods stand in the order of the summary, those without a finished run left out.

    curves
        The metric on the validation part after each round of each run.
    cutoffs
        Mean NDCG over the test queries, by weight, and over runs, at each of `CUTOFFS`: by the conventions of the
        comparison's metric where that is an NDCG, else by its defaults. No methods where the grades allow none.
    reliability
        Mean predicted probability, mean label / max_grade and share of the documents, in bins of the probability: where
        a metric judges probabilities, of all runs together.
    importances
        The share of each feature in the gains of all splits of the model at its best round, mean over runs; of the
        30 features at most whose shares are the largest, mean over methods; from 0 on named f0, f1, … where the
        data name none. Without methods whose framework tells no gains.
    queries
        Of each method beside its framework's reference, by the comparison's metric on the test part, mean over the
        seeds that both have finished: on how many queries it wins, ties and loses, quantiles of the differences,
        and the queries where these are the most extreme. Differences are above 0 where the method is better, of
        errors too. Queries on which the metric is undefined, and those of weight 0, are left out.
        Of a reference itself, and where there is none: the queries with the worst and best values.
    hardest
        The queries whose mean over all methods is the worst.
    seconds
        Medians over runs: of a whole training, the metric after each round included, and of a round.
    reproduce
        The call and the command (None where it cannot do the same) that train all of this again, and the size and
        digest of each part of the data.
    """
    finished = {method: done for method in runs.methods if (done := runs.finished(method))}
    return Details(
        curves=_curves(runs, finished),
        cutoffs=_cutoffs(runs, finished),
        reliability=Reliability(methods=[*_reliability(finished)]),
        positions=Positions(methods=[*_positions(finished)]),
        importances=_importances(runs, finished),
        queries=Queries(
            metric=runs.plan.metric.name,
            tied_below=_TIED,
            methods=[_method_queries(runs, method, finished) for method in finished],
        ),
        hardest=_hardest(runs, finished),
        seconds=[
            MethodSeconds(
                **_name_fields(method),
                training=_median([cell.seconds for cell in done.values()]),
                per_round=_median([cell.seconds_per_round for cell in done.values()]),
            )
            for method, done in finished.items()
        ],
        reproduce=Reproduce(python=call(runs), command=command(runs), data=runs.data.parts()),
    )


Finished = dict[Method, Done]


def _name_fields(method: Method) -> dict[str, str]:
    return {"framework": method.framework, "method": method.name}


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None


def _curves(runs: Runs, finished: Finished) -> Curves:
    methods = [
        MethodCurves(
            **_name_fields(method),
            runs=[
                Curve(
                    fold=cell.fold,
                    seed=cell.seed,
                    best_round=cell.rounds,
                    values=[] if cell.curve is None else cell.curve.tolist(),
                )
                for cell in done.values()
            ],
        )
        for method, done in finished.items()
    ]
    return Curves(metric=runs.plan.metric.name, methods=methods)


def _by_method(finished: Finished, field: str) -> Iterator[tuple[dict[str, str], list[Floats]]]:
    """Yield each method, and a field of those of its runs that have it, where there are any."""
    for method, done in finished.items():
        known = [value for run in done.values() if (value := getattr(run, field)) is not None]
        if known:
            yield _name_fields(method), known


def _cutoffs(runs: Runs, finished: Finished) -> Cutoffs:
    name = re.sub("@[^(]*", "", runs.plan.metric.name) if isinstance(runs.plan.metric, NDCG) else "NDCG"
    methods = [
        MethodMeans(**named, means=np.mean(known, axis=0).tolist()) for named, known in _by_method(finished, "cutoffs")
    ]
    return Cutoffs(metric=name, at=list(CUTOFFS), methods=methods)


def _reliability(finished: Finished) -> Iterator[MethodReliability]:
    """Yield the bins that hold documents, by the sums over all runs."""
    for named, known in _by_method(finished, "reliability"):
        weight, predicted, observed = np.sum(known, axis=0).reshape(3, -1)
        there = weight > 0
        yield MethodReliability(
            **named,
            predicted=(predicted[there] / weight[there]).tolist(),
            observed=(observed[there] / weight[there]).tolist(),
            shares=(weight[there] / weight.sum()).tolist(),
        )


def _positions(finished: Finished) -> Iterator[MethodPositions]:
    """Yield the mean over runs of each position that all of them have."""
    for named, known in _by_method(finished, "position_bias"):
        n = min(map(len, known))
        yield MethodPositions(**named, relative=np.mean([curve[:n] for curve in known], axis=0).tolist())


def _importances(runs: Runs, finished: Finished) -> Importances:
    part = runs.tests[0]
    n_features = part.X.shape[1]
    shares = [(named, np.mean([*map(_shares, known)], axis=0)) for named, known in _by_method(finished, "gains")]
    means = np.mean([of_method for _, of_method in shares], axis=0) if shares else np.zeros(0)
    order = [int(i) for i in np.argsort(-means, kind="stable")[:_MOST_FEATURES] if means[i] > 0]
    return Importances(
        measure="share of the total gain of splits",
        n_features=n_features,
        features=[f"f{i}" if part.feature_names is None else str(part.feature_names[i]) for i in order],
        methods=[MethodShares(**named, shares=of_method[order].tolist()) for named, of_method in shares],
    )


def _shares(gains: Floats) -> Floats:
    """Return parts of a whole; of gains that are 0 or infinite as far as can be told."""
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


def _method_queries(runs: Runs, method: Method, finished: Finished) -> MethodQueries:
    """Return a method's entry among `queries`."""
    named: dict[str, Any] = _name_fields(method)
    sign = 1.0 if runs.plan.metric.greater_is_better else -1.0
    reference = runs.reference_of(method)
    done, theirs = finished[method], {} if reference is None else finished.get(reference, {})
    common = sorted(set(done) & set(theirs))
    compared = reference is not None and reference != method and bool(common)
    own = _joined(runs, _mean_values(runs, done, common if compared else sorted(done)))
    other = _joined(runs, _mean_values(runs, theirs, common)).values if compared else None
    d = sign * (own.values if other is None else own.values - other)

    def entry(i: int) -> QueryDifference:
        return QueryDifference(
            **_described(runs, own, i),
            value=own.values[i],
            reference_value=None if other is None else other[i],
            difference=None if other is None else d[i],
        )

    extremes: dict[str, Any] = {
        end: [entry(int(i)) for i in np.argsort(way * d, kind="stable")[:_EXTREME]]
        for end, way in (("worst", 1.0), ("best", -1.0))
    }
    if reference is None or other is None:
        nothing: dict[str, Any] = dict.fromkeys(("reference", "wins", "ties", "losses", "quantiles"))
        return MethodQueries(**named, **nothing, **extremes)
    return MethodQueries(
        **named,
        reference=reference.name,
        wins=int((d >= _TIED).sum()),
        ties=int((np.abs(d) < _TIED).sum()),
        losses=int((d <= -_TIED).sum()),
        quantiles=np.quantile(d, _QUANTILES).tolist() if len(d) else None,
        **extremes,
    )


def _described(runs: Runs, places: _Values, i: int) -> dict[str, Any]:
    """Return what there is to say of a query, whatever the method."""
    fold, query = int(places.fold[i]), int(places.query[i])
    part = runs.tests[fold]
    queries = part.queries
    rows = slice(queries.boundaries[query], queries.boundaries[query + 1])
    least = getattr(runs.plan.metric, "relevant", None)
    labels = queries.labels[rows]
    relevant = queries.labelled_rows[rows] & (labels > 0 if least is None else labels >= least)
    return {
        "query": str(part.ids[query]),
        "fold": fold,
        "documents": len(labels),
        "relevant": int(relevant.sum()),
    }


def _hardest(runs: Runs, finished: Finished) -> list[QueryMean]:
    """Return the queries with the worst mean over the methods."""
    sign = 1.0 if runs.plan.metric.greater_is_better else -1.0
    values = {method: _mean_values(runs, done, sorted(done)) for method, done in finished.items()}
    folds = sorted({fold for of_method in values.values() for fold in of_method})
    if not folds:
        return []
    there = {fold: [method for method in values if fold in values[method]] for fold in folds}
    tables = {fold: np.array([values[method][fold] for method in there[fold]]) for fold in folds}
    means = _joined(runs, {fold: sign * table.mean(axis=0) for fold, table in tables.items()})
    found = []
    for i in np.argsort(means.values, kind="stable")[:_HARDEST]:
        fold, query = int(means.fold[i]), int(means.query[i])
        of_query = tables[fold][:, query]
        best = int(np.argmax(sign * of_query))
        method = there[fold][best]
        found.append(
            QueryMean(
                **_described(runs, means, i),
                mean=of_query.mean(),
                best=of_query[best],
                best_method=f"{method.framework} {method.name}",
            )
        )
    return found
