"""
Clicks beside grades
====================

Half of the queries have grades, the others only preference pairs, like those from clicks.
``QBRank`` learns from both.
"""

import lightgbm as lgb
import matplotlib.pyplot as plt
import numpy as np

import boostplug as bp


def clicks(data, per_query, seed):
    """Draw pairs within queries. The better document wins nine times in ten."""
    rng = np.random.default_rng(seed)
    first = np.repeat(data.queries.boundaries[:-1], per_query)
    a, b = first + rng.integers(0, np.repeat(data.group, per_query), (2, len(first)))
    a, b = a[data.y[a] != data.y[b]], b[data.y[a] != data.y[b]]
    b_wins = (data.y[b] > data.y[a]) ^ (rng.random(len(a)) < 0.1)
    return bp.Pairs(np.where(b_wins, b, a), np.where(b_wins, a, b))


train, _, test = bp.datasets.load_bundled()
params = {"num_leaves": 15, "verbose": -1, "num_threads": 1}

# %%
# Without any labels: ``MPBoost`` on pairs. Both rankers take them too:
# ``fit(X, None, qid=qid, pairs=pairs)``.

data = lgb.Dataset(train.X, group=train.group)
bp.set_pairs(data, clicks(train, 30, seed=1))
booster = lgb.train({**params, "objective": bp.MPBoost()}, data, 60)
ndcg = bp.NDCG(10)(booster.predict(test.X), test.queries)
print(f"only pairs, of all queries: test NDCG@10 {ndcg:.3f}")

# %%
# Labels of some queries and clicks of the others: ``preference_weight`` balances them.

weights, found = (0.0, 0.3, 0.5, 0.7, 1.0), []
for seed in range(4):
    pairs = clicks(train, 30, seed=10 + seed)
    with_grades = np.random.default_rng(seed).permutation(train.queries.n_queries)[:125]
    graded = np.isin(train.queries.query_of_row, with_grades)
    clicked = ~graded[pairs.winner]
    data = lgb.Dataset(train.X, train.y, group=train.group)
    bp.set_pairs(data, bp.Pairs(pairs.winner[clicked], pairs.loser[clicked]), labelled=graded)
    losses = [bp.QBRank(preference_weight=weight) for weight in weights]
    models = [lgb.train({**params, "objective": loss}, data, 60) for loss in losses]
    found.append([bp.NDCG(10)(model.predict(test.X), test.queries) for model in models])

_, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.errorbar(weights, np.mean(found, axis=0), np.std(found, axis=0) / 2, marker="o", capsize=3)
label = "preference_weight: 0 only grades, 1 only pairs"
axes.set(xlabel=label, ylabel="test NDCG@10", xticks=weights)
axes.set_title("Half of the queries have grades, the others clicks;\n± standard error, four draws")
plt.show()
