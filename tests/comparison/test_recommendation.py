"""What a comparison recommends, by what, and that the estimator it hands over grows the trees it was chosen for."""

from dataclasses import dataclass

import numpy as np
import pytest
import reports
import xgboost as xgb
from scipy import sparse

import boostplug as bp
from boostplug.comparison import recommendation
from boostplug.comparison.training.frameworks import FRAMEWORKS, DataPart, Watch
from boostplug.comparison.training.runs import Method, RunOutcome
from boostplug.comparison.training.trees import Trees
from boostplug.core.values import Range
from boostplug.datasets import make_ranking
from boostplug.losses import LOSSES

QUICK = {"rounds": 4, "num_threads": 1, "progress": False}
OURS = [loss for losses in LOSSES.values() for loss in losses if not loss.needs_position]
BUILT_IN = [(kind.name, name) for kind in FRAMEWORKS.values() for name in kind.baselines]
SOME = [*BUILT_IN, *((name, loss) for name in FRAMEWORKS for loss in OURS)]


def fitted(estimator, train):
    """Return an estimator, fitted; XGBoost's regression takes no queries."""
    if isinstance(estimator, xgb.XGBRegressor) and not isinstance(estimator, xgb.XGBRanker):
        return estimator.fit(train.X, train.y)
    options = {"verbose": False} if isinstance(estimator, xgb.XGBModel) else {}
    return estimator.fit(train.X, train.y, qid=train.qid, **options)


def alone(parts, framework, objective, **options):
    built_in = isinstance(objective, str)
    what = {"losses": () if built_in else [objective], "baselines": [objective] if built_in else ()}
    return bp.compare(*parts, **what, frameworks=framework, **{**QUICK, "seeds": [3], **options})


@pytest.mark.parametrize(("framework", "objective"), SOME, ids=str)
def test_the_best_grows_the_trees_of_the_comparison(parts, framework, objective):
    train, _, test = parts
    result = alone(parts, framework, objective)
    (run,) = result.document["methods"][0]["runs"]
    best = result.best
    assert best.n_estimators == run["rounds"]
    scores = fitted(best, train).predict(test.X)
    pieces = [DataPart(part.X, part.queries) for part in parts]
    trained = FRAMEWORKS[framework](*pieces, Trees(), 1)
    theirs = trained.run(
        objective, 3, run["rounds"], Watch(bp.NDCG(10), parts[1].queries, patience=None, num_threads=1)
    )
    np.testing.assert_allclose(scores, theirs, rtol=1e-6, atol=1e-6)
    assert np.ptp(scores) > 0
    assert run["test"]["NDCG@10"] == pytest.approx(bp.NDCG(10)(scores, test.queries), abs=1e-12)


def test_sparse_features(parts):
    train, _, test = parts
    thin = [{"X": sparse.csr_matrix(part.X), "y": part.y, "qid": part.qid} for part in parts]
    for framework in FRAMEWORKS:
        result = alone(thin, framework, bp.RankNet())
        (run,) = result.document["methods"][0]["runs"]
        best = result.best
        options = {"verbose": False} if framework == "xgboost" else {}
        best.fit(thin[0]["X"], train.y, qid=train.qid, **options)
        value = bp.NDCG(10)(best.predict(thin[2]["X"]), test.queries)
        assert run["test"]["NDCG@10"] == pytest.approx(value, abs=1e-12)


@dataclass(frozen=True, kw_only=True)
class Own(bp.RankNet):
    """A user's loss, with a choice that is no word."""

    pair: tuple = (1, 2)

    version = "1"
    search_ranges = {"pair": ((1, 2), (3, 4)), "sigmoid": Range(0.5, 2.0)}  # noqa: RUF012 (frozen)


