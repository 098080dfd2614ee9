"""What a report shows beside the table, each figure by arithmetic of its own."""

import json

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.metrics import ndcg_score

import boostplug as bp

QUICK = {"rounds": 3, "seeds": 1, "num_threads": 1, "progress": False, "metrics": "NDCG@5"}
TREE = {"learning_rate": 0.1, "num_leaves": 15, "min_data_in_leaf": 20, "lambda_l2": 1.0, "feature_fraction": 0.9}
LIGHTGBM = {**TREE, "bagging_fraction": 0.9, "bagging_freq": 1, "metric": "None", "verbosity": -1, "num_threads": 1}
XGBOOST = {
    "objective": "rank:ndcg", "base_score": 0, "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": 15,
    "max_depth": 0, "max_bin": 255, "learning_rate": 0.1, "min_child_weight": 1e-3, "reg_lambda": 1.0,
    "subsample": 0.9, "colsample_bytree": 0.9, "nthread": 1,
}  # fmt: skip


def of(entries, framework, method):
    return next(entry for entry in entries if (entry["framework"], entry["method"]) == (framework, method))


def without_times(found):
    return found | {"methods": [entry | {"seconds": None} for entry in found["methods"]]}


def ndcg(scores, grades, k):
    """Return a query's NDCG by scikit-learn, which has the mean over ties; None without relevant documents."""
    if not grades.any():
        return None
    return ndcg_score([2.0**grades - 1], [scores], k=k) if len(grades) > 1 else 1.0


@pytest.fixture(scope="module")
def result(parts):
    """A comparison of more rounds than are best."""
    result = bp.compare(*parts, losses=[bp.MPBoost()], rounds=20, seeds=2, num_threads=1, progress=False)
    for name in ("MPBoost(Log)", "rank:ndcg"):
        row = next(row for row in result.document["methods"] if row["method"] == name)
        assert any(run["rounds"] < run["rounds_trained"] for run in row["runs"])
    return result


@pytest.fixture(scope="module")
def found(result):
    return result.details


@pytest.fixture(scope="module")
def boosters(parts, result):
    """Return the models of MPBoost's runs, trained by LightGBM alone, and their best rounds."""
    train = parts[0]
    models = []
    for run in of(result.document["methods"], "lightgbm", "MPBoost(Log)")["runs"]:
        seeds = dict.fromkeys(("bagging_seed", "feature_fraction_seed"), run["seed"])
        dataset = lgb.Dataset(train.X, train.y, group=train.group)
        models.append((lgb.train({"objective": bp.MPBoost(), **LIGHTGBM, **seeds}, dataset, 20), run["rounds"]))
    return models


def test_curves_are_the_values_after_each_round(parts, found, boosters):
    valid = parts[1]
    runs = of(found["methods"], "lightgbm", "MPBoost(Log)")["curves"]
    for run, (booster, best), seed in zip(runs, boosters, (0, 1), strict=True):
        assert (run["fold"], run["seed"], run["best_round"]) == (0, seed, best)
        by_round = [bp.NDCG(10)(booster.predict(valid.X, num_iteration=r), valid.queries) for r in range(1, 21)]
        np.testing.assert_allclose(run["values"], by_round, atol=1e-12)


def test_cutoffs_are_of_the_test_part(parts, result, found, boosters):
    test = parts[2]
    means = of(found["methods"], "lightgbm", "MPBoost(Log)")["cutoffs"]
    cuts = np.split(np.arange(len(test.y)), np.cumsum(test.group)[:-1])
    assert (found["cutoff_metric"], found["cutoffs"]) == ("NDCG", [1, 2, 3, 5, 10, 20, 50])
    for k, mean in zip(found["cutoffs"], means, strict=True):
        by_seed = []
        for booster, best in boosters:
            scores = booster.predict(test.X, num_iteration=best)
            values = [ndcg(scores[rows], test.y[rows], k) for rows in cuts]
            by_seed.append(np.mean([value for value in values if value is not None]))
        assert mean == pytest.approx(np.mean(by_seed), abs=1e-9)
    for row in result.document["methods"]:
        means = of(found["methods"], row["framework"], row["method"])["cutoffs"]
        assert means[3:5] == pytest.approx([row["test"][name]["mean"] for name in ("NDCG@5", "NDCG@10")], abs=1e-12)


def test_importances_are_the_frameworks_own(parts, result, found, boosters):
    train = parts[0]
    assert set(found["features"]) <= {f"f{i}" for i in range(8)}
    order = [int(name[1:]) for name in found["features"]]
    shares = []
    for booster, best in boosters:
        gains = booster.feature_importance("gain", iteration=best)
        shares.append(gains / gains.sum())
    ours = of(found["methods"], "lightgbm", "MPBoost(Log)")["importances"]
    np.testing.assert_allclose(ours, np.mean(shares, axis=0)[order], rtol=1e-9)

    shares = []
    for run in of(result.document["methods"], "xgboost", "rank:ndcg")["runs"]:
        data = xgb.QuantileDMatrix(train.X, train.y, group=train.group, max_bin=255)
        booster = xgb.train({**XGBOOST, "seed": run["seed"]}, data, run["rounds"])
        gains = booster.get_score(importance_type="total_gain")
        of_all = np.array([gains.get(f"f{i}", 0.0) for i in range(8)])
        shares.append(of_all / of_all.sum())
    ours = of(found["methods"], "xgboost", "rank:ndcg")["importances"]
    np.testing.assert_allclose(ours, np.mean(shares, axis=0)[order], rtol=1e-6)

    means = np.mean([entry["importances"] for entry in found["methods"]], axis=0)
    assert list(means) == sorted(means, reverse=True)
    assert means.sum() == pytest.approx(1)  # of 8 features all are here


