"""Explicit pairs: `Pairs`, in `Queries`, in MPBoost, attached to datasets, in both rankers."""

import copy
import dataclasses
import gc
import pickle
import weakref

import lightgbm as lgb
import loops
import numpy as np
import pytest
import xgboost as xgb
from adapters.harness import FRAMEWORKS, every_framework
from losses.functions import softplus, softplus_curvature, softplus_slope

import boostplug as bp
from boostplug.adapters import reading

LIGHTGBM, XGBOOST = FRAMEWORKS.values()


def some_pairs(rng, group, n_pairs=60, crossing=False, **more):
    first, size = np.r_[0, np.cumsum(group)[:-1]], np.asarray(group)
    q = rng.choice(np.flatnonzero(size > 1), n_pairs)
    place = rng.integers(0, 10**6, n_pairs) % size[q]
    other = (place + 1 + rng.integers(0, 10**6, n_pairs) % (size[q] - 1)) % size[q]
    winner, loser = first[q] + place, first[q] + other
    if crossing:
        loser[0] = (winner[0] + max(group)) % sum(group)
    return bp.Pairs(winner, loser, **more)


def clicks(seed=0, n_queries=30):
    """Rows without grades: pairs drawn from a hidden utility."""
    rng = np.random.default_rng(seed)
    group = rng.integers(5, 15, n_queries)
    X = rng.normal(size=(int(group.sum()), 4))
    utility = X[:, 0] - 0.5 * X[:, 1]
    pairs = some_pairs(rng, group, 400)
    wrong = utility[pairs.winner] < utility[pairs.loser]
    winner, loser = np.where(wrong, pairs.loser, pairs.winner), np.where(wrong, pairs.winner, pairs.loser)
    return X, group, np.repeat(np.arange(n_queries), group), bp.Pairs(winner, loser)


def share_right(scores, pairs):
    return (scores[pairs.winner] > scores[pairs.loser]).mean()


