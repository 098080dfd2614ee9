"""What a call that returns must have returned: finite, whole, equal to plain loops, and the same for another order."""

import copy
import pickle
from itertools import groupby
from pathlib import Path

import loops
import numpy as np
from fuzz import plain

import boostplug as bp
from boostplug import testing
from boostplug.adapters.reading import queries_of


def check_value(value):
    """Check a loss, a metric, a distance: equal to its copies, hashable, with a name and a repr."""
    for other in (copy.deepcopy(value), _pickled(value)):
        assert other == value
        assert hash(other) == hash(value)
    assert repr(value)
    if isinstance(value, (bp.Metric, bp.Loss)):
        assert value.name
        assert not set(" :") & set(value.name) or isinstance(value, bp.Loss)
    if isinstance(value, bp.Metric) and not callable(getattr(value, "gain", None)):  # a lambda has no name
        assert bp.Metric.parse(value.name) == value


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
    for array in (pairs.winner, pairs.loser, pairs.weight, pairs.margin):
        assert array is None or (np.isfinite(array).all() and (array >= 0).all() and not array.flags.writeable)
    again = pickle.loads(pickle.dumps(pairs))
    np.testing.assert_array_equal(again.winner, pairs.winner)


def check_queries(queries):
    """Check what every loss and metric builds on."""
    n, boundaries = queries.n_rows, queries.boundaries
    assert boundaries[0] == 0
    assert boundaries[-1] == n
    assert len(boundaries) == queries.n_queries + 1
    assert (np.diff(boundaries) >= 0).all()
    assert queries.labels.shape == (n,)
    assert queries.labels.dtype == np.float64
    assert np.isfinite(queries.labels).all()
    for array in (queries.row_weight, queries.query_weight):
        assert array is None or (np.isfinite(array).all() and (array >= 0).all())
    runs = queries.grade_runs
    expected = np.zeros(queries.n_queries)
    for q in range(queries.n_queries):
        y = queries.labels[boundaries[q] : boundaries[q + 1]][queries.judged[boundaries[q] : boundaries[q + 1]]]
        expected[q] = np.sum(y[:, None] > y)
    np.testing.assert_array_equal(runs.n_pairs, expected[expected > 0])
    assert len(queries.list_runs.rows) == queries.judged.sum()
    if queries.pairs is not None:
        listed = queries.pair_runs
        assert np.isfinite(listed.weight).all()
        assert (listed.weight > 0).all()
    assert repr(pickle.loads(pickle.dumps(queries))) == repr(queries)


# Losses


def check_derivatives(loss, scores, queries, seed=0):
    """Check value, gradient and Hessian: finite, equal at a second call, to plain loops, and in another order."""
    before = scores.tobytes() if isinstance(scores, np.ndarray) else None
    value = loss.value(scores, queries)
    gradient, hessian = loss.gradient_hessian(scores, queries)
    assert value.shape == (queries.n_queries,)
    assert gradient.shape == hessian.shape == (queries.n_rows,)
    for array in (value, gradient, hessian):
        assert array.dtype == np.float64
        assert np.isfinite(array).all(), array
    of_users = any(isinstance(part, bp.PairwiseLoss) for part in getattr(loss, "parts", (loss,)))
    assert of_users or (value >= 0).all(), value
    assert (hessian >= 0).all(), hessian
    assert (hessian[gradient != 0] > 0).all(), (gradient, hessian)
    assert before is None or before == scores.tobytes()
    assert 0.0 < loss.scale(queries) < np.inf
    for one, again in zip((gradient, hessian), loss.gradient_hessian(scores, queries), strict=True):
        np.testing.assert_array_equal(again, one)
    scores = np.asarray(scores, dtype=float) if queries.n_rows else np.zeros(0)
    expected = _looped(loss, scores, queries)
    if expected is not None:
        _same_by_query(queries, (gradient, hessian), expected[1:])
        # A user's values may cancel in a sum, and a plain loop over squares loses labels beside scores. All others are
        # compared down to next to where float64 ends.
        squares = any(isinstance(part, bp.SquaredError) for part in getattr(loss, "parts", (loss,)))
        lost = (1e-15 * np.abs(scores).max(initial=0.0)) ** 2 if squares else 0.0
        np.testing.assert_allclose(value, expected[0], rtol=1e-6, atol=1e-6 if of_users else max(lost, 1e-300))
    _same_in_another_order(loss, scores, queries, (gradient, hessian), seed)


