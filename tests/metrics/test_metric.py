"""The base class: users' own metrics, other second arguments, and what is kept per `Queries`."""

import gc
import weakref
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

import boostplug as bp


@dataclass(frozen=True)
class MeanLabelOfTheBest(bp.Metric):
    greater_is_better = False
    scale: float = 1.0
    how: object = None

    def compute_per_query(self, scores, queries):
        assert not scores.flags.writeable
        starts = queries.boundaries
        best = [queries.labels[a + np.argmax(scores[a:b])] if b > a else 0 for a, b in pairwise(starts)]
        return self.scale * np.array(best, dtype=np.float32)


def test_a_metric_of_the_users_own():
    queries = bp.Queries([3, 1, 0, 5], group=[2, 0, 2])
    metric = MeanLabelOfTheBest(scale=2.0)
    np.testing.assert_array_equal(metric.per_query([0, 1, 0, 1], queries), [2.0, np.nan, 10.0])
    assert metric([0, 1, 0, 1], queries) == 6.0
    assert metric.name == "MeanLabelOfTheBest(scale=2.0)"
    assert MeanLabelOfTheBest(how="a b: c").name == "MeanLabelOfTheBest(ab_c)"
    assert not metric.greater_is_better


def test_kept_data_goes_with_its_queries():
    queries = bp.Queries([0, 1, 2], group=[3])
    bp.NDCG()([1, 2, 3], queries)
    assert queries.__dict__["_kept"]
    gone = weakref.ref(queries)
    del queries
    gc.collect()
    assert gone() is None


def test_plain_arrays_are_scored_as_queries_are():
    rng = np.random.default_rng(0)
    group = [3, 4, 1]
    y, scores, labelled = rng.integers(0, 4, 8), rng.integers(0, 3, 8), rng.random(8) < 0.8
    qid, weight = np.repeat(["b", "a", "c"], group), [1.0, 2.0, 0.5]
    plain, weighted = bp.Queries(y, group=group), bp.Queries(y, group=group, weight=weight)
    judged = bp.Queries(y, group=group, labelled=labelled)
    for metric in (bp.NDCG(2), bp.Bpref(), bp.PairError(pooled=True), MeanLabelOfTheBest()):
        assert metric.score(y, scores, qid=qid) == metric(scores, plain)
        assert metric.score(y.tolist(), scores.tolist(), group=group) == metric(scores, plain)
        assert metric.score(y, scores, qid=qid, weight=weight) == metric(scores, weighted)
        assert metric.score(y, scores, qid=qid, weight=np.repeat(weight, group)) == metric(scores, weighted)
        assert metric.score(y, scores, qid=qid, labelled=labelled) == metric(scores, judged)
        assert type(metric.score(y, scores, group=group)) is float
    missing = np.where(labelled, y, np.nan)
    assert bp.NDCG(10).score(missing, scores, qid=qid, labelled=labelled) == bp.NDCG(10)(scores, judged)
    assert np.isnan(bp.MAP().score([0, 0], [1.0, 2.0], group=[2]))
