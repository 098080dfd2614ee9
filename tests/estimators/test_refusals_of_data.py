"""What `fit`, `predict` and `score` refuse in data, in place of a framework's raw error or of silence."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from adapters.harness import QID, VQID, VX, VY, X, Y

import boostplug as bp

FEW = {"n_estimators": 1, "n_jobs": 1}
RANKERS = [
    bp.LGBMRanker(objective=bp.QBRank(), verbose=-1, min_child_samples=1, **FEW),
    bp.XGBRanker(objective=bp.QBRank(), **FEW),
    bp.LinearRanker(),
    bp.MPBoostRanker(n_estimators=1),
]
each = pytest.mark.parametrize("ranker", RANKERS, ids=lambda one: type(one).__name__)


@pytest.mark.parametrize("ranker", RANKERS[:2], ids=lambda one: type(one).__name__)
def test_labels_of_a_validation_set_beyond_single_precision(ranker):
    far = np.r_[VY[:-1], 1e39]
    with pytest.raises(ValueError, match=r"eval_set\[0\]'s labels\[\d+\] = 1e\+39 is beyond single precision"):
        ranker.fit(X, Y, qid=QID, eval_set=[(VX, far)], eval_qid=[VQID])


@each
def test_lazy_frames_are_refused_with_the_remedy(ranker):
    frame = pd.DataFrame(X).add_prefix("f")
    ranker.fit(frame, Y, qid=QID)
    lazy = pl.from_pandas(frame).lazy()
    for call in (
        lambda: ranker.predict(lazy),
        lambda: ranker.score(lazy, Y, qid=QID),
        lambda: ranker.fit(lazy, Y, qid=QID),
        lambda: bp.split_queries(lazy, qid=QID),
    ):
        with pytest.raises(ValueError, match=r"is a LazyFrame, which is not computed yet; pass (X|data).collect"):
            call()


@pytest.mark.parametrize("objective", ["lambdarank", "rank_xendcg", bp.QBRank()])
def test_labels_without_a_gain_in_lightgbm(objective):
    labels = np.arange(len(Y)) + 30.0
    given = {"eval_set": [(X, labels)], "eval_qid": [QID], "eval_metric": "ndcg"}
    ranker = bp.LGBMRanker(objective=objective, verbose=-1, **FEW)
    with pytest.raises(ValueError, match=r"for labels up to 30; rescale .* label_gain=.* gain=.linear"):
        ranker.fit(X, labels, qid=QID, **given)
