"""What holds for the results of calls, by their types: finite, complete, equal to plain loops, kept by pickles."""

import copy
import pickle

import loops
import numpy as np
from metrics import plain

import boostplug as bp
from boostplug.datasets import QueryBatches
from boostplug.losses import DirectedDistance
from boostplug.selection.folds import Folds


def check_value(value):
    """Check a loss, a metric, a distance: equal to its copies, hashable, with a repr."""
    for other in (copy.deepcopy(value), _pickled(value)):
        assert other == value
        assert hash(other) == hash(value)
    assert repr(value)
    if isinstance(value, bp.Metric) and not callable(getattr(value, "gain", None)):  # a lambda has no name
        assert bp.Metric.parse(repr(value)) == value


def _pickled(value):
    try:
        return pickle.loads(pickle.dumps(value))
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        if "lambda" in str(error):
            return value
        raise


def check_pairs(pairs):
    assert len(pairs.winner) == len(pairs.loser) == len(pairs)
    assert (pairs.winner != pairs.loser).all()
    for array in (pairs.weight, pairs.margin):
        assert array is None or (np.isfinite(array).all() and (array >= 0).all() and not array.flags.writeable)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(pairs)).winner, pairs.winner)


def check_queries(queries):
    n, boundaries = queries.n_rows, queries.boundaries
    assert boundaries[0] == 0
    assert boundaries[-1] == n
    assert (np.diff(boundaries) >= 0).all()
    assert queries.labels.shape == (n,)
    assert queries.labels.dtype == np.float64
    assert np.isfinite(queries.labels).all()
    for array in (queries.row_weight, queries.query_weight):
        assert array is None or (np.isfinite(array).all() and (array >= 0).all())
    assert repr(pickle.loads(pickle.dumps(queries))) == repr(queries)


def check_ranking_data(data):
    assert data.X.shape == (data.n_rows, data.n_features)
    assert np.isfinite(data.y).all()
    assert data.group.sum() == data.n_rows == len(data.qid)
    check_queries(data.queries)


def check_folds(folds):
    rows = np.concatenate([test for _, test in folds])
    assert len(np.unique(rows)) == len(rows) == folds.n_rows
    for (train, test), sizes in zip(folds, folds.groups, strict=True):
        assert not set(train) & set(test)
        assert (sizes.train.sum(), sizes.test.sum()) == (len(train), len(test))


def check_batches(found):
    parts = list(found)
    for part in parts:
        check_ranking_data(part)
    firsts = [name for part in parts for name in dict.fromkeys(part.qid.tolist())]
    assert len({*firsts}) == len(firsts)
    assert sum(part.n_rows for part in parts) == found.n_rows


def check_ensemble(model):
    X = np.random.default_rng(0).integers(-2, 3, (5, model.n_features)).astype(float)
    scores = model.predict(X)
    assert np.isfinite(scores).all()
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model)
    if stages:
        np.testing.assert_allclose(stages[-1], scores, rtol=1e-9, atol=1e-9)
    assert type(model).from_dict(model.to_dict()) == pickle.loads(pickle.dumps(model)) == model
    assert (model.feature_importances >= 0).all()


def check_ranker(ranker, X):
    """Check a fitted ranker: finite predictions, row by row, kept by a pickle."""
    scores = np.asarray(ranker.predict(X))
    assert np.isfinite(scores).all(), scores
    np.testing.assert_array_equal(np.asarray(_pickled(ranker).predict(X)), scores)
    if isinstance(X, np.ndarray):
        np.testing.assert_array_equal(np.asarray(ranker.predict(X[::-1])), scores[::-1])


def check_derivatives(loss, scores, queries):
    """Check value, gradient and Hessian: finite, equal at a second call and to plain loops."""
    value = loss.value(scores, queries)
    outputs = loss.gradient_hessian(scores, queries)
    gradient, hessian = outputs
    assert value.shape == (queries.n_queries,)
    assert gradient.shape == hessian.shape == (queries.n_rows,)
    assert np.isfinite(value).all()
    assert np.isfinite(outputs).all()
    assert (hessian >= 0).all()
    assert (hessian[gradient != 0] > 0).all(), outputs
    assert 0.0 < loss.scale(queries) < np.inf
    np.testing.assert_array_equal(loss.gradient_hessian(scores, queries), outputs)
    scores = np.asarray(scores, dtype=float)
    values = [np.unique(array) for array in (queries.labels, scores)]
    if (
        any((np.diff(array) < 1e-9 * np.abs(array).max(initial=0.0)).any() for array in values)
        or np.ptp([0.0, *scores]) > 1e9
    ):
        return  # the differences are only roundings, or overflow
    try:
        with np.errstate(all="ignore"):
            expected = loops.expected(loss, scores, queries)
    except OverflowError:
        return
    if expected is None or not np.abs(expected[1]).max(initial=0.0) * loss.scale(queries) < 1e25:
        return
    np.testing.assert_allclose(
        value, expected[0], rtol=1e-6, atol=max(1e-300, 1e-30 * np.square(scores).max(initial=0))
    )
    unit = np.zeros(queries.n_rows, int) if queries.pairs is not None else queries.query_of_row
    for one, other in zip(outputs, np.multiply(expected[1:], loss.scale(queries)), strict=True):
        largest = np.full(queries.n_queries + 1, 1e-100)  # single precision ends far above
        cancelled = 1e-3 * np.abs(expected[2]) * loss.scale(queries)  # terms of a gradient that sum to 0
        np.maximum.at(largest, unit, np.maximum(np.abs(other), cancelled))
        assert (np.abs(one - other) <= 1e-6 * largest[unit]).all(), (one, other)


def check_metric(metric, scores, queries):
    """Check values per query and their mean against plain loops."""
    mean = metric(scores, queries)
    assert isinstance(mean, float)
    if isinstance(metric, (bp.ChoiceLogLoss, bp.LogLoss, bp.ECE)):
        assert not np.isinf(mean)
        return
    values = metric.per_query(scores, queries)
    assert values.shape == (queries.n_queries,)
    defined = values[~np.isnan(values)]
    low = -1.0 if isinstance(metric, (bp.SpearmanRho, bp.KendallTau)) else 0.0
    assert ((defined >= low) & (defined <= (np.inf if isinstance(metric, bp.DCG) else 1.0))).all(), values
    scores = np.asarray(scores, dtype=float)
    try:
        with np.errstate(all="ignore"):
            expected = plain.per_query(metric, scores, queries)
            np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(mean, plain.mean_of(metric, scores, queries, expected), rtol=1e-9, atol=1e-12)
    except plain.TooMany:
        pass


def check(result):
    """Check a result by its type."""
    kinds = {
        (bp.Loss, bp.Metric, DirectedDistance): check_value,
        bp.Queries: check_queries,
        bp.Pairs: check_pairs,
        bp.RankingData: check_ranking_data,
        bp.Ensemble: check_ensemble,
        QueryBatches: check_batches,
        Folds: check_folds,
    }
    for kind, check_kind in kinds.items():
        if isinstance(result, kind):
            check_kind(result)
    if isinstance(result, (list, tuple)):
        for one in result:
            check(one)
    assert repr(result)
