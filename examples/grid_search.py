"""Choosing the distance and the tree size by cross-validation over whole queries, with scikit-learn's GridSearchCV."""

import pandas as pd
from sklearn.model_selection import GridSearchCV

import boostplug as bp

train = bp.datasets.load_bundled().train
X = pd.DataFrame(train.X).add_prefix("f").assign(qid=train.qid)  # the column qid is no feature

search = GridSearchCV(
    bp.LGBMRanker(n_estimators=30, random_state=1, verbose=-1, n_jobs=1),
    {"objective": [bp.MPBoost(), bp.MPBoost(distance=bp.BinaryDistance())], "num_leaves": [7, 31]},
    scoring=bp.make_scorer(bp.NDCG(10)),
    cv=bp.group_folds(train.qid, 3, shuffle=True, random_state=1),
)
search.fit(X, train.y)
print(search.best_params_, f"NDCG@10 {search.best_score_:.4f}")
