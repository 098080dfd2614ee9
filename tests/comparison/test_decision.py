"""The decision: the incumbent stays unless another method is significantly better on test, below the cap of rounds."""

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest
import reports
from reports import ONE, names_of, row_of

import boostplug as bp
from boostplug.comparison.report.page import page
from boostplug.comparison.report.table import text
from boostplug.comparison.summary import Outcome
from boostplug.comparison.training import frameworks
from boostplug.comparison.training.frameworks import FRAMEWORKS
from boostplug.comparison.training.runs import Method, MethodRun

pytest.importorskip("lightgbm")


def invented(values, *, metric="NDCG@10", seeds=(0,), n=40, trained=6, folds=1, spread=0.01, **more):
    """Return a result of invented runs.

    `values` holds the validation and the test value of each framework and name: a pair, or a list of pairs by seed, or
    by fold where there are several.
    """
    metric = bp.Metric.parse(metric)
    parts = [reports.part_of(n, fold, n_features=2, mean_list_size=6) for fold in range(folds)]
    methods = []
    for framework, name in values:
        own = FRAMEWORKS[framework].baselines
        methods.append(Method(name, framework, name if name in own else bp.RankNet(), name == own[0]))
    runs = []
    for (fold, part), method, seed in product(enumerate(parts), methods, seeds):
        of_run = values[method.framework, method.name]
        of_run = of_run[seed if folds == 1 else fold] if isinstance(of_run, list) else of_run
        run = partial(MethodRun, framework=method.framework, method=method.name, fold=fold, seed=seed)
        if of_run == "failed":
            runs.append(run(error="broken"))
        elif of_run is not None:
            validation, test = of_run
            noise = np.random.default_rng(fold).normal(0, 0.02, n)
            on_test = test + noise + np.random.default_rng(len(runs)).normal(0, spread, n)
            on_test[np.isnan(metric.per_query(np.zeros(part.queries.n_rows), part.queries))] = np.nan
            of_test = {"test": {metric.name: float(np.nanmean(on_test))}, "per_query": {metric.name: on_test}}
            of_training = {"rounds": 5 + seed, "rounds_trained": trained + seed, "seconds_per_round": 1.0}
            runs.append(run(**of_training, validation=validation, **of_test))
    return reports.result_of(methods, parts, metric, runs, seeds=seeds, **more)


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
        {**IN_USE, (LGB, "a"): (0.6, 0.501)}, {},
        "Keep lambdarank: a does not rank significantly better.",
        "more test queries on which the metric is defined, some",
    ),
    Outcome.WORSE: (
        {**IN_USE, (LGB, "a"): (0.6, 0.4)}, {},
        "Keep lambdarank: a ranks significantly worse.",
        "The validation part misleads here, so choose on more validation queries.",
    ),
    Outcome.AT_CAP: (
        {**IN_USE, (LGB, "a"): (0.6, 0.6)}, {"trained": 9},
        "No verdict yet, so keep lambdarank: trainings ended at the cap of 9 rounds.",
        "there is no p, because more rounds might change it, over 36 test queries.",
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
    found = invented(values, **options)
    recommended = "a" if outcome in (Outcome.BETTER, Outcome.NO_INCUMBENT) else "lambdarank"
    assert chosen(found) == (recommended, "lambdarank" if outcome is Outcome.UNCHALLENGED else "a", outcome.value)
    assert found.recommendation.splitlines()[0] == head
    assert words in " ".join(found.recommendation.split())
    assert isinstance(found.best.get_params()["objective"], str) == (recommended == "lambdarank")
    assert found.recommendation.splitlines()[-1].startswith("    model = bp.LGBMRanker(objective=")
    if outcome in (Outcome.BETTER, Outcome.LEVEL, Outcome.WORSE):  # one p for one question
        assert found.document["recommendation"]["p"] == reports.row_of(found, "a")["p"]


def test_lower_is_better_for_errors():
    found = invented({(LGB, "lambdarank"): (0.3, 0.3), (LGB, "a"): (0.2, 0.2)}, metric="PairError")
    assert chosen(found) == ("a", "a", "better")
    assert "has PairError .1996, .0988 below lambdarank (.2984): better on 35 of 35" in found.recommendation
    assert "Its 95 % interval is -" in found.recommendation
    found = invented({(LGB, "lambdarank"): (0.3, 0.2), (LGB, "a"): (0.2, 0.3)}, metric="PairError")
    assert chosen(found) == ("lambdarank", "a", "worse")
    assert "better on 0 of 35 queries, worse on 35.\nIts 95 % interval is +" in found.recommendation


def test_another_that_is_clearly_better_takes_the_place_of_the_best_on_validation():
    """By Holm's p below .01, since the test part has chosen it."""
    others = {(LGB, "b"): (0.55, 0.6), (LGB, "c"): (0.54, 0.7), (LGB, "d"): (0.53, 0.5)}
    others |= {(LGB, "behind"): (0.49, 0.9)}  # on validation
    found = invented({**IN_USE, (LGB, "a"): (0.6, 0.4), **others})
    assert chosen(found) == ("b", "b", "better")
    assert found.document["recommendation"]["comparisons"] == 5
    assert "On test b, by validation NDCG@10 the best of those clearly better there, has" in found.recommendation
    assert "p <.001 (corrected for 5 comparisons)" in found.recommendation
    assert found.document["recommendation"]["p"] == reports.row_of(found, "b")["p_holm"]
    found = invented({**IN_USE, (LGB, "a"): (0.6, 0.4), (LGB, "behind"): (0.49, 0.9)})
    assert chosen(found) == ("lambdarank", "a", "worse")
    barely = invented({**IN_USE, (LGB, "a"): (0.6, 0.4), (LGB, "b"): (0.55, 0.53)}, spread=0.07)
    assert 0.01 < reports.row_of(barely, "b")["p_holm"] < 0.05  # of the table, where it is marked
    assert chosen(barely) == ("lambdarank", "a", "worse")


def test_a_difference_that_is_just_significant_is_said_to_promise_too_much():
    """Where only large differences are significant, those that are come from luck too: docs/results/verdicts.md."""
    words = "A difference that is just significant is too large on average, so expect one in the half of its interval "
    words += "that is nearer to 0."
    for value, is_just in ((0.53, True), (0.6, False)):
        found = invented({**IN_USE, (LGB, "a"): (0.6, value)}, spread=0.05)
        assert chosen(found)[2] == "better"
        assert (words in found.recommendation) == is_just


def test_with_folds_each_fold_tests_what_the_others_choose():
    """The best on validation, and on a fold's own queries, has no say there."""
    a, b = [(0.9, 0.9), (0.9, 0.6), (0.9, 0.5)], [(0.1, 0.5), (0.1, 0.6), (0.1, 0.9)]
    found = invented({**IN_USE, (LGB, "a"): a, (LGB, "b"): b}, folds=3, spread=0.0)
    row = found.document["recommendation"]
    # Fold 1 tests b, which has .6 and .9 in the others; fold 3 tests a. In fold 2 a and b are level.
    assert row["difference"] == pytest.approx((0.0 + 0.1 + 0.0) / 3, abs=1e-3)
    assert [one["method"] for one in row["chosen"]] == ["b", row["chosen"][1]["method"], "a"]
    a = [(0.1, 0.6), (0.1, 0.7), (0.1, 0.65)]
    found = invented({**IN_USE, (LGB, "a"): a, (LGB, "lucky"): [(0.9, 0.8), (0.9, 0.5), (0.9, 0.4)]}, folds=3)
    row = found.document["recommendation"]
    assert chosen(found) == ("a", "a", "better")
    assert ([one["method"] for one in row["chosen"]], row["comparisons"]) == (["a"] * 3, 0)
    table = found.to_frame().set_index("method")
    assert row["difference"] == pytest.approx(table.loc["a", "difference"])
    lines = found.recommendation.splitlines()
    assert lines[1].startswith("On test a, the best of 3 over all folds, has NDCG@10 .6")
    assert lines[2].startswith("Chosen without the queries that test it, the method is .1")
    assert lines[2].endswith("worse on 0; all 3 folds choose it.")
    assert "(not corrected, since each query tests what others chose)" in lines[3]


def test_the_sentence_says_how_many_folds_agree_and_the_outcome_in_the_table_is_its_own():
    b = [(0.5, 0.75), (0.5, 0.5), (0.5, 0.5)]
    found = invented({**IN_USE, (LGB, "a"): (0.5, 0.6), (LGB, "b"): b}, folds=3)
    row = found.document["recommendation"]
    assert row["challenger"]["method"] == "a"
    assert [one["method"] for one in row["chosen"]].count("a") == 1
    assert "; 1 of 3 folds chooses it." in found.recommendation
    assert chosen(found)[2] == "better"
    found = invented({**IN_USE, (LGB, "b"): [(0.5, 0.9), (0.5, 0.5), (0.5, 0.4)]}, folds=3)
    assert chosen(found) == ("lambdarank", "b", "level")
    row = found.to_frame().set_index("method").loc["b"]
    assert (row["outcome"], row["difference"] > 0, row["p_holm"] < 0.05) == ("level", True, True)


def test_a_query_that_a_fold_tests_has_no_say_there_in_other_folds_too():
    """Folds that all test the same queries have no others, so validation chooses."""
    values = {**IN_USE, (LGB, "a"): (0.6, 0.5), (LGB, "b"): (0.4, 0.7)}
    found = invented(values, folds=2)
    assert found.document["recommendation"]["challenger"]["method"] == "b"
    data = found.outcomes.data
    data.folds = [data.folds[0], [*data.folds[1][:2], data.folds[0][2]]]
    again = type(found)(replace(found.outcomes, data=replace(data)))
    pairs = again._decision.pairs
    assert {ours.name for ours, _ in pairs.values()} == {"a"}


def test_of_two_frameworks_one_method_is_the_incumbent():
    values = {(LGB, "lambdarank"): (0.5, 0.9), (XGB, "rank:ndcg"): (0.49, 0.5), (XGB, "a"): (0.6, 0.6)}
    found = invented(values)
    assert chosen(found) == ("lambdarank", "a", "worse")
    assert "below lambdarank in lightgbm (.8985)" in found.recommendation
    assert "; rank:ndcg in xgboost has .4" in found.recommendation
    found = invented({**values, (XGB, "rank:ndcg"): (0.51, 0.5)})
    assert chosen(found) == ("a", "a", "better")
    assert "above rank:ndcg in xgboost (.4" in found.recommendation


@pytest.mark.parametrize(
    ("name", "verdict"), [("lambdarank", "Keep lambdarank: it is {}."), ("a", "Take a: it is {}, and")]
)
def test_the_only_method_is_not_the_best_of_several(name, verdict):
    found = invented({(LGB, name): (0.6, 0.6)})
    assert found.recommendation.startswith(verdict.format("the only method"))
    found = invented({(LGB, name): (0.6, 0.6), (LGB, "b"): "failed"})
    assert found.recommendation.startswith(verdict.format("the only method that has finished"))


def test_what_failed_is_no_incumbent_and_what_failed_in_part_is_not_recommended():
    found = invented({(LGB, "lambdarank"): "failed", (LGB, "a"): (0.6, 0.6), (LGB, "b"): (0.5, 0.5)})
    assert chosen(found) == ("a", "a", "no incumbent")
    whole, half = [(0.5, 0.5), (0.5, 0.5)], [(0.9, 0.9), "failed"]
    found = invented({(LGB, "lambdarank"): whole, (LGB, "a"): half, (LGB, "b"): [(0.6, 0.6)] * 2}, seeds=(0, 1))
    row = found.document["recommendation"]
    assert (row["method"], row["among"], row["runs"]) == ("b", 2, 2)
    assert row["rounds"] == 6  # the mean of 5 and 6, halves up


def test_an_interrupted_comparison_is_judged_by_what_all_have_finished():
    lucky, late = [(0.5, 0.5), (0.95, 0.5)], [(0.6, 0.6), None]
    found = invented({(LGB, "lambdarank"): lucky, (LGB, "a"): late}, seeds=(0, 1), interrupted=True)
    row = found.document["recommendation"]
    assert (row["method"], row["among"], row["runs"], row["rounds"]) == ("a", 2, 1, 5)
    assert "The comparison was interrupted: this holds for the finished runs only." in found.recommendation
    found = invented(
        {(LGB, "lambdarank"): [(0.5, 0.5), None], (LGB, "a"): [None, None]}, seeds=(0, 1), interrupted=True
    )
    assert found.document["recommendation"]["method"] == "lambdarank"


def test_the_incumbent_is_the_reference_of_its_frameworks(parts):
    """A name in both frameworks is in both; "NAME in FRAMEWORK" in one. LambdaRank is ours, lambdarank LightGBM's."""
    options = {**reports.QUICK, "losses": "ranknet"}
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


# --- cap of rounds, times, advice -------------------------------------------------------------------------------------


class Nothing(bp.Loss):
    """A loss that has nothing to teach, so that early stopping ends its training at once."""

    hessian_kind = "exact"

    def compute_value(self, scores, queries):
        return np.zeros(queries.n_queries)

    def compute_gradient_hessian(self, scores, queries, scale):
        return np.zeros(queries.n_rows), np.ones(queries.n_rows)


def test_no_method_at_the_cap_or_beside_one_gets_a_verdict(parts):
    losses = {"nothing": Nothing(), "ours": bp.QBRank()}
    result = bp.compare(*parts, **{**ONE, "losses": losses, "rounds": 12, "early_stopping_rounds": 10, "seeds": 2})
    document = result.document
    assert [method["runs_at_cap"] for method in document["methods"]] == [2, 0, 2]
    assert all(method["p"] is None and method["p_holm"] is None for method in document["methods"])
    assert document["recommendation"]["p"] is None
    assert row_of(result, "nothing")["difference"] is not None
    printed = str(result)
    assert printed.count(" cap") > 2
    assert "No verdict on methods that trained to the cap of 12 rounds" in printed
    assert "significant" not in printed
    assert document["recommendation"]["outcome"] in {"at the cap", "unchallenged"}


def test_without_early_stopping_the_rounds_are_the_users_choice(parts):
    result = bp.compare(*parts, **ONE, early_stopping_rounds=None)
    assert not any(method["runs_at_cap"] for method in result.document["methods"])
    assert row_of(result, "RankNet")["p"] is not None


def test_the_default_is_a_short_list_and_all_is_every_variant_that_takes_the_labels(tiny):
    some = {"baselines": "regression", "frameworks": "lightgbm", "rounds": 1, "seeds": 1}
    assert names_of(bp.compare(*tiny, **some))[1:] == ["CRR", "QBRank", "MPBoost(Log)"]
    negative = [bp.RankingData(p.X, p.y - 2.0, qid=p.qid) for p in tiny]
    every = bp.compare(*negative, **some, losses="all", metric="KendallTau", metrics=[])
    assert len(names_of(every)) > 13
    assert "NDCGBoost" not in names_of(every)
    assert any("do not take labels from -2" in note and "NDCGBoost" in note for note in every.document["notes"])
    assert not every.failed


def test_times_are_withheld_where_others_kept_the_processor_busy(tiny, monkeypatch):
    monkeypatch.setattr(frameworks, "thread_time", lambda: 0.0)  # a thread that never had a processor
    result = bp.compare(*tiny, **ONE)
    document = result.document
    assert all(m["seconds_per_round"] is None for m in document["methods"])
    for written in (" ".join(str(result).split()), page(document)):
        assert "No times, because other programs or trainings kept the processor busy" in written
        assert "ms/round" not in written


def test_the_next_step_says_how_many_queries_a_difference_of_this_size_needs(settled):
    """The interval is as wide as 1/√n, so four times the queries halve it; 80 % probability takes twice as many."""
    document = settled.document
    document["recommendation"] |= {
        "outcome": "level", "incumbent": {"framework": "lightgbm", "method": "lambdarank", "test": 0.5},
        "difference": 0.01, "interval": [-0.01, 0.03], "p": 0.4, "queries": 100, "better": 50, "worse": 40,
    }  # fmt: skip
    document["test"]["queries"] = document["data"]["test"]["queries"]
    needs = "With about 720 more test queries a difference of this size is significant with 80 % probability"
    assert needs in " ".join(text(document).split())
    document["test"]["queries"] /= 2
    needs = "720 more test queries on which the metric is defined, some 1,400 queries in all, a difference"
    assert needs in " ".join(text(document).split())
    document["recommendation"] |= {"difference": 0.0001, "interval": [-0.0199, 0.0201]}
    assert "A difference this small would need more than 100 times as many test queries" in " ".join(
        text(document).split()
    )
