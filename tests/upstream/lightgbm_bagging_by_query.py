"""Train with bagging by query: a built-in objective, then the same squared error as a function."""

import lightgbm as lgb
import numpy as np

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 3))
y = (X[:, 0] + rng.normal(size=400) > 0.5).astype(float)
seen = []


def squared_error(scores, data):
    """Return the derivatives of half the squared error, and keep the scores."""
    seen.append(scores.copy())
    return scores - data.get_label(), np.ones_like(scores)


def rows_of(tree):
    """Return how many rows reached the root of a tree."""
    root = tree["tree_structure"]
    return root.get("internal_count", root.get("leaf_count"))


def train(objective, **bagging):
    """Return a booster of 20 queries of 20 rows."""
    params = {"objective": objective, "num_leaves": 7, "num_threads": 1, "seed": 1, "verbosity": -1, "bagging_freq": 1}
    return lgb.train({**params, **bagging}, lgb.Dataset(X, y, group=[20] * 20), 4)


print("LightGBM", lgb.__version__)
print("by query  fraction  objective   leaves of each tree    rows at each root")
for by_query in (False, True):
    for fraction in (0.5, 0.6):
        for objective in ("regression", squared_error):
            booster = train(objective, bagging_fraction=fraction, bagging_by_query=by_query)
            trees = booster.dump_model()["tree_info"]
            name = objective if isinstance(objective, str) else "a function"
            leaves = str([tree["num_leaves"] for tree in trees])
            print(f"{by_query!s:8}  {fraction:8}  {name:10}  {leaves:21}  {[rows_of(tree) for tree in trees]}")

# Bagging by query, .6 of the rows, a function: the scores of round 2 over what the tree of round 1 predicts.
ratio = seen[-3] / booster.predict(X, num_iteration=1)
print(f"scores over predictions: row 0 {ratio[0]:.4f}, other rows {ratio[1:].min():.4f} to {ratio[1:].max():.4f}")
