"""The decision of a comparison: the incumbent is kept unless another method is significantly better on test."""

from functools import partial

import numpy as np
import pytest
import reports

import boostplug as bp
from boostplug.comparison.summary import Outcome
from boostplug.comparison.training.frameworks import FRAMEWORKS, DataPart
from boostplug.comparison.training.runs import Method, Run
from boostplug.datasets import make_ranking


def made(values, *, metric="NDCG@10", seeds=(0,), reference=True, n=40, trained=6, seconds=(), interrupted=False):
    """Return a result of invented runs: by framework and name, the validation and the test values."""
    metric = bp.Metric.parse(metric)
    part = make_ranking(n, n_features=2, mean_list_size=6, random_state=0)
    part = DataPart(part.X, part.queries, part.qid)
    methods = []
    for framework, name in values:
        own = FRAMEWORKS[framework].baselines
        objective = name if name in own else bp.RankNet()
        is_reference = name == own[0] if reference is True else reference == name
        methods.append(Method(name, framework, objective, is_reference))
    defined = ~np.isnan(metric.per_query(np.zeros(part.queries.n_rows), part.queries))
    noise = np.random.default_rng(0).normal(0, 0.02, n)
    runs = []
    for method in methods:
        for seed in seeds:
            of_run = values[method.framework, method.name]
            of_run = of_run[seed] if isinstance(of_run, list) else of_run
            if of_run is None:
                continue
            run = partial(Run, framework=method.framework, method=method.name, fold=0, seed=seed)
            if of_run == "failed":
                runs.append(run(error="broken"))
                continue
            validation, test = of_run
            rng = np.random.default_rng(len(runs))
            on_test = np.where(defined, test + noise + rng.normal(0, 0.01, n), np.nan)
            of_test = {"test": {metric.name: float(np.nanmean(on_test))}, "per_query": {metric.name: on_test}}
            of_validation = {"validation": validation}
            of_training = {"rounds": 5 + seed, "rounds_trained": trained + seed}
            of_training["seconds_per_round"] = dict(seconds).get(method.name, 1.0)
            runs.append(run(**of_training, **of_validation, **of_test))
    return reports.result_of(methods, part, metric, runs, seeds=seeds, interrupted=interrupted)


LGB, XGB = "lightgbm", "xgboost"
IN_USE = {(LGB, "lambdarank"): (0.5, 0.5)}


def chosen(result):
    """Return the recommended method, the challenger, and the outcome."""
    found = result.document["recommendation"]
    return found["method"], found["challenger"]["method"], found["outcome"]


CASES = {
    Outcome.BETTER: (
        {**IN_USE, (LGB, "a"): (0.6, 0.6)}, {}, "Change to a: it ranks significantly better than lambdarank.",
        "better on 36 of 36 queries, worse on 0. Its 95 % interval is +",
    ),
    Outcome.LEVEL: (
        {**IN_USE, (LGB, "a"): (0.6, 0.501)}, {}, "Keep lambdarank: nothing here ranks significantly better.",
        "more test queries on which the metric is defined, some",
    ),
    Outcome.WORSE: (
        {**IN_USE, (LGB, "a"): (0.6, 0.4)}, {},
        "Keep lambdarank: a, the best of 2 on validation, ranks significantly worse.",
        "The validation part misleads here, so choose on more validation queries.",
    ),
    Outcome.AT_CAP: (
        {**IN_USE, (LGB, "a"): (0.6, 0.6)}, {"trained": 9},
        "No verdict yet, so keep lambdarank: trainings ended at the cap of 9 rounds.",
        "there is no p, because more rounds might change it, over 36 test queries. More rounds may change the order",
    ),
    Outcome.TOO_FEW: (
        {**IN_USE, (LGB, "a"): (0.6, 0.5)}, {"n": 20},
        "No verdict yet, so keep lambdarank: 18 test queries are too few.", "30 test queries are the least",
    ),
    Outcome.UNCHALLENGED: (
        {**IN_USE, (LGB, "a"): (0.4, 0.9)}, {"n": 20}, "Keep lambdarank: it is the best of 2 on validation.",
        "Its NDCG@10 is .4931 on test and .5000 on validation, the mean of 1 run.",
    ),
    Outcome.NO_INCUMBENT: (
        {(LGB, "a"): (0.6, 0.6), (LGB, "b"): (0.5, 0.9)}, {},
        "Take a: it is the best of 2 on validation, and nothing in use has a finished run.", "Its NDCG@10 is",
    ),
}  # fmt: skip


@pytest.mark.parametrize("outcome", CASES, ids=str)
def test_each_outcome_has_its_recommendation(outcome):
    values, options, head, words = CASES[outcome]
    found = made(values, **options)
    recommended = "a" if outcome in (Outcome.BETTER, Outcome.NO_INCUMBENT) else "lambdarank"
    assert chosen(found) == (recommended, "lambdarank" if outcome is Outcome.UNCHALLENGED else "a", outcome.value)
    assert found.recommendation.splitlines()[0] == head
    assert words in " ".join(found.recommendation.split())
    built_in = isinstance(found.best.get_params()["objective"], str)
    assert built_in == (recommended == "lambdarank")
    assert found.recommendation.splitlines()[-1].strip().startswith("bp.LGBMRanker(objective=")


