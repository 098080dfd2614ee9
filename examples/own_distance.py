"""A distance of one's own: any growing function of the grade gap."""

import numpy as np

import boostplug as bp


def root(gap):
    """Return how far apart two grades should score: positive, ideally growing with the gap."""
    return np.sqrt(gap)


fold = bp.datasets.load_bundled()
ranker = bp.XGBRanker(objective=bp.MPBoost(distance=root), n_estimators=60, random_state=1, early_stopping_rounds=10)
ranker.fit(
    fold.train.X,
    (fold.train.y - 2.0) / 3.0,  # real-valued and negative grades are as good as 0..4
    qid=fold.train.qid,
    eval_set=[(fold.vali.X, fold.vali.y)],
    eval_qid=[fold.vali.qid],
    verbose=False,
)
print(f"{ranker.objective}: test NDCG@10 {ranker.score(fold.test.X, fold.test.y, qid=fold.test.qid):.4f}")
