"""Several labels on two workers: the model and the metrics of one machine."""

import numpy as np
import pandas as pd
import pytest

import boostplug as bp

pytest.importorskip("xgboost")
pytest.importorskip("lightgbm")
dd = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.cluster

FEATURES = [f"f{i}" for i in range(5)]
LOSS = bp.QBRank().on("click") + 2.0 * bp.RankNet().on("sale") + 0.5 * bp.SquaredError()


def table(seed, n_queries=40):
    """Return features of few values, three labels that differ, and rows without a sale label."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 20, n_queries)
    X = rng.integers(0, 12, (int(sizes.sum()), 5)) / 4
    noise = rng.normal(0.0, 0.7, (3, len(X)))
    return pd.DataFrame(X, columns=FEATURES).assign(
        y=np.clip(np.round(X[:, 0] + X[:, 1] / 2 + noise[0]), 0, 4),
        click=(X[:, 2] + noise[1] > 2.0).astype(float),
        sale=np.where(rng.random(len(X)) < 0.3, np.nan, (X[:, 3] + noise[2] > 2.0).astype(float)),
        weight=np.repeat(rng.uniform(0.5, 2.0, n_queries), sizes),
        query=np.repeat(np.arange(n_queries), sizes),
    )


TRAIN, VALID = table(0), table(1, 24)
RANKERS = {
    "LGBMRanker": {"n_estimators": 6, "num_leaves": 8, "min_child_samples": 1, "verbose": -1},
    "XGBRanker": {"n_estimators": 6, "max_depth": 3, "min_child_weight": 0.1, "n_jobs": 1},
}


def halves(client, frame):
    parts = [frame[frame["query"] < 20], frame[frame["query"] >= 20]]
    return client.persist(dd.concat([dd.from_pandas(part, npartitions=1, sort=False) for part in parts]))


def fitted(ranker, frame, **given):
    labels = {"click": frame["click"], "sale": frame["sale"]}
    return ranker.fit(frame[FEATURES], frame["y"], qid=frame["query"], labels=labels, **given)


@pytest.mark.parametrize(("name", "weighted"), [("LGBMRanker", False), ("LGBMRanker", True), ("XGBRanker", False)])
def test_the_model_is_that_of_one_machine(client, name, weighted):
    ddf = halves(client, TRAIN)
    here = {"sample_weight": TRAIN["weight"]} if weighted else {}
    there = {"sample_weight": ddf["weight"]} if weighted else {}
    ranker = fitted(getattr(bp.dask, name)(objective=LOSS, client=client, **RANKERS[name]), ddf, **there)
    alone = fitted(getattr(bp, name)(objective=LOSS, **RANKERS[name]), TRAIN, **here)
    expected = alone.predict(TRAIN[FEATURES])
    assert np.ptp(expected) > 0.01
    np.testing.assert_allclose(ranker.to_local().predict(TRAIN[FEATURES]), expected, rtol=0, atol=1e-6)
    labels = {"click": ddf["click"], "sale": ddf["sale"]}
    told = ranker.score(ddf[FEATURES], ddf["y"], qid=ddf["query"], labels=labels, metric="NDCG@5.on(sale)")
    labels = {"click": TRAIN["click"], "sale": TRAIN["sale"]}
    score = alone.score(TRAIN[FEATURES], TRAIN["y"], qid=TRAIN["query"], labels=labels, metric="NDCG@5.on(sale)")
    assert told == pytest.approx(score, rel=1e-6)


def test_metrics_on_validation_sets_are_those_of_all_workers(client):
    metric = bp.LogLoss().on("sale")
    given = {**RANKERS["XGBRanker"], "objective": LOSS, "eval_metric": metric}

    def told(ranker, train, valid):
        sets = {
            "eval_set": [(valid[FEATURES], valid["y"])],
            "eval_qid": [valid["query"]],
            "eval_labels": [{"click": valid["click"], "sale": valid["sale"]}],
        }
        fitted(ranker, train, verbose=False, **sets)
        return next(iter(ranker.evals_result()["validation_0"].values()))

    there = told(bp.dask.XGBRanker(client=client, **given), halves(client, TRAIN), halves(client, VALID))
    np.testing.assert_allclose(there, told(bp.XGBRanker(**given), TRAIN, VALID), rtol=1e-6)


def test_rows_of_a_query_are_sorted_with_their_labels(client):
    mixed = TRAIN.sample(frac=1.0, random_state=0)
    ddf = client.persist(dd.from_pandas(mixed, npartitions=1, sort=False))
    ranker = fitted(bp.dask.LGBMRanker(objective=LOSS, client=client, **RANKERS["LGBMRanker"]), ddf)
    alone = fitted(bp.LGBMRanker(objective=LOSS, **RANKERS["LGBMRanker"]), mixed.sort_values("query", kind="stable"))
    expected = alone.predict(TRAIN[FEATURES])
    np.testing.assert_allclose(ranker.to_local().predict(TRAIN[FEATURES]), expected, rtol=0, atol=1e-6)


def test_more_labels_than_a_matrix_has_room_for(client):
    ddf = halves(client, TRAIN)
    ranker = bp.dask.XGBRanker(objective=LOSS, client=client, **RANKERS["XGBRanker"])
    with pytest.raises(ValueError, match=r"room for 1 .*boostplug\.dask\.LGBMRanker"):
        fitted(ranker, ddf, sample_weight=ddf["weight"])
    labels = [{"click": ddf["click"]}]
    with pytest.raises(ValueError, match="pass the same"):
        fitted(ranker, ddf, eval_set=[(ddf[FEATURES], ddf["y"])], eval_qid=[ddf["query"]], eval_labels=labels)
