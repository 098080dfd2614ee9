"""What holds for every ranking metric, over the registry."""

import pickle
import re
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from metrics import plain

import boostplug as bp
from boostplug.core import threads
from boostplug.metrics import METRICS

VALUES = {
    "NDCG": [
        bp.NDCG(),
        bp.NDCG(3),
        bp.NDCG(None),
        bp.NDCG(2, convention="letor"),
        bp.NDCG(None, gain="linear", convention="letor", empty=1),
        bp.NDCG(1, empty=0),
    ],
    "MAP": [
        bp.MAP(),
        bp.MAP(3),
        bp.MAP(relevant=2),
        bp.MAP(relevant=2.5),
        bp.MAP(2, empty=0),
        bp.MAP(empty=1),
        bp.MAP(2, divisor="reachable", empty=1),
    ],
    "DCG": [bp.DCG(), bp.DCG(3, convention="letor"), bp.DCG(None, gain="linear")],
    "MeanNDCG": [bp.MeanNDCG(), bp.MeanNDCG(convention="standard"), bp.MeanNDCG(gain="linear", empty=1)],
    "MRR": [bp.MRR(), bp.MRR(3), bp.MRR(relevant=2, empty=0)],
    "ERR": [bp.ERR(), bp.ERR(3), bp.ERR(max_grade=5.5, empty=0)],
    "Precision": [bp.Precision(), bp.Precision(2), bp.Precision(1, relevant=2, empty=0)],
    "WTA": [bp.WTA(), bp.WTA(relevant=2, empty=1)],
    "PairError": [bp.PairError(), bp.PairError("half"), bp.PairError(pooled=True)],
    "SpearmanRho": [bp.SpearmanRho(), bp.SpearmanRho(ties="average")],
    "KendallTau": [bp.KendallTau(), bp.KendallTau(ties="average")],
    "RBP": [bp.RBP(), bp.RBP(0.5, relevant=2, empty=0), bp.RBP(0.95, max_grade=4)],
    "Recall": [bp.Recall(), bp.Recall(2), bp.Recall(3, relevant=2, empty=0)],
    "RPrecision": [bp.RPrecision(), bp.RPrecision(relevant=2.5), bp.RPrecision(2, empty=1)],
    "Bpref": [bp.Bpref(), bp.Bpref(relevant=2, empty=0)],
}
OF_PROBABILITIES = {"ChoiceLogLoss", "LogLoss", "ECE"}  # no metrics of an order: test_calibration.py, test_choice.py
METRIC_VALUES = [value for values in VALUES.values() for value in values]
quick = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def each(applies=lambda metric: True):
    """Run a test for each metric to which it applies."""
    return pytest.mark.parametrize("metric", list(filter(applies, METRIC_VALUES)), ids=lambda metric: metric.name)


def each_class():
    """Run a test for the metrics of one class at a time: drawing an example costs more than a metric of it."""
    return pytest.mark.parametrize("metrics", list(VALUES.values()), ids=lambda metrics: type(metrics[0]).__name__)


def noted(metrics):
    for metric in metrics:
        note(metric.name)  # for a failure's report
        yield metric


every_metric = each()


def is_mean_over_queries(metric):
    return not metric.couples_queries and not getattr(metric, "pooled", False)


def test_every_metric_of_the_registry_is_tested_and_public():
    assert set(VALUES) | OF_PROBABILITIES == set(METRICS)
    for name, cls in METRICS.items():
        assert getattr(bp, name) is cls
        assert all(type(value) is cls for value in VALUES.get(name, ()))


@st.composite
def rankings(draw):
    """Return (scores, queries): ties in scores and grades, empty queries, rows without a label at times."""
    sizes = draw(st.lists(st.integers(0, 9), min_size=1, max_size=4))
    n = sum(sizes)
    scores = draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n))
    grades = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    masks = st.lists(st.booleans(), min_size=n, max_size=n)
    labelled = draw(st.none() | masks)
    if labelled is not None:
        labelled = np.array(labelled, bool)
    return np.array(scores, float), bp.Queries(grades, group=sizes, labelled=labelled)


@each_class()
def test_values_are_those_of_plain_loops(metrics):
    """Ties by every order of the tied documents, documents without label, queries without relevant ones."""
    rng = np.random.default_rng(0)
    compared = 0
    for _ in range(30):
        sizes = rng.integers(0, 6, 4)
        n = int(sizes.sum())
        labelled = rng.random(n) < 0.8 if rng.random() < 0.5 else None
        grades = rng.integers(0, rng.integers(2, 6), n)
        queries = bp.Queries(grades, group=sizes, labelled=labelled, weight=rng.integers(1, 4, 4))
        scores = rng.integers(0, rng.integers(2, 7), n).astype(float)
        for metric in metrics:
            try:
                expected = plain.per_query(metric, scores, queries)
            except plain.TooMany:
                continue
            np.testing.assert_allclose(metric.per_query(scores, queries), expected, rtol=1e-12, atol=1e-13)
            mean = plain.mean_of(metric, scores, queries, expected)
            np.testing.assert_allclose(metric(scores, queries), mean, rtol=1e-12, atol=1e-13)
            compared += 1
    assert compared >= 10 * len(metrics)


