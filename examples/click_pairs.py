"""Rows without grades, only preference pairs (clicks): both frameworks, both ranker classes, and labels mixed in."""

import lightgbm as lgb
import numpy as np
import xgboost as xgb

import boostplug as bp


def clicks(data, per_query, seed):
    """Draw pairs within queries; the better document wins nine times in ten, as a click would tell."""
    rng = np.random.default_rng(seed)
    first = np.repeat(data.queries.boundaries[:-1], per_query)
    a, b = first + rng.integers(0, np.repeat(data.group, per_query), (2, len(first)))
    a, b = a[data.y[a] != data.y[b]], b[data.y[a] != data.y[b]]
    b_wins = (data.y[b] > data.y[a]) ^ (rng.random(len(a)) < 0.1)
    return bp.Pairs(np.where(b_wins, b, a), np.where(b_wins, a, b))


def share(scores):
    """Return the share of held-out clicks that the scores rank right."""
    return (scores[held.winner] > scores[held.loser]).mean()


fold = bp.datasets.load_bundled()
train, test = fold.train, fold.test
pairs, held = clicks(train, 30, seed=1), clicks(test, 30, seed=2)

data = lgb.Dataset(train.X, group=train.group)  # no labels
bp.set_pairs(data, pairs)
booster = lgb.train({"objective": bp.MPBoost(), "num_leaves": 15, "verbose": -1}, data, 60)
print(f"lgb.train {share(booster.predict(test.X)):.3f} of the held-out pairs right; chance .500, the clicks' own .900")
matrix = xgb.DMatrix(train.X, group=train.group)
bp.set_pairs(matrix, pairs)
params = {"objective": "rank:pairwise", "base_score": 0, "max_depth": 4, "eta": 0.1}
print(f"xgb.train {share(xgb.train(params, matrix, 60, obj=bp.MPBoost()).predict(xgb.DMatrix(test.X))):.3f}")
for ranker in (bp.LGBMRanker(objective=bp.MPBoost(), verbose=-1), bp.XGBRanker(objective=bp.MPBoost())):
    ranker.set_params(n_estimators=60, learning_rate=0.1, max_depth=4).fit(train.X, None, qid=train.qid, pairs=pairs)
    print(f"{type(ranker).__name__} {share(ranker.predict(test.X)):.3f}")

# Labels of half of the queries, clicks of the other half: QBRank learns from both at once.
ways = {"labels alone": 0.0, "pairs alone": 1.0, "both": 0.5}
found = {name: [] for name in ways}
for seed in range(4):
    pairs = clicks(train, 30, seed=10 + seed)
    with_grades = np.random.default_rng(seed).permutation(train.queries.n_queries)[:125]
    graded = np.isin(train.queries.query_of_row, with_grades)
    clicked = ~graded[pairs.winner]
    for name, weight in ways.items():
        data = lgb.Dataset(train.X, train.y, group=train.group)
        bp.set_pairs(data, bp.Pairs(pairs.winner[clicked], pairs.loser[clicked]), labelled=graded)
        loss = bp.QBRank(preference_weight=weight)
        scores = lgb.train({"objective": loss, "num_leaves": 15, "verbose": -1}, data, 60).predict(test.X)
        found[name].append((share(scores), bp.NDCG(10)(scores, test.queries)))
for name, values in found.items():
    print("{}: {:.3f} of the held-out pairs right, test NDCG@10 {:.3f}".format(name, *np.mean(values, axis=0)))
