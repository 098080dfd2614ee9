"""Rankers train on labels as the datasets of the frameworks hold them: in single precision."""

import warnings

import numpy as np
import pytest
from adapters.harness import FRAMEWORKS, GROUP, VQID, VX, VY, X, Y

import boostplug as bp
from boostplug.estimators.inputs import with_float32_labels

every_framework = pytest.mark.parametrize("F", FRAMEWORKS.values(), ids=FRAMEWORKS)
TIMES = 1.7e9 + 60_000 * Y + np.arange(len(Y))  # seconds: single precision holds every 128th


@pytest.mark.filterwarnings("ignore:labels such as .* are equal in single precision")
@every_framework
def test_the_ranker_is_the_model_of_the_same_loss_on_a_dataset(F):
    loss = bp.QBRank()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # rounding that merges no labels brings no warning
        F.fit(loss, y=Y + 0.1)
    ranker = F.fit(loss, y=TIMES)
    np.testing.assert_array_equal(ranker.predict(X), F.predict(F.train(loss, F.data(label=TIMES))[0]))


@every_framework
def test_metrics_of_validation_sets_read_labels_in_full(F):
    seen = []

    class Full(bp.Metric):
        def compute_per_query(self, scores, queries):
            seen.append(queries.labels)
            return np.zeros(queries.n_queries)

    F.fit(bp.QBRank(), valid=(VX, VY + 1e-12, VQID), metric=Full())
    np.testing.assert_array_equal(seen[0], VY + 1e-12)


def test_queries_in_single_precision_keep_all_else():
    pairs = bp.Pairs([0, 3], [1, 4])
    queries = bp.Queries(Y + 0.1, group=GROUP, weight=np.arange(len(Y)) + 1.0, pairs=pairs, labelled=Y > 0)
    queries = queries.with_positions(np.arange(len(Y)) + 1, is_rank=False)
    rounded = with_float32_labels(queries)
    np.testing.assert_array_equal(rounded.labels, np.float32(Y + 0.1))
    for name in ("boundaries", "row_weight", "labelled", "position", "position_is_rank"):
        np.testing.assert_array_equal(getattr(rounded, name), getattr(queries, name))
    assert rounded.pairs is pairs
    assert with_float32_labels(rounded) is rounded