RANKED = [
    *(bp.NDCG(k, ties="order") for k in (1, 5, 64, 65, 200, 2000)),
    *(bp.MAP(k, ties="order") for k in (1, 20, 64, 100, None)),
    *(bp.Precision(k, ties="order") for k in (1, 20, 64, 100, 5000)),
    *(bp.Recall(k, ties="order") for k in (1, 20, 64, 100, 5000)),
    *(bp.MRR(ties="order"), bp.ERR(100, ties="order"), bp.RPrecision(ties="order"), bp.Bpref(ties="order")),
]


@pytest.mark.parametrize(
    ("metric", "order"), [(metric, ("mixed", "rising", "falling")[i % 3]) for i, metric in enumerate(RANKED)]
)
def test_values_on_long_lists_are_those_of_plain_loops(metric, order):
    """Selection, merge sort, sorted and reversed input, infinities, relevant documents that are rare or not."""
    rng = np.random.default_rng(9)
    grades = np.where(rng.random(3000) < np.repeat([0.02, 0.9], [700, 2300]), rng.integers(1, 5, 3000), 0)
    queries = bp.Queries(grades, group=[700, 2300], labelled=rng.random(3000) < 0.7)
    scores = np.round(rng.normal(size=3000), 1)
    scores[rng.integers(0, 3000, 60)] = -np.inf
    if order != "mixed":
        scores = np.r_[np.sort(scores[:700]), np.sort(scores[700:])] * (1.0 if order == "rising" else -1.0)
    np.testing.assert_allclose(
        metric.per_query(scores, queries), plain.per_query(metric, scores, queries), rtol=1e-12, atol=1e-15
    )


def permuted(scores, queries, seed):
    """Return the same data with the rows of each query in another order."""
    order = np.lexsort((np.random.default_rng(seed).random(queries.n_rows), queries.query_of_row))
    labelled = None if queries.labelled is None else queries.labelled[order]
    group = np.diff(queries.boundaries)
    return scores[order], bp.Queries(queries.labels[order], group=group, labelled=labelled)


@each_class()
@quick
@given(data=rankings(), seed=st.integers(0, 99))
def test_file_order_does_not_matter(metrics, data, seed):
    other = permuted(*data, seed)
    for metric in noted(metrics):
        np.testing.assert_allclose(metric.per_query(*other), metric.per_query(*data), rtol=1e-12)


@each_class()
@quick
@given(data=rankings())
def test_only_the_order_of_scores_matters(metrics, data):
    scores, queries = data
    for metric in noted(metrics):
        expected = metric.per_query(scores, queries)
        for same_order in (2.0 * scores - 7.0, np.exp(scores), scores.astype(np.float32), scores.astype(int)):
            np.testing.assert_array_equal(metric.per_query(same_order, queries), expected)
        lowest = -3 if isinstance(metric, bp.Bpref) else -np.inf  # -inf is not retrieved for Bpref
        with_infinities = np.where(scores == 3, np.inf, np.where(scores == -3, lowest, scores))
        np.testing.assert_array_equal(metric.per_query(with_infinities, queries), expected)


@every_metric
def test_labels_of_unlabelled_rows_are_not_read(metric):
    labelled = np.array([True, False, True, False])
    a = bp.Queries([2, -50, 0, 5000], group=[4], labelled=labelled)
    b = bp.Queries([2, 0, 0, 0], group=[4], labelled=labelled)
    scores = [1.0, 4.0, 2.0, 3.0]
    np.testing.assert_array_equal(metric.per_query(scores, a), metric.per_query(scores, b))


@every_metric
def test_order_of_ties_is_file_order(metric):
    """As if the scores of tied documents fell in file order."""
    rng = np.random.default_rng(3)
    group = rng.integers(0, 200, 40)
    queries = bp.Queries(rng.integers(0, 5, group.sum()), group=group)
    scores = rng.integers(0, 5, queries.n_rows)
    ordered = type(metric)(**{f.name: getattr(metric, f.name) for f in fields(metric)} | {"ties": "order"})
    falling = scores - np.arange(queries.n_rows) * 1e-6
    np.testing.assert_array_equal(ordered.per_query(scores, queries), ordered.per_query(falling, queries))
    np.testing.assert_allclose(ordered.per_query(scores, queries), metric.per_query(falling, queries), rtol=1e-13)


@every_metric
def test_each_query_is_on_its_own_whatever_the_threads(metric):
    rng = np.random.default_rng(5)
    group = np.r_[rng.integers(0, 300, 60), 3000]
    queries = bp.Queries(rng.integers(0, 5, group.sum()), group=group)
    scores = np.round(rng.normal(size=queries.n_rows), 1)
    parts = np.split(np.arange(queries.n_rows), queries.boundaries[1:-1])
    one_by_one = [metric.per_query(scores[i], bp.Queries(queries.labels[i], group=[len(i)]))[0] for i in parts]
    for n in (1, 2, 3):
        with threads.forced_threads(n):
            np.testing.assert_array_equal(metric.per_query(scores, queries), one_by_one)


