"""`compare` tries smaller and larger trees first where many validation queries can tell which rank better."""

import numpy as np
import pytest
from reports import ONE, without_times

import boostplug as bp
from boostplug.selection.starting import trees_for

pytest.importorskip("lightgbm")

SOME = {**ONE, "baselines": (), "rounds": 20, "seeds": [3]}


def part(seed, n, *, choice=False):
    """Return lists of five documents, of which two of three features count."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5, 3))
    utility = X[..., 0] * X[..., 1] + X[..., 1] + rng.gumbel(size=(n, 5))
    y = utility >= np.sort(utility, axis=1)[:, -1 if choice else -2][:, None]
    return bp.RankingData(X.reshape(-1, 3), y.ravel().astype(float), group=np.full(n, 5))


PARTS = part(0, 60), part(1, 600), part(2, 40)


@pytest.fixture(scope="module")
def result():
    return bp.compare(*PARTS, **SOME)


def tried(result):
    return {one["num_leaves"]: one["validation"] for one in result.document["settings"]["leaves_tried"]}


def test_the_size_that_is_best_on_validation_is_that_of_all_methods(result):
    own, settings, values = trees_for(PARTS[0].queries)[0]["num_leaves"], result.document["settings"], tried(result)
    assert [*values] == list(dict.fromkeys([own, max(3, own // 2), 2 * own]))
    for n, value in values.items():
        alone = bp.compare(*PARTS, **SOME | {"losses": "CRR"}, params={"num_leaves": n})
        assert alone.document["methods"][0]["validation"]["mean"] == value
    best = max(values, key=values.__getitem__)
    assert settings["params"]["num_leaves"] == best
    assert settings["trees"].endswith(f"; validation chose {best} leaves")
    (note,) = (note for note in result.document["notes"] if "leaves" in note)
    assert note.startswith("CRR in lightgbm has NDCG@10 on validation .")
    assert note.endswith(f" leaves, so the trees of all methods have {best}.")
    assert result.per_query.equals(bp.compare(*PARTS, **SOME, params={"num_leaves": best}).per_query)
    assert f"'num_leaves': {best}" in result.document["call"]
    assert settings["early_stopping_rounds"] == 50  # the default


def test_it_is_not_tried_where_it_is_chosen_already_or_few_queries_tell(trained):
    pytest.importorskip("optuna")
    few = (PARTS[0], part(1, 499), PARTS[2])
    given = [{"num_leaves": 5}, {"lightgbm": {"max_leaf": 5}}, {"xgboost": {"max_leaves": 5}}]
    others = [*((PARTS, {"params": params}) for params in given), (PARTS, {"tune": 1}), (few, {}), ([[PARTS, few]], {})]
    for data, more in others:
        settings = bp.compare(*data, **SOME, **more).document["settings"]
        assert settings["leaves_tried"] == []
        assert "validation chose" not in settings["trees"]
    assert set(trained.names) == {"RankNet"}


def test_of_choices_one_loss_of_choices_tries_and_lower_may_be_better():
    choices = [part(seed, n, choice=True) for seed, n in enumerate((60, 600, 40))]
    result = bp.compare(*choices, **SOME, metric="ChoiceLogLoss")
    assert "ListNet(labels) in lightgbm has ChoiceLogLoss" in str(result)
    values = tried(result)
    assert result.document["settings"]["params"]["num_leaves"] == min(values, key=values.__getitem__)


def test_of_several_folds_the_first_one_tells(result, trained):
    folds = bp.compare([PARTS, (part(3, 70), part(4, 600), part(5, 40))], **SOME)
    assert tried(folds) == tried(result)
    assert trained.names.count("CRR") == len(tried(result))


def test_the_result_is_the_same_for_any_number_of_jobs(result):
    assert without_times(bp.compare(*PARTS, **SOME, jobs=3)) == without_times(result)


def test_finished_trainings_are_not_repeated(trained, tmp_path):
    given = {**SOME, "losses": ["RankNet", "CRR"], "store": tmp_path / "kept.jsonl"}
    first = bp.compare(*PARTS, **given)
    best = first.document["settings"]["params"]["num_leaves"]
    assert sorted(trained[:3]) == sorted(("CRR", 3, n) for n in tried(first))
    assert trained[3:4] == [("RankNet", 3, best)]
    assert len(trained) == 3 + 1 + 1  # on half of the queries, at last
    trained.clear()
    again = bp.compare(*PARTS, **given, resume=True)
    assert not trained
    assert without_times(again) == without_times(first)
    bp.compare(*PARTS, **given | {"losses": ["QBRank", "RankNet"]}, resume=True)
    assert trained[0] == ("QBRank", 3, best)


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_without_a_value_the_trees_stay_and_ctrl_c_ends_the_comparison(monkeypatch, error):
    def fails(*_):
        raise error

    monkeypatch.setattr(bp.CRR, "gradient_hessian", fails)
    result = bp.compare(*PARTS, **SOME)
    assert not result.failed
    assert tried(result) == {}
    assert result.document["settings"]["params"]["num_leaves"] == trees_for(PARTS[0].queries)[0]["num_leaves"]
    assert (result.interrupted, len(result.not_run)) == ((True, 1) if error is KeyboardInterrupt else (False, 0))