def test_lower_is_better_for_errors():
    found = made({(LGB, "lambdarank"): (0.3, 0.3), (LGB, "a"): (0.2, 0.2)}, metric="PairError")
    assert chosen(found) == ("a", "a", "better")
    assert "has PairError .1996, .0988 below lambdarank (.2984): better on 35 of 35" in found.recommendation
    assert "Its 95 % interval is -" in found.recommendation
    found = made({(LGB, "lambdarank"): (0.3, 0.2), (LGB, "a"): (0.2, 0.3)}, metric="PairError")
    assert chosen(found) == ("lambdarank", "a", "worse")
    assert "better on 0 of 35 queries, worse on 35.\nIts 95 % interval is +" in found.recommendation


def test_another_that_is_significantly_better_takes_the_place_of_the_best_on_validation():
    """By Holm's p, since the test part has chosen it."""
    others = {(LGB, "b"): (0.55, 0.6), (LGB, "c"): (0.54, 0.7), (LGB, "d"): (0.53, 0.5)}
    others |= {(LGB, "behind"): (0.49, 0.9)}  # on validation
    found = made({**IN_USE, (LGB, "a"): (0.6, 0.4), **others})
    assert chosen(found) == ("b", "b", "better")
    assert found.document["recommendation"]["comparisons"] == 5
    assert "On test b, by validation NDCG@10 the best of those significantly better there, has" in found.recommendation
    assert "p <.001 (corrected for 5 comparisons)" in found.recommendation
    row = next(m for m in found.document["methods"] if m["method"] == "b")
    assert found.document["recommendation"]["p"] == row["p_holm"]
    found = made({**IN_USE, (LGB, "a"): (0.6, 0.4), (LGB, "behind"): (0.49, 0.9)})
    assert chosen(found) == ("lambdarank", "a", "worse")


def test_of_two_frameworks_one_method_is_the_incumbent():
    values = {(LGB, "lambdarank"): (0.5, 0.9), (XGB, "rank:ndcg"): (0.49, 0.5), (XGB, "a"): (0.6, 0.6)}
    found = made(values)
    assert chosen(found) == ("lambdarank", "a", "worse")
    assert "below lambdarank in lightgbm (.8985)" in found.recommendation
    assert "; rank:ndcg in xgboost has .4" in found.recommendation
    found = made({**values, (XGB, "rank:ndcg"): (0.51, 0.5)})
    assert chosen(found) == ("a", "a", "better")
    assert "above rank:ndcg in xgboost (.4" in found.recommendation


def test_an_incumbent_that_has_not_finished_is_none():
    found = made({(LGB, "lambdarank"): "failed", (LGB, "a"): (0.6, 0.6), (LGB, "b"): (0.5, 0.5)})
    assert chosen(found) == ("a", "a", "no incumbent")


def test_what_failed_in_part_is_not_recommended():
    whole, half = [(0.5, 0.5), (0.5, 0.5)], [(0.9, 0.9), "failed"]
    found = made({(LGB, "lambdarank"): whole, (LGB, "a"): half, (LGB, "b"): [(0.6, 0.6)] * 2}, seeds=(0, 1))
    row = found.document["recommendation"]
    assert (row["method"], row["among"], row["runs"]) == ("b", 2, 2)
    assert row["rounds"] == 6  # the mean of 5 and 6, halves up


def test_an_interrupted_comparison_is_judged_by_what_all_have_finished():
    lucky, late = [(0.5, 0.5), (0.95, 0.5)], [(0.6, 0.6), None]
    found = made({(LGB, "lambdarank"): lucky, (LGB, "a"): late}, seeds=(0, 1), interrupted=True)
    row = found.document["recommendation"]
    assert (row["method"], row["among"], row["runs"], row["rounds"]) == ("a", 2, 1, 5)
    assert "The comparison was interrupted: this holds for the finished runs only." in found.recommendation
    found = made({(LGB, "lambdarank"): [(0.5, 0.5), None], (LGB, "a"): [None, None]}, seeds=(0, 1), interrupted=True)
    assert found.document["recommendation"]["method"] == "lambdarank"


def test_the_incumbent_is_the_reference_of_its_frameworks(parts):
    """A name in both frameworks is in both; "NAME in FRAMEWORK" in one. LambdaRank is ours, lambdarank LightGBM's."""
    options = {"losses": ["ranknet"], "rounds": 3, "seeds": 1, "num_threads": 1, "progress": False}
    for incumbent, references in (
        (bp.RankNet(), {"RankNet in lightgbm", "RankNet in xgboost"}),
        ("RankNet in xgboost", {"lambdarank in lightgbm", "RankNet in xgboost"}),
        ("linear", {"linear"}),
    ):
        result = bp.compare(*parts, incumbent=incumbent, **options)
        assert {m["reference"] for m in result.document["methods"]} - {None} == references
        assert any(result.document["recommendation"]["incumbent"]["method"] in one for one in references)
    for absent in ("CRR", "LambdaRank in lightgbm"):
        with pytest.raises(
            ValueError, match=rf"incumbent must be one of the methods \(lambdarank, .*\), got '{absent}'; a"
        ):
            bp.compare(*parts, incumbent=absent, **options)