@each(is_mean_over_queries)
def test_the_mean_is_weighted_by_query(metric):
    labels, group, scores = [0, 2, 1, 3, 0, 3, 0], [3, 2, 1, 1], [3.0, 2.0, 1.0, 1.0, 2.0, 0.0, 0.0]
    values = metric.per_query(scores, bp.Queries(labels, group=group))
    defined = ~np.isnan(values)
    per_query = np.array([1.0, 0.5, 2.0, 7.0])
    expected = (per_query * values)[defined].sum() / per_query[defined].sum()
    assert metric(scores, bp.Queries(labels, group=group, weight=per_query)) == pytest.approx(expected, rel=1e-14)
    per_row = [0.5, 1.0, 1.5, 0.25, 0.75, 2.0, 7.0]  # their means are the same
    assert metric(scores, bp.Queries(labels, group=group, weight=per_row)) == pytest.approx(expected, rel=1e-14)
    assert np.isnan(metric(scores, bp.Queries(labels, group=group, weight=np.zeros(4))))


@each(lambda metric: not metric.couples_queries)
def test_sums_and_counts_of_parts_add_up(metric):
    rng = np.random.default_rng(6)
    group = np.r_[0, rng.integers(0, 12, 40)]
    labels, scores = rng.integers(0, 5, group.sum()), rng.integers(0, 5, group.sum())
    weight = rng.random(len(group))
    whole = bp.Queries(labels, group=group, weight=weight)
    sums = []
    for queries in (slice(0, 15), slice(15, 15), slice(15, None)):
        rows = np.isin(whole.query_of_row, np.arange(len(group))[queries])
        part = bp.Queries(labels[rows], group=group[queries], weight=weight[queries])
        sums.append(metric.sum_and_count(scores[rows], part))
        assert all(type(number) is float for number in sums[-1])
    assert sums[1] == (0.0, 0.0)
    total, count = np.sum(sums, axis=0)
    assert (total, count) == pytest.approx(metric.sum_and_count(scores, whole), rel=1e-13)
    assert total / count == pytest.approx(metric(scores, whole), rel=1e-13)


@every_metric
def test_metrics_are_values(metric):
    again = pickle.loads(pickle.dumps(metric))
    assert again == metric
    assert hash(again) == hash(metric)
    assert eval(repr(metric), {type(metric).__name__: type(metric)}) == metric  # noqa: S307 (our own repr)
    with pytest.raises(FrozenInstanceError):
        metric.k = 3
    assert metric.greater_is_better is not isinstance(metric, bp.PairError)


def test_names_are_unique_and_shadow_nothing():
    names = [metric.name for metric in METRIC_VALUES]
    assert len(set(names)) == len(names)
    for name in names:
        assert not re.search(r"[\s:]", name)
        assert name.isprintable()
        assert name[0].isupper()  # the built-in metrics of LightGBM and XGBoost are all in lower case
        if not metric_of(name).greater_is_better:  # XGBoost maximises what starts like this
            assert not name.lower().startswith(("auc", "pre", "map", "ndcg"))


@every_metric
def test_names_can_be_read_back(metric):
    assert bp.Metric.parse(repr(metric)) == metric
    assert bp.Metric.parse(repr(metric.on("sale"))) == metric.on("sale")
    if "(" not in metric.name:
        assert bp.Metric.parse(f" {metric.name.lower()} ".replace("none", "None")) == metric
    assert bp.Metric.parse(metric) is metric


def metric_of(name):
    return next(metric for metric in METRIC_VALUES if metric.name == name)


@pytest.fixture(scope="module")
def in_three_forms():
    """Scores, and one data set as `Queries`, for LightGBM and for XGBoost."""
    lgb, xgb = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    rng = np.random.default_rng(8)
    labels, group, scores = rng.integers(0, 5, 40), [15, 25], rng.normal(size=40)
    weight = [1.0, 3.0]
    queries = bp.Queries(labels, group=group, weight=weight)
    dataset = lgb.Dataset(np.zeros((40, 1)), labels, group=group, weight=np.repeat(weight, group)).construct()
    return scores, queries, dataset, xgb.DMatrix(np.zeros((40, 1)), labels, group=group, weight=weight)


@every_metric
def test_in_both_frameworks(metric, in_three_forms):
    scores, queries, dataset, matrix = in_three_forms
    expected = metric(scores, queries)
    name, value, higher_is_better = metric(scores, dataset)
    assert (name, higher_is_better) == (metric.name, metric.greater_is_better)
    assert value == pytest.approx(expected, rel=1e-12)
    name, value = metric(scores, matrix)
    assert name == (f"pre_{metric.name}" if metric.greater_is_better else metric.name)
    assert value == pytest.approx(expected, rel=1e-12)