def _looped(loss, scores, queries):
    """Return value, gradient and Hessian by plain loops; None where there are none, or numbers too far apart.

    Nor where labels or scores are so close to each other that their difference is but a rounding.
    """
    weight = np.ones(1) if queries.row_weight is None else queries.row_weight[queries.row_weight > 0]
    parts = getattr(loss, "parts", (loss,))
    if any(isinstance(part, bp.Correlation) for part in parts) and np.ptp(np.log10(weight)) > 9:
        return None  # a mean that one row makes leaves its own distance from it without digits
    for values in (queries.labels, scores):
        if (np.diff(np.unique(values)) < 1e-9 * np.abs(values).max(initial=0.0)).any():
            return None
    with np.errstate(all="ignore"):
        try:
            found = loops.expected(loss, scores, queries)
        except OverflowError:
            return None
        if found is None:
            return None
        scale = loss.scale(queries)
        found = found[0], found[1] * scale, found[2] * scale
    most = max(float(np.abs(array).max(initial=0.0)) for array in found)
    return found if most < 1e25 else None  # NaN neither; past that, all rows share a common factor


def _same_by_query(queries, found, expected, rtol=1e-6):
    """Compare gradients and Hessians beside each query's largest."""
    unit = np.zeros(queries.n_rows, int) if queries.pairs is not None else queries.query_of_row
    cancelled = 1e-3 * np.abs(expected[1])  # terms of a gradient that sum to 0 leave their rounding
    for one, other in zip(found, expected, strict=True):
        largest = np.zeros(queries.n_queries + 1)
        np.maximum.at(largest, unit, np.maximum(np.abs(other), cancelled))
        off = np.abs(one - other) > rtol * largest[unit] + 1e-100  # far below single precision
        assert not off.any(), f"row {np.argmax(off)}: {one} and {other}"


def _same_in_another_order(loss, scores, queries, outputs, seed):
    if queries.pairs is not None or getattr(getattr(loss, "metric", None), "ties", "") == "order":
        return
    for part in (loss, *getattr(loss, "parts", ()), getattr(loss, "base", None)):
        if getattr(part, "random_state", None) is not None or getattr(part, "truncation", None) is not None:
            return  # noise is of a row's place, and ties stand in row order
    order = np.lexsort((np.random.default_rng(seed).random(queries.n_rows), queries.query_of_row))
    other = bp.Queries(
        queries.labels[order],
        group=np.diff(queries.boundaries),
        weight=None if queries.row_weight is None else queries.row_weight[order],
        labelled=None if queries.labelled is None else queries.labelled[order],
    )
    again = loss.gradient_hessian(scores[order], other)
    _same_by_query(queries, again, [array[order] for array in outputs])


def check_property(loss, scores, queries, prop, seed=0):
    """Check one of the properties that all losses keep, on data of any kind."""
    loss.value(scores, queries)  # which refuses what is no score of these rows
    if np.abs(queries.labels).max(initial=0.0) > 1e30:  # regression on them leaves single precision
        return
    if float(getattr(loss, "sigmoid", 1.0)) <= 1e15:  # beyond, derivatives in its square leave single precision
        prop(loss, np.asarray(scores, dtype=float), queries, np.random.default_rng(seed))


def property_broken(loss, names=()):
    """Return which property `check_loss` finds broken, "" if none; it is one of `names` where these are given."""
    found = ""
    try:
        testing.check_loss(loss)
    except AssertionError as error:
        found = str(error)
    name = found.partition("the property '")[2].partition("'")[0]
    assert not found or name in {prop.__name__ for prop in testing.PROPERTIES}, found
    assert not names or name in names, found
    return name


