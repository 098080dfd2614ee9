"""`starting_params`: parameters by kind and number of labels, which both rankers take as they are."""

import numpy as np
import pytest
from adapters.harness import every_framework
from sklearn.base import clone

import boostplug as bp

DATA = bp.datasets.make_ranking(40, random_state=0)
LEAVES = {"lightgbm": "num_leaves", "xgboost": "max_leaves"}
BY_NODE = {"lightgbm": "feature_fraction_bynode", "xgboost": "colsample_bynode"}


def labels(n_queries, *, choice=False, n_documents=6, highest=2.0):
    """Return labels of queries with one document above 0, and for grades another one."""
    y = np.zeros((n_queries, n_documents))
    y[:, 0] = 1.0
    if not choice:
        y[:, 1] = highest
    return {"y": y.ravel(), "group": np.full(n_queries, n_documents)}


def starting(F=None, *, n_features=None, **given):
    """Return the parameters for labels of so many queries."""
    framework = "lightgbm" if F is None else F.name
    return bp.starting_params(**labels(**{"n_queries": 50, **given}), framework=framework, n_features=n_features)


@every_framework
@pytest.mark.parametrize("choice", [False, True])
def test_trees_have_more_leaves_with_more_queries(F, choice):
    sizes = [starting(F, n_queries=n, choice=choice)[LEAVES[F.name]] for n in (20, 150, 500, 2000, 20_000)]
    assert sizes == sorted(sizes)
    assert 2 < sizes[0] < sizes[-1] <= 31
    assert len(set(sizes)) == 3


def test_queries_without_a_pair_do_not_count():
    few, rest = labels(20), np.zeros(6 * 5000)
    found = bp.starting_params(np.r_[few["y"], rest], group=np.r_[few["group"], np.full(5000, 6)])
    assert found["num_leaves"] == starting(n_queries=20)["num_leaves"]


@pytest.mark.parametrize("name", ["auto", "choice", "graded"])
def test_the_kind_of_label_decides_objective_and_metric(name):
    found = [bp.starting_params(**labels(50, choice=choice), labels=name) for choice in (True, False)]
    as_choice = {"auto": [True, False], "choice": [True, True], "graded": [False, False]}[name]
    assert [one["objective"] == bp.ListNet(target="labels") for one in found] == as_choice
    assert [one.get("metric") == bp.ChoiceLogLoss() for one in found] == as_choice
    assert all(one["objective"] in (bp.ListNet(target="labels"), bp.CRR()) for one in found)


@every_framework
def test_negative_labels_are_stopped_by_a_metric_that_takes_them(F):
    y = DATA.y - 1.0
    params = bp.starting_params(y, qid=DATA.qid, framework=F.name) | {"n_estimators": 5, "n_jobs": 1}
    assert np.ptp(bp.fit_folds(F.Ranker(**params), DATA.X, y, qid=DATA.qid, n_splits=3).predict(DATA.X)) > 0.0


@every_framework
def test_rare_grades_are_learnt_from_all_rows_and_columns(F):
    rare, often, by_node = starting(F, n_documents=40), starting(F), BY_NODE[F.name]
    assert (rare["subsample"], rare.get("colsample_bytree", 1.0)) == (1.0, 1.0)
    assert by_node not in rare
    assert 0.0 < often["subsample"] < 1.0
    assert 0.0 < often[by_node] < 1.0


@every_framework
def test_three_columns_at_least_are_drawn_for_a_split(F):
    shares = [starting(F, n_features=n).get(BY_NODE[F.name]) for n in (1, 4, 6, 100)]
    assert shares == [None, 0.75, 0.5, 0.3]


def test_choices_have_random_thresholds_in_lightgbm():
    params = starting(choice=True)
    assert params["extra_trees"] is True
    assert BY_NODE["lightgbm"] not in params


def test_it_says_why_in_one_line(capsys):
    starting(n_documents=40)
    assert capsys.readouterr().out == ""
    bp.starting_params(**labels(50, n_documents=40), verbose=True)
    assert capsys.readouterr().out == (
        "50 queries hold documents with different labels: 6 leaves, rate 0.05; "
        "all rows and columns, as 5% of the labels are above the least.\n"
    )


@every_framework
@pytest.mark.parametrize("choice", [False, True])
def test_a_ranker_takes_them_alone_with_early_stopping_and_in_folds(F, choice):
    X, y, qid = DATA.X, DATA.y, DATA.qid
    if choice:
        y = np.zeros(len(y))
        y[np.cumsum(DATA.group) - 1] = 1.0
    params = bp.starting_params(y, qid=qid, framework=F.name, n_features=X.shape[1])
    assert type(params) is dict
    ranker = F.Ranker(**params | {"n_estimators": 8, "n_jobs": 1})
    assert clone(ranker).get_params() == ranker.get_params()
    judged = clone(ranker).fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid], **F.quiet)
    np.testing.assert_array_equal(judged.predict(X), ranker.fit(X, y, qid=qid).predict(X))
    assert [name.removeprefix("pre_") for name in F.history(judged)] == ["ChoiceLogLoss" if choice else "NDCG@10"]
    assert bp.fit_folds(ranker, X, y, qid=qid, n_splits=3).score(X, y, qid=qid) > 0.3


@pytest.mark.parametrize(
    "wrong", [{"framework": "catboost"}, {"labels": "clicks"}, {"n_features": 0}, {"y": [1, np.nan]}]
)
def test_bad_arguments_are_named(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=name):
        bp.starting_params(**{"y": [1, 0], "group": [2], **wrong})
