"""`starting_params`: parameters by kind and number of labels, which both rankers take as they are."""

import numpy as np
import pytest
from sklearn.base import clone

import boostplug as bp

RANKER = {"lightgbm": ("LGBMRanker", "num_leaves"), "xgboost": ("XGBRanker", "max_leaves")}
both = pytest.mark.parametrize("framework", RANKER)


def labels(n_queries, *, choice=False, n_documents=6, highest=2.0):
    """Return labels of queries with one document above 0, and for grades another one."""
    y = np.zeros((n_queries, n_documents))
    y[:, 0] = 1.0
    if not choice:
        y[:, 1] = highest
    return {"y": y.ravel(), "group": np.full(n_queries, n_documents)}


def leaves(framework="lightgbm", *, more=None, **given):
    found = labels(**given)
    return bp.starting_params(found["y"], group=found["group"], framework=framework, **more or {})[RANKER[framework][1]]


@both
@pytest.mark.parametrize("choice", [False, True])
def test_trees_have_more_leaves_with_more_queries(framework, choice):
    sizes = [leaves(framework, n_queries=n, choice=choice) for n in (20, 150, 500, 2000, 20_000)]
    assert sizes == sorted(sizes)
    assert 2 < sizes[0] < sizes[-1] <= 31
    assert len(set(sizes)) == 3


def test_queries_without_a_pair_do_not_count():
    few, rest = labels(20), np.zeros(6 * 5000)
    found = bp.starting_params(np.r_[few["y"], rest], group=np.r_[few["group"], np.full(5000, 6)])
    assert found["num_leaves"] == leaves(n_queries=20)


@pytest.mark.parametrize("name", ["auto", "choice", "graded"])
def test_the_kind_of_label_decides_objective_and_metric(name):
    chosen, graded = labels(50, choice=True), labels(50)
    found = [bp.starting_params(one["y"], group=one["group"], labels=name) for one in (chosen, graded)]
    as_choice = {"auto": [True, False], "choice": [True, True], "graded": [False, False]}[name]
    assert [one["objective"] == bp.ListNet(target="labels") for one in found] == as_choice
    assert [one.get("metric") == bp.ChoiceLogLoss() for one in found] == as_choice
    assert all(one["objective"] in (bp.ListNet(target="labels"), bp.CRR()) for one in found)


@both
def test_negative_labels_are_stopped_by_a_metric_that_takes_them(framework):
    data = bp.datasets.make_ranking(40, random_state=0)
    params = bp.starting_params(data.y - 1.0, qid=data.qid, framework=framework) | {"n_estimators": 5, "n_jobs": 1}
    ranker = bp.fit_folds(getattr(bp, RANKER[framework][0])(**params), data.X, data.y - 1.0, qid=data.qid)
    assert np.ptp(ranker.predict(data.X)) > 0.0


BY_NODE = {"lightgbm": "feature_fraction_bynode", "xgboost": "colsample_bynode"}


@both
def test_rare_grades_are_learnt_from_all_rows_and_columns(framework):
    rare, often = (
        bp.starting_params(found["y"], group=found["group"], framework=framework)
        for found in (labels(50, n_documents=40), labels(50))
    )
    assert (rare["subsample"], rare.get("colsample_bytree", 1.0)) == (1.0, 1.0)
    assert BY_NODE[framework] not in rare
    assert 0.0 < often["subsample"] < 1.0
    assert 0.0 < often[BY_NODE[framework]] < 1.0


@both
def test_three_columns_at_least_are_drawn_for_a_split(framework):
    found = labels(50)
    shares = [
        bp.starting_params(found["y"], group=found["group"], framework=framework, n_features=n).get(BY_NODE[framework])
        for n in (1, 4, 6, 100)
    ]
    assert shares == [None, 0.75, 0.5, 0.3]


def test_choices_have_random_thresholds_in_lightgbm():
    found = labels(50, choice=True)
    params = bp.starting_params(found["y"], group=found["group"])
    assert params["extra_trees"] is True
    assert BY_NODE["lightgbm"] not in params


def test_it_says_why_in_one_line(capsys):
    found = labels(50, n_documents=40)
    bp.starting_params(found["y"], group=found["group"])
    assert capsys.readouterr().out == ""
    bp.starting_params(found["y"], group=found["group"], verbose=True)
    assert capsys.readouterr().out == (
        "50 queries hold documents with different labels: 6 leaves, rate 0.05; "
        "all rows and columns, as 5% of the labels are above the least.\n"
    )


@both
@pytest.mark.parametrize("choice", [False, True])
def test_a_ranker_takes_them_alone_with_early_stopping_and_in_folds(framework, choice):
    kind = getattr(bp, RANKER[framework][0])
    data = bp.datasets.make_ranking(40, random_state=0)
    y = np.zeros(len(data.y)) if choice else data.y
    if choice:
        y[np.cumsum(data.group) - 1] = 1.0
    params = bp.starting_params(y, qid=data.qid, framework=framework, n_features=data.X.shape[1])
    assert type(params) is dict
    params |= {"n_estimators": 8, "n_jobs": 1}
    ranker = kind(**params)
    assert clone(ranker).get_params() == ranker.get_params()
    sets = {"eval_set": [(data.X, y)], "eval_qid": [data.qid]}
    if framework == "xgboost":
        sets["verbose"] = False
    alone = ranker.fit(data.X, y, qid=data.qid).predict(data.X)
    np.testing.assert_array_equal(clone(ranker).fit(data.X, y, qid=data.qid, **sets).predict(data.X), alone)
    judged = clone(ranker).fit(data.X, y, qid=data.qid, **sets).evals_result_
    (metrics,) = judged.values()
    assert [name.removeprefix("pre_") for name in metrics] == ["ChoiceLogLoss" if choice else "NDCG@10"]
    mean = bp.fit_folds(ranker, data.X, y, qid=data.qid, n_splits=3)
    assert mean.score(data.X, y, qid=data.qid) > 0.3


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="framework"):
        bp.starting_params([1, 0], group=[2], framework="catboost")
    with pytest.raises(ValueError, match="labels"):
        bp.starting_params([1, 0], group=[2], labels="clicks")
    with pytest.raises(ValueError, match="n_features"):
        bp.starting_params([1, 0], group=[2], n_features=0)
    with pytest.raises(ValueError, match=r"y\[1\] = nan is not finite"):
        bp.starting_params([1, np.nan], group=[2])