def check_objective(loss, scores, dataset):
    """Check that a framework gets what the loss says of its dataset, in single precision."""
    gradient, hessian = loss(scores, dataset)
    assert gradient.dtype == hessian.dtype == np.float32
    assert np.isfinite(gradient).all()
    assert np.isfinite(hessian).all()
    assert (hessian >= 0).all()
    assert (hessian[gradient != 0] > 0).all()
    exact = loss.gradient_hessian(scores, queries_of(dataset))
    kept = exact[1] >= np.finfo(np.float32).tiny  # a Hessian that single precision does not hold takes no step
    for one, other in zip((gradient, hessian), exact, strict=True):
        np.testing.assert_allclose(one, np.where(kept, other, 0.0), rtol=1e-6, atol=1e-37)


# Metrics


def check_metric(metric, scores, queries, seed=0):
    """Check values per query and the mean: those of plain loops, within bounds, the same in another order."""
    if isinstance(metric, (bp.LogLoss, bp.ECE)):
        check_probabilities(metric, scores, queries)
        return
    values = metric.per_query(scores, queries)
    mean = metric(scores, queries)
    assert isinstance(mean, float)
    assert values.shape == (queries.n_queries,)
    assert not np.isinf(values).any()
    scores = np.asarray(scores, dtype=float) if queries.n_rows else np.zeros(0)
    defined = values[~np.isnan(values)]
    low = -1.0 if isinstance(metric, (bp.SpearmanRho, bp.KendallTau)) else 0.0
    high = np.inf if isinstance(metric, bp.DCG) else 1.0
    assert ((defined >= low) & (defined <= high)).all(), values
    if queries.query_weight is None or (queries.query_weight > 0).all():
        assert np.isnan(mean) == (len(defined) == 0), (mean, values)
    try:
        with np.errstate(all="ignore"):
            expected = plain.per_query(metric, scores, queries)
            np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12)
            expected_mean = plain.mean_of(metric, scores, queries, expected)
        np.testing.assert_allclose(mean, expected_mean, rtol=1e-9, atol=1e-12)
    except plain.TooMany:
        pass
    if getattr(metric, "ties", "average") != "order":
        order = np.lexsort((np.random.default_rng(seed).random(queries.n_rows), queries.query_of_row))
        labelled = None if queries.labelled is None else queries.labelled[order]
        other = bp.Queries(queries.labels[order], group=np.diff(queries.boundaries), labelled=labelled)
        np.testing.assert_allclose(metric.per_query(scores[order], other), values, rtol=1e-9, atol=1e-12)


def check_probabilities(metric, scores, queries):
    """Check LogLoss and ECE: finite, those of plain loops."""
    mean = metric(scores, queries)
    assert not np.isinf(mean)
    checked = np.asarray(scores, dtype=float) if queries.n_rows else np.zeros(0)
    try:
        expected, of_queries = plain.of_probabilities(metric, checked, queries)
    except plain.TooMany:
        return
    np.testing.assert_allclose(mean, expected, rtol=1e-9, atol=1e-9)
    if of_queries is not None:
        np.testing.assert_allclose(metric.per_query(scores, queries), of_queries, rtol=1e-9, atol=1e-12)


# Folds and data


def check_folds(folds, n_splits):
    assert len(folds) == n_splits
    rows = np.concatenate([test for _, test in folds])
    assert len(np.unique(rows)) == len(rows) == folds.n_rows
    for (train, test), sizes in zip(folds, folds.groups, strict=True):
        assert not set(train) & set(test)
        assert sizes.train.sum() == len(train)
        assert sizes.test.sum() == len(test)


def check_ranking_data(data):
    assert data.X.shape == (data.n_rows, data.n_features)
    assert data.X.dtype == np.float32
    assert np.isfinite(data.y).all()
    assert data.group.sum() == data.n_rows == len(data.qid)
    assert data.n_rows
    check_queries(data.queries)


def check_whole(found, frame, qid):
    """Check that a frame holds the rows of another, those of each query together, in one partition, in their order."""
    rows = [part.compute() for part in found.partitions]
    together = [query for part in rows for query, _ in groupby(part[qid].tolist())]
    assert len({*together}) == len(together)
    before = frame.compute()
    for query, of_query in before.groupby(qid, observed=True):
        after = [part[part[qid] == query] for part in rows]
        assert [i for part in after for i in part.index] == of_query.index.tolist()
    assert sum(map(len, rows)) == len(before)


