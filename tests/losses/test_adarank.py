"""AdaRank on trees: each query's factor is e^(-metric) over its mean, times the base loss."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

import boostplug as bp

METRICS = [bp.NDCG(5), bp.MAP(), bp.MRR(), bp.Precision(3), bp.WTA(), bp.ERR(), bp.SpearmanRho()]
METRICS += [bp.RBP(), bp.Recall(3), bp.RPrecision(), bp.Bpref()]
BASES = [bp.NDCGBoost(), bp.MPBoost(), bp.QBRank(), bp.RankNet(), 0.7 * bp.NDCGBoost() + 0.3 * bp.SquaredError()]


def problem(weight=None, labelled=None):
    rng = np.random.default_rng(0)
    group = [6, 1, 0, 9, 4]
    n = sum(group)
    labels = rng.integers(0, 4, n)
    labels[-4:] = 0  # a query without a relevant document: most metrics are undefined on it
    if weight == "some":
        weight = np.where(rng.random(n) < 0.3, 0.0, 1.5)
    return rng.normal(size=n), bp.Queries(labels, group=group, weight=weight, labelled=labelled)


@pytest.mark.parametrize(
    ("metric", "base"), [(metric, BASES[i % len(BASES)]) for i, metric in enumerate(METRICS)], ids=lambda one: one.name
)
def test_factors_multiply_the_base(base, metric):
    scores, queries = problem()
    loss = bp.AdaRank(metric=metric, base=base)
    values = metric.per_query(scores, queries)
    defined = [q for q in range(queries.n_queries) if not math.isnan(values[q])]
    mean = sum(math.exp(-values[q]) for q in defined) / len(defined)
    expected = [math.exp(-values[q]) / mean if q in defined else 1.0 for q in range(queries.n_queries)]
    np.testing.assert_allclose(loss.factors(scores, queries), expected, rtol=1e-12)
    assert np.mean([expected[q] for q in defined]) == pytest.approx(1.0)
    g, h = base.gradient_hessian(scores, queries)
    by_row = np.array(expected)[queries.query_of_row]
    found = loss.gradient_hessian(scores, queries)
    np.testing.assert_allclose(found, (by_row * g, by_row * h), rtol=1e-12)
    np.testing.assert_allclose(loss.value(scores, queries), expected * base.value(scores, queries), rtol=1e-12)
    assert loss.scale(queries) == base.scale(queries)


@dataclass(frozen=True, kw_only=True)
class Kept(bp.Loss):
    """What a user's loss may return for its arrays: what it keeps, a view, one for both."""

    kind: str = "frozen"
    hessian_kind = "model"

    def compute_value(self, scores, queries):
        return np.zeros(queries.n_queries)

    def compute_gradient_hessian(self, scores, queries, scale):
        if self.kind == "frozen":
            ones = np.ones(queries.n_rows)
            ones.setflags(write=False)
            return ones, ones
        if self.kind == "view":
            return tuple(np.ones((queries.n_rows, 2)).T)
        ones = np.ones(queries.n_rows)
        return ones, ones


@pytest.mark.parametrize("kind", ["frozen", "view", "one for both"])
def test_a_base_may_return_what_cannot_be_multiplied_in_place(kind):
    scores, queries = problem()
    loss = bp.AdaRank(base=Kept(kind=kind))
    by_row = loss.factors(scores, queries)[queries.query_of_row]
    np.testing.assert_allclose(loss.gradient_hessian(scores, queries), (by_row, by_row), rtol=1e-12)
    np.testing.assert_allclose((loss.base + 2 * loss.base).gradient_hessian(scores, queries), 3.0)


def test_rows_of_weight_0_are_not_there_for_the_metric_either():
    both = bp.Queries([0, 2, 1, 2, 0], group=[3, 2], weight=[0.0, 1.0, 1.0, 1.0, 1.0])
    rest = bp.Queries([2, 1, 2, 0], group=[2, 2])
    scores = np.array([9.0, 1.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(bp.AdaRank().factors(scores, both), bp.AdaRank().factors(scores[1:], rest))
