"""Positions on two workers: the model of one machine."""

import numpy as np
import pandas as pd
import pytest

import boostplug as bp

pytest.importorskip("xgboost")
pytest.importorskip("lightgbm")
dd = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.cluster

FEATURES = [f"f{i}" for i in range(4)]
THETA = 1.0 / np.arange(1.0, 20.0)
RANKERS = {
    "LGBMRanker": {"n_estimators": 5, "num_leaves": 6, "min_child_samples": 1, "verbose": -1},
    "XGBRanker": {"n_estimators": 5, "max_depth": 3, "min_child_weight": 0.1, "n_jobs": 1},
}


def pages(seed=0, n=60):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 16, n)
    X = rng.integers(0, 12, (int(sizes.sum()), 4)) / 4
    position = np.concatenate([rng.permutation(size) + 1 for size in sizes])
    clicked = rng.random(len(X)) < (0.1 + 0.25 * X[:, 0]) / position
    page = np.repeat(np.arange(n), sizes)
    return pd.DataFrame(X, columns=FEATURES).assign(clicked=clicked.astype(float), position=position, page=page)


TRAIN = pages()


def halves(client, frame):
    parts = [frame[frame["page"] < 30], frame[frame["page"] >= 30]]
    return client.persist(dd.concat([dd.from_pandas(part, npartitions=1, sort=False) for part in parts]))


def fitted(ranker, frame, **given):
    return ranker.fit(frame[FEATURES], frame["clicked"], qid=frame["page"], position=frame["position"], **given)


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("LGBMRanker", bp.Unbiased(method="ips", propensity=THETA)),
        ("LGBMRanker", bp.Unbiased(base=bp.QBRank(), method="kurennoy", propensity=THETA)),
        ("XGBRanker", bp.Unbiased(method="kurennoy", propensity=THETA)),
        ("XGBRanker", bp.Unbiased(base=bp.MPBoost())),
        ("XGBRanker", 0.5 * bp.Unbiased(method="additive") + 0.5 * bp.Unbiased()),
    ],
    ids=str,
)
def test_the_model_is_that_of_one_machine(client, name, loss):
    ranker = fitted(getattr(bp.dask, name)(objective=loss, client=client, **RANKERS[name]), halves(client, TRAIN))
    expected = fitted(getattr(bp, name)(objective=loss, **RANKERS[name]), TRAIN).predict(TRAIN[FEATURES])
    assert np.ptp(expected) > 0.01
    np.testing.assert_allclose(ranker.to_local().predict(TRAIN[FEATURES]), expected, rtol=0, atol=1e-6)


def test_rows_of_a_page_are_sorted_with_their_positions(client):
    mixed = TRAIN.sample(frac=1.0, random_state=0)
    ddf = client.persist(dd.from_pandas(mixed, npartitions=1, sort=False))
    loss = bp.Unbiased(method="ips", propensity=THETA)
    ranker = fitted(bp.dask.LGBMRanker(objective=loss, client=client, **RANKERS["LGBMRanker"]), ddf)
    alone = fitted(bp.LGBMRanker(objective=loss, **RANKERS["LGBMRanker"]), mixed.sort_values("page", kind="stable"))
    expected = alone.predict(TRAIN[FEATURES])
    np.testing.assert_allclose(ranker.to_local().predict(TRAIN[FEATURES]), expected, rtol=0, atol=1e-6)


def test_validation_sets_need_no_positions(client):
    ddf = halves(client, TRAIN)
    ranker = bp.dask.XGBRanker(objective=bp.Unbiased(), client=client, eval_metric=bp.NDCG(5), **RANKERS["XGBRanker"])
    fitted(ranker, ddf, verbose=False, eval_set=[(ddf[FEATURES], ddf["clicked"])], eval_qid=[ddf["page"]])
    assert len(ranker.evals_result()["validation_0"]["pre_NDCG@5"]) == 5


def test_what_is_refused(client):
    ddf = halves(client, TRAIN)
    with pytest.raises(ValueError, match="LightGBM cannot add up over its workers"):
        fitted(bp.dask.LGBMRanker(objective=bp.Unbiased(), client=client), ddf)
    broken = ddf.assign(position=ddf["position"] - 1)
    with pytest.raises(ValueError, match=r"position\[\d+\] = 0.0 is no place on a page"):
        fitted(bp.dask.XGBRanker(objective=bp.Unbiased(), client=client), broken)