def values_of(result, metric="NDCG@10"):
    """Return the values by fold and query, a column for each method, mean over seeds."""
    frame = result.per_query
    keys = ["fold", "query"] if "weight" not in frame else ["fold", "query", "weight"]
    table = frame.pivot_table(index=keys, columns=["framework", "method"], values=metric, aggfunc="mean")
    return table.reset_index("weight") if "weight" in frame else table


def test_wins_and_losses_are_those_of_the_queries(parts, result, found):
    table = values_of(result)
    for entry in found["methods"]:
        reference = {"lightgbm": "lambdarank", "xgboost": "rank:ndcg"}[entry["framework"]]
        if entry["method"] == reference:
            assert entry["outcomes"] == []
            continue
        gaps = table[entry["framework"], entry["method"]] - table[entry["framework"], reference]
        counts = ((gaps >= 1e-9).sum(), (gaps.abs() < 1e-9).sum(), (gaps <= -1e-9).sum())
        assert entry["outcomes"] == [*counts]
        assert sum(counts) == result.document["test"]["queries"] < len(parts[2].group)


@pytest.fixture(scope="module")
def weighted(parts):
    """Two folds of DataFrames with names, weights and queries named by words; the metric an error."""
    rng = np.random.default_rng(0)
    frames = []
    for part in parts:
        names = {f"f{i}": f"feature {chr(97 + i)}" for i in range(8)}
        frame = pd.DataFrame(part.X, columns=names).rename(columns=names)
        weight = rng.choice([0.0, 1.0, 4.0], len(part.group))
        frames.append(frame.assign(qid=[f"q{q}" for q in part.qid], y=part.y, w=np.repeat(weight, part.group)))
    folds = [frames, [frames[1], frames[2], frames[0]]]
    some = {**QUICK, "metric": "PairError", "seeds": 2, "losses": "ranknet", "baselines": ["lambdarank", "rank:ndcg"]}
    return bp.compare(folds, label="y", weight="w", **some)


def test_folds_weights_names_and_errors(weighted):
    found = weighted.details
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert all(name.startswith("feature ") for name in found["features"])
    for entry in found["methods"]:
        assert len(entry["importances"]) == len(found["features"])
        assert sum(entry["importances"]) == pytest.approx(1)
    table = values_of(weighted, "PairError")
    counted = table[table["weight"] > 0]
    assert len(counted) < len(table)
    for framework, reference in (("lightgbm", "lambdarank"), ("xgboost", "rank:ndcg")):
        gaps = (counted[framework, reference] - counted[framework, "RankNet"]).dropna()
        entry = of(found["methods"], framework, "RankNet")
        assert entry["outcomes"][::2] == [(gaps >= 1e-9).sum(), (gaps <= -1e-9).sum()]
    for keys, runs in weighted.per_query.dropna(subset="NDCG@5").groupby(["framework", "method"]):
        by_run = [np.average(run["NDCG@5"], weights=run["weight"]) for _, run in runs.groupby(["fold", "seed"])]
        assert of(found["methods"], *keys)["cutoffs"][3] == pytest.approx(np.mean(by_run))
    prints = {(part["part"], part["fold"]): part["fingerprint"] for part in found["data"]}
    assert set(prints) == {(name, fold) for name in ("train", "valid", "test") for fold in (0, 1)}
    assert prints["valid", 0] == prints["train", 1] != prints["train", 0]
    assert "bp.compare(folds, " in found["python"]
    assert found["python"].endswith(", label='y', weight='w')")


def test_what_failed_or_was_not_run_is_left_out(parts):
    """Grades below 0 have no NDCG; a loss fails; the reference is not among the methods."""
    shifted = [bp.RankingData(part.X, part.y - 1, qid=part.qid) for part in parts]
    some = {**QUICK, "metric": "KendallTau", "metrics": "KendallTau"}
    result = bp.compare(
        *shifted, losses=["ndcg-boost", "ranknet"], baselines="regression", frameworks="lightgbm", **some
    )
    assert [method["runs_finished"] for method in result.document["methods"]] == [1, 0, 1]
    found = result.details
    assert [entry["method"] for entry in found["methods"]] == ["regression", "RankNet"]
    for entry in found["methods"]:
        assert entry["cutoffs"] == entry["outcomes"] == []
        assert entry["curves"]
        assert entry["importances"]
    none = bp.compare(*shifted, losses="ndcg-boost", baselines=[], frameworks="lightgbm", **some).details
    assert none["features"] == none["methods"] == []


@pytest.mark.ci
def test_a_store_processes_and_tuning_keep_all_of_it(parts, tmp_path):
    pytest.importorskip("optuna")
    some = {**QUICK, "losses": "ranknet", "baselines": ["lambdarank", "rank:ndcg"], "tune": 2}
    found = bp.compare(*parts, **some, store=tmp_path / "one").details
    assert all(entry["seconds"] > 0.0 for entry in found["methods"])
    assert bp.compare(*parts, **some, store=tmp_path / "one", resume=True).details == found
    several = bp.compare(*parts, **some, jobs=2, store=tmp_path / "two").details
    again = bp.compare(*parts, **some, store=tmp_path / "two", resume=True).details
    for details in (found, several, again):
        del details["python"]  # the call, with jobs or without
    assert again == several
    assert without_times(again) == without_times(found)