def check_batches(found):
    """Check that batches are whole queries, all of them, twice, and that their fields are theirs."""
    parts = list(found)
    assert len(parts) == len(found)
    for part in parts:
        check_ranking_data(part)
        assert part.n_rows <= found.rows or part.n_queries == 1
        assert part.n_features == found.n_features == len(found.feature_names or range(found.n_features))
        assert len(dict.fromkeys(part.qid.tolist())) == part.n_queries
    firsts = [id_ for part in parts for id_ in dict.fromkeys(part.qid.tolist())]
    assert len({*firsts}) == len(firsts) == found.n_queries
    assert np.array_equal(np.concatenate([part.group for part in parts]), found.group)
    assert sum(part.n_rows for part in parts) == found.n_rows
    fields = found.fields()
    assert np.array_equal(np.concatenate([part.y for part in parts]), fields["label"])
    for part, again in zip(parts, found, strict=True):
        assert np.array_equal(part.X, again.X, equal_nan=True)
    sequence = found.sequence()
    assert np.array_equal(sequence[:], np.concatenate([part.X for part in parts]), equal_nan=True)


# Models


def check_ensemble(model, X=None):
    """Check predictions, and that a saved model, LightGBM's and XGBoost's give the same."""
    if X is None:
        X = np.random.default_rng(0).integers(-2, 3, (5, model.n_features)).astype(float)
        X[0] = np.nan
    scores = model.predict(X)
    assert scores.shape == (len(X),)
    assert np.isfinite(scores).all()
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model)
    size = sum(abs(w) * max((abs(v) for v in _values(weak)), default=1.0) for weak, w in model.terms)
    if stages:
        np.testing.assert_allclose(stages[-1], scores, rtol=1e-9, atol=1e-9 * size)
    assert type(model).from_dict(model.to_dict()) == model
    assert pickle.loads(pickle.dumps(model)) == model
    importances = model.feature_importances
    assert importances.shape == (model.n_features,)
    assert (importances >= 0).all()
    assert np.isfinite(importances).all()


def _values(weak):
    return [getattr(weak, name) for name in ("below", "above") if hasattr(weak, name)] or np.atleast_1d(
        getattr(weak, "value", 1.0)
    )


def booster_agrees(model, booster, data, rtol, X=None):
    """Check an exported booster's predictions beside the largest that the model could give."""
    found = booster.predict(data)
    X = data if X is None else X
    assert np.isfinite(found).all()
    expected = model.predict(X)
    size = sum(abs(w) * max(map(abs, _values(weak))) for weak, w in model.terms)
    np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * max(size, 1e-30))


def check_scored(ranker, X, y, **options):
    """Check a ranker's score: a number, NaN only where its metric has none."""
    with_ids = "qid" in getattr(X, "columns", ())
    queries = {} if with_ids else {"group": [len(X)]}
    score = ranker.score(X, y, **queries, **options)
    assert isinstance(score, float)
    assert np.isnan(score) or abs(score) < np.inf


def check_fitted(ranker, X, folder=None):
    """Check a fitted ranker: finite predictions, row by row, kept by a pickle; a reference ranker's model too."""
    scores = np.asarray(ranker.predict(X))
    assert np.isfinite(scores).all(), scores
    again = _pickled(ranker)
    np.testing.assert_array_equal(np.asarray(again.predict(X)), scores)
    if isinstance(X, np.ndarray):
        np.testing.assert_array_equal(np.asarray(ranker.predict(X[::-1])), scores[::-1])
    if hasattr(ranker, "history_"):
        assert all(np.isfinite(values).all() for values in ranker.history_.values()), ranker.history_
        assert np.isfinite(ranker.feature_importances_).all()
        stages = list(ranker.staged_predict(X))
        assert len(stages) == len(ranker.model_) == ranker.best_iteration_
        if stages:
            np.testing.assert_allclose(stages[-1], scores, rtol=1e-9, atol=1e-9 * np.abs(stages[-1]).max(initial=0))
        if folder is not None:
            path = Path(folder, "model.json")
            ranker.model_.save(path)
            assert bp.load(path) == ranker.model_