@pytest.mark.parametrize("objective", ["lambdarank", bp.MPBoost(), Own()], ids=["lambdarank", "MPBoost", "own"])
def test_tuned_parameters_are_in_it(parts, tmp_path, objective):
    pytest.importorskip("optuna")
    train, _, test = parts
    some = {"tune": 8, "params": {"min_rows": 200}, "store": tmp_path}
    result = alone(parts, "lightgbm", objective, **some)
    again = alone(parts, "lightgbm", objective, **some, resume=True)
    (run,) = result.document["methods"][0]["runs"]
    assert run["tuned"]["parameters"]
    for one in (result, again):
        scores = fitted(one.best, train).predict(test.X)
        assert run["test"]["NDCG@10"] == pytest.approx(bp.NDCG(10)(scores, test.queries), abs=1e-12)
    assert again.recommendation == result.recommendation


@pytest.mark.parametrize("loss", [*OURS, bp.AdaRank(metric=bp.MAP(), base=bp.RankNet(sigmoid=2.0))], ids=str)
def test_the_line_of_code_names_the_loss(loss):
    params = FRAMEWORKS["lightgbm"].params_of_run(Trees(), 1, loss, 0)
    line = recommendation.code("lightgbm", loss, params, 7)
    found = eval(line, {"bp": bp})  # noqa: S307 (ours)
    assert found.get_params(deep=False)["objective"] == loss
    assert found.n_estimators == 7
    assert "seed" not in line
    assert line.startswith("bp.LGBMRanker(objective=")


# --- What is chosen, and in which words -----------------------------------------------------------------------------


def made(values, *, metric="NDCG@10", seeds=(0,), reference=True, n=40):
    """Return a result of invented runs: by framework and name, the validation and the test values."""
    metric = bp.Metric.parse(metric)
    part = make_ranking(n, n_features=2, mean_list_size=6, random_state=0)
    part = DataPart(part.X, part.queries, part.qid)
    methods = []
    for framework, name in values:
        own = FRAMEWORKS[framework].baselines
        objective = name if name in own else bp.RankNet()
        methods.append(Method(name, framework, objective, reference and name == own[0]))
    result = reports.result_of(methods, part, metric, seeds=seeds)
    defined = ~np.isnan(metric.per_query(np.zeros(part.queries.n_rows), part.queries))
    noise = np.random.default_rng(0).normal(0, 0.02, n)
    for method in methods:
        for seed in seeds:
            of_run = values[method.framework, method.name]
            of_run = of_run[seed] if isinstance(of_run, list) else of_run
            if of_run is None:
                continue
            if of_run == "failed":
                result.add(RunOutcome(method, 0, seed, error="broken"))
                continue
            validation, test = of_run
            rng = np.random.default_rng(len(result.runs.outcomes))
            on_test = np.where(defined, test + noise + rng.normal(0, 0.01, n), np.nan)
            on_validation = np.where(defined, validation + rng.normal(0, 0.1, n), np.nan)
            of_test = {"test": {metric.name: float(np.nanmean(on_test))}, "per_query": {metric.name: on_test}}
            of_validation = {"validation": validation, "validation_per_query": on_validation}
            result.add(RunOutcome(method, 0, seed, rounds=5 + seed, **of_validation, **of_test))
    return result


def many(result):
    return result.document["test"]["queries"]


LGB, XGB = "lightgbm", "xgboost"


def test_validation_alone_chooses():
    found = made({(LGB, "lambdarank"): (0.5, 0.5), (LGB, "a"): (0.6, 0.4), (LGB, "b"): (0.55, 0.9)})
    assert found.document["recommendation"]["method"] == "a"
    text = found.recommendation
    assert text.startswith("Recommended: a in lightgbm, the best of 3 by validation NDCG@10 (.6000, mean of 1 run; ")
    assert "below lambdarank in NDCG@10 (95 % interval -" in text
    assert (
        f"significantly worse on {many(found)} test queries. The validation part misleads here: prefer lambdarank"
        in text
    )