def test_pairs_are_immutable_values():
    pairs = bp.Pairs([0, 2], [1, 1], weight=[1, 0.5], margin=[1, 2])
    with pytest.raises(AttributeError, match="immutable"):
        pairs.winner = [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        pairs.weight[0] = 3
    for other in (pickle.loads(pickle.dumps(pairs)), copy.deepcopy(pairs)):
        for name in ("winner", "loser", "weight", "margin"):
            np.testing.assert_array_equal(getattr(other, name), getattr(pairs, name))
    assert len(bp.Pairs([], [])) == 0


def test_rows_that_are_chosen_twice_are_refused():
    """A pair could follow such a row to one place only."""
    part, cut = bp.Pairs([0, 3], [1, 2]).of_rows([1, 0, 3], 4)
    assert (part.winner.tolist(), part.loser.tolist(), cut) == ([1], [0], 1)
    with pytest.raises(ValueError, match=r"rows\[1\] = 0 is chosen a second time"):
        bp.Pairs([0], [1]).of_rows([0, 0, 1], 4)


PAIRED = [
    bp.MPBoost(distance=bp.BinaryDistance(), hessian="newton"),
    bp.MPBoost(distance=bp.LogDistance(), hessian="gentle"),
    bp.MPBoost(distance=np.sqrt, hessian="bound"),
    bp.QBRank(preference_weight=0.3, margin="grade", hessian="bound"),
    bp.QBRank(preference_weight=1.0, margin=0.5, hessian="global"),
    bp.RankNet(sigmoid=2.0),
    bp.PairwiseLoss(softplus, softplus_slope, softplus_curvature, hessian="newton"),
]


@pytest.mark.parametrize("normalization", ["none", "rows", "query"])
@pytest.mark.parametrize("loss", PAIRED)
def test_losses_equal_the_double_loop_over_pairs(loss, normalization):
    rng = np.random.default_rng(0)
    group = [7, 1, 0, 12, 3]
    n = sum(group)
    loss = dataclasses.replace(loss, normalization=normalization)
    for crossing in (False, True):
        for weighted in (False, True):
            more = {"weight": rng.integers(0, 3, 60) / 2, "margin": rng.integers(1, 4, 60)} if weighted else {}
            queries = bp.Queries(
                rng.integers(0, 3, n),
                group=group,
                weight=rng.random(n) * (rng.random(n) < 0.9) if weighted else None,
                pairs=some_pairs(rng, group, crossing=crossing, **more),
                labelled=rng.random(n) < 0.7,
            )
            scores = np.round(2 * rng.normal(size=n), 1)  # some pairs exactly at QBRank's margin
            loops.assert_equal(loss, scores, queries)


@every_framework
def test_datasets_and_rankers_learn_from_pairs(F):
    X, group, qid, pairs = clicks()
    held_X, _, _, held = clicks(seed=1)
    data = F.data(F.kinds[0], data=X, label=None, group=group)
    bp.set_pairs(data, pairs)
    booster = F.train(bp.MPBoost(), data, 30)[0]
    ranker = F.fit(bp.MPBoost(), X, None, qid=qid, pairs=pairs, n_estimators=30)
    found = F.predict(booster, held_X), ranker.predict(held_X)
    np.testing.assert_allclose(*found, rtol=1e-6)
    assert share_right(found[0], held) > 0.85


def queries_of(dataset):
    return reading.queries_of(reading.adapter_of(dataset), dataset)


def test_labels_of_zero_beside_pairs_count_as_none():
    X, group, _, pairs = clicks()
    for labels in (None, np.zeros(len(X))):
        data = lgb.Dataset(X, labels, group=group).construct()
        bp.set_pairs(data, pairs)
        assert not queries_of(data).labelled.any()
        matrix = xgb.DMatrix(X, labels, group=group)
        bp.set_pairs(matrix, pairs)
        assert not queries_of(matrix).labelled.any()
    said = np.arange(len(X)) % 2 == 0
    bp.set_pairs(data, pairs, labelled=said)
    np.testing.assert_array_equal(queries_of(data).labelled, said)
    graded = lgb.Dataset(X, np.arange(len(X)) % 3, group=group).construct()
    bp.set_pairs(graded, pairs)
    assert queries_of(graded).labelled is None


@pytest.mark.parametrize("attach", ["pairs", "labels", "positions"])
def test_parts_of_a_dataset_that_lose_what_is_attached_are_refused(attach):
    X, group, qid, pairs = clicks()
    y, rows = np.arange(len(X)) % 3, np.arange(group[:5].sum())
    data, matrix = LIGHTGBM.data(data=X, label=y, group=group), XGBOOST.data(xgb.DMatrix, data=X, label=y, group=group)
    for dataset in (data, matrix):
        {"pairs": bp.set_pairs, "labels": bp.set_labels, "positions": bp.set_positions}[attach](
            dataset, {"pairs": pairs, "labels": {"sale": y}, "positions": y + 1}[attach]
        )
    subset, folds = data.subset(rows.tolist()).construct(), bp.group_folds(qid, 3)
    of_cv = LIGHTGBM.params(objective=bp.MPBoost(), metric="None")
    for part in (
        lambda: bp.MPBoost()(np.zeros(len(rows)), subset),
        lambda: lgb.cv(of_cv, data, 2, folds=folds),
        lambda: matrix.slice(rows, allow_groups=True),
        lambda: xgb.cv(XGBOOST.params(), matrix, 2, obj=bp.MPBoost()),
    ):
        with pytest.raises(
            ValueError, match=r"(subset of an lightgbm\.Dataset loses|slices of an xgb\.DMatrix lose) its"
        ):
            part()
    bp.set_pairs(subset, pairs.of_rows(rows, len(X))[0])
    part = bp.Queries(y[rows], group=group[:5], pairs=pairs.of_rows(rows, len(X))[0])
    expected = bp.MPBoost().gradient_hessian(np.zeros(len(rows)), part)
    np.testing.assert_allclose(bp.MPBoost()(np.zeros(len(rows)), subset), expected, rtol=1e-6)


def test_datasets_with_pairs_are_collected():
    X, group, _, pairs = clicks()
    for dataset in (lgb.Dataset(X, group=group), xgb.DMatrix(X, group=group)):
        bp.set_pairs(dataset, pairs)
    gone = weakref.ref(dataset)
    del dataset
    gc.collect()
    assert gone() is None


@every_framework
def test_validation_sets_with_pairs_reach_metrics(F):
    X, _, qid, pairs = clicks()

    class ShareRight(bp.Metric):
        def compute_per_query(self, scores, queries):
            right = scores[queries.pairs.winner] > scores[queries.pairs.loser]
            count = np.bincount(queries.query_of_row[queries.pairs.winner], minlength=queries.n_queries)
            good = np.bincount(queries.query_of_row[queries.pairs.winner], right, minlength=queries.n_queries)
            return np.divide(good, count, out=np.full(queries.n_queries, np.nan), where=count > 0)

    ranker = F.fit(
        bp.MPBoost(), X, None, qid=qid, pairs=pairs, n_estimators=8, metric=ShareRight(),
        valid=(X.copy(), None, qid), eval_pairs=[pairs],
    )  # fmt: skip
    (values,) = F.history(ranker).values()
    assert values[-1] > 0.8
