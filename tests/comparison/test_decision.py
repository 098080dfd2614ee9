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
            on_validation = np.where(defined, validation + rng.normal(0, 0.1, n), np.nan)
            of_test = {"test": {metric.name: float(np.nanmean(on_test))}, "per_query": {metric.name: on_test}}
            of_validation = {"validation": validation, "valid_per_query": on_validation}
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
    Outcome.BETTER: ({**IN_USE, (LGB, "a"): (0.6, 0.6)}, {}, "a", "significantly better on 36 test queries."),
    Outcome.LEVEL: (
        {**IN_USE, (LGB, "a"): (0.6, 0.501)}, {}, "lambdarank", "no significant difference on 36 test queries. With"
    ),
    Outcome.WORSE: (
        {**IN_USE, (LGB, "a"): (0.6, 0.4)}, {}, "lambdarank",
        "significantly worse on 36 test queries. The validation part misleads here",
    ),
    Outcome.AT_CAP: (
        {**IN_USE, (LGB, "a"): (0.6, 0.6)}, {"trained": 9}, "lambdarank",
        "but trainings ended at the cap of 9 rounds, and more rounds may change the order: raise the rounds.",
    ),
    Outcome.TOO_FEW: (
        {**IN_USE, (LGB, "a"): (0.6, 0.5)}, {"n": 20}, "lambdarank",
        "18 test queries are too few for a verdict: judge on 30 or more.",
    ),
    Outcome.UNCHALLENGED: (
        {**IN_USE, (LGB, "a"): (0.4, 0.9)}, {"n": 20}, "lambdarank",
        "No other method does better.",
    ),
    Outcome.NO_INCUMBENT: (
        {(LGB, "a"): (0.6, 0.6), (LGB, "b"): (0.5, 0.9)}, {}, "a",
        "There is nothing to compare it with: no reference has a finished run.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("outcome", CASES, ids=str)
def test_each_outcome_has_its_recommendation(outcome):
    values, options, recommended, words = CASES[outcome]
    found = made(values, **options)
    challenger = "lambdarank" if outcome is Outcome.UNCHALLENGED else "a"
    assert chosen(found) == (recommended, challenger, outcome.value)
    kept = outcome not in (Outcome.BETTER, Outcome.NO_INCUMBENT)
    head = "No verdict yet" if outcome in (Outcome.AT_CAP, Outcome.TOO_FEW) else "Recommended"
    assert found.recommendation.startswith(f"{head}: {'keep ' * kept}{recommended} in lightgbm")
    assert words in found.recommendation
    built_in = isinstance(found.best.get_params()["objective"], str)
    assert built_in == (recommended == "lambdarank")
    assert found.recommendation.splitlines()[-1].strip().startswith("bp.LGBMRanker(objective=")


def test_lower_is_better_for_errors():
    found = made({(LGB, "lambdarank"): (0.3, 0.3), (LGB, "a"): (0.2, 0.2)}, metric="PairError")
    assert chosen(found) == ("a", "a", "better")
    assert "below lambdarank in PairError (95 % interval -" in found.recommendation
    found = made({(LGB, "lambdarank"): (0.3, 0.2), (LGB, "a"): (0.2, 0.3)}, metric="PairError")
    assert chosen(found) == ("lambdarank", "a", "worse")
    assert "above lambdarank in PairError (95 % interval +" in found.recommendation


def test_another_that_is_significantly_better_takes_the_place_of_the_best_on_validation():
    """By Holm's p, since the test part has chosen it."""
    others = {(LGB, "b"): (0.55, 0.6), (LGB, "c"): (0.54, 0.7), (LGB, "d"): (0.53, 0.5)}
    others |= {(LGB, "behind"): (0.49, 0.9)}  # on validation
    found = made({**IN_USE, (LGB, "a"): (0.6, 0.4), **others})
    assert chosen(found) == ("b", "b", "better")
    assert found.document["recommendation"]["comparisons"] == 4
    assert "the best of the methods that are significantly better on test" in found.recommendation
    assert "corrected p <.001, one of 4" in found.recommendation
    row = next(m for m in found.document["methods"] if m["method"] == "b")
    assert found.document["recommendation"]["p"] == row["p_holm"]
    found = made({**IN_USE, (LGB, "a"): (0.6, 0.4), (LGB, "behind"): (0.49, 0.9)})
    assert chosen(found) == ("lambdarank", "a", "worse")


def test_of_two_frameworks_one_method_is_the_incumbent():
    values = {(LGB, "lambdarank"): (0.5, 0.9), (XGB, "rank:ndcg"): (0.49, 0.5), (XGB, "a"): (0.6, 0.6)}
    found = made(values)
    assert chosen(found) == ("lambdarank", "a", "worse")
    assert "below lambdarank in lightgbm in NDCG@10" in found.recommendation
    found = made({**values, (XGB, "rank:ndcg"): (0.51, 0.5)})
    assert chosen(found) == ("a", "a", "better")
    assert "above rank:ndcg in xgboost in NDCG@10" in found.recommendation


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


def test_those_within_one_standard_error_are_named():
    values = {(LGB, "a"): (0.6, 0.5), (XGB, "b"): (0.6 - 1e-9, 0.5), (LGB, "far"): (0.2, 0.5)}
    close = made(values, n=400).document["recommendation"]["within_one_standard_error"]
    assert {"framework": LGB, "method": "far"} not in close
    found = made(values, n=400)
    for cell in found.outcomes.runs[:2]:
        cell.valid_per_query[:] = found.outcomes.runs[0].valid_per_query
    assert found.document["recommendation"]["within_one_standard_error"] == [{"framework": XGB, "method": "b"}]
    assert "Within one standard error of a on validation: b in xgboost.\n" in found.recommendation
    found.outcomes.runs[1].valid_per_query[:] -= 0.01  # always, which has no standard error
    assert found.document["recommendation"]["within_one_standard_error"] == []


def test_the_incumbent_is_the_reference_of_its_frameworks(parts):
    """A name in both frameworks is in both; "NAME in FRAMEWORK" in one. LambdaRank is ours, lambdarank LightGBM's."""
    options = {"losses": ["ranknet"], "rounds": 3, "seeds": 1, "num_threads": 1, "progress": False}
    for incumbent, references in (
        (bp.RankNet(), {"RankNet"}),
        ("RankNet in xgboost", {"lambdarank", "RankNet"}),
    ):
        result = bp.compare(*parts, incumbent=incumbent, **options)
        assert {m["reference"] for m in result.document["methods"]} - {None} == references
        assert result.document["recommendation"]["incumbent"]["method"] in references
    for absent in ("CRR", "LambdaRank in lightgbm"):
        with pytest.raises(
            ValueError, match=rf"incumbent must be one of the methods \(lambdarank, .*\), got '{absent}'; a"
        ):
            bp.compare(*parts, incumbent=absent, **options)