@pytest.mark.parametrize(
    ("metric", "lead", "advice"),
    [
        ("NDCG@10", 0.001, "either will do"),
        ("NDCG@10", -0.001, "you can keep lambdarank"),
        ("PairError", -0.001, "either will do"),
        ("PairError", 0.001, "you can keep lambdarank"),
    ],
)
def test_what_cannot_be_told_apart_is_said(metric, lead, advice):
    best = 0.4 if metric == "PairError" else 0.6
    found = made({(LGB, "lambdarank"): (0.5, 0.5), (LGB, "a"): (best, 0.5)}, metric=metric)
    off = found.document["recommendation"]["difference"]  # of the noise alone
    found = made({(LGB, "lambdarank"): (0.5, 0.5), (LGB, "a"): (best, 0.5 - off + lead)}, metric=metric)
    words = rf"no significant difference on {many(found)} test queries; {advice}."
    assert words in found.recommendation


def test_the_least_error_is_recommended():
    found = made({(LGB, "lambdarank"): (0.3, 0.3), (LGB, "a"): (0.2, 0.2)}, metric="PairError")
    assert "Recommended: a in" in found.recommendation
    assert "below lambdarank in PairError (95 % interval -" in found.recommendation
    assert "significantly better" in found.recommendation
    found = made({(LGB, "lambdarank"): (0.3, 0.2), (LGB, "a"): (0.2, 0.3)}, metric="PairError")
    assert "Recommended: a in" in found.recommendation
    assert "above lambdarank in PairError (95 % interval +" in found.recommendation
    assert "significantly worse" in found.recommendation


def test_across_frameworks_the_reference_is_the_frameworks_own():
    found = made({(LGB, "lambdarank"): (0.5, 0.9), (XGB, "rank:ndcg"): (0.5, 0.5), (XGB, "a"): (0.6, 0.6)})
    assert "above rank:ndcg in NDCG@10" in found.recommendation


def test_what_failed_in_part_is_not_recommended():
    whole, half = [(0.5, 0.5), (0.5, 0.5)], [(0.9, 0.9), "failed"]
    found = made({(LGB, "lambdarank"): whole, (LGB, "a"): half, (LGB, "b"): [(0.6, 0.5)] * 2}, seeds=(0, 1))
    row = found.document["recommendation"]
    assert (row["method"], row["among"], row["runs"]) == ("b", 2, 2)
    assert row["rounds"] == 6  # the mean of 5 and 6, halves up


def test_an_interrupted_comparison_is_judged_by_what_all_have_finished():
    lucky, late = [(0.5, 0.5), (0.95, 0.5)], [(0.6, 0.5), None]
    found = made({(LGB, "lambdarank"): lucky, (LGB, "a"): late}, seeds=(0, 1))
    found.interrupted = True
    row = found.document["recommendation"]
    assert (row["method"], row["among"], row["runs"], row["rounds"]) == ("a", 2, 1, 5)
    assert "The comparison was interrupted: this is of what is finished." in found.recommendation
    found = made({(LGB, "lambdarank"): [(0.5, 0.5), None], (LGB, "a"): [None, None]}, seeds=(0, 1))
    found.interrupted = True
    assert found.document["recommendation"]["method"] == "lambdarank"


def test_those_within_one_standard_error_are_named():
    values = {(LGB, "a"): (0.6, 0.5), (XGB, "b"): (0.6 - 1e-9, 0.5), (LGB, "far"): (0.2, 0.5)}
    close = made(values, n=400).document["recommendation"]["within_one_standard_error"]
    assert {"framework": LGB, "method": "far"} not in close
    found = made(values, n=400)
    for cell in found.runs.outcomes[:2]:
        cell.validation_per_query[:] = found.runs.outcomes[0].validation_per_query
    assert found.document["recommendation"]["within_one_standard_error"] == [{"framework": XGB, "method": "b"}]
    assert "Equally good on validation, within one standard error: b in xgboost.\n" in found.recommendation
    found.runs.outcomes[1].validation_per_query[:] -= 0.01  # always, which has no standard error
    assert found.document["recommendation"]["within_one_standard_error"] == []
