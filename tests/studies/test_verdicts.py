"""The studies of verdicts: what is promised without the queries that chose it is true on average."""

from functools import partial

import numpy as np
import pytest

from boostplug.comparison.summary import Outcome
from studies import true_verdicts, verdicts
from studies.verdicts import Design, Verdict, decided, judged, mean_and_error, record

FOLDS, QUERIES = 5, 40
SCORE = ("none", "score in use")


def invented(seed, *, n_methods=12):
    """Return the record of methods that rank as well as the score in use: their values are chance.

    Each query has one value by a method, in validation and on test, as where all folds have the same model.
    """
    rng = np.random.default_rng(seed)
    values = rng.uniform(0.2, 0.6, QUERIES) + rng.uniform(0.0, 0.4, (n_methods + 1, QUERIES))
    folds = np.split(values, FOLDS, axis=1)
    names = [SCORE, *(("lightgbm", f"method {j}") for j in range(n_methods))]
    runs = [
        {"framework": framework, "method": name, "fold": fold, "seed": 0, "rounds": 1, "rounds_trained": 1}
        | {"validation": folds[(fold + 1) % FOLDS][j].mean(), "test": {"NDCG@10": test[j].mean()}}
        | {"per_query": {"NDCG@10": test[j]}}
        for fold, test in enumerate(folds)
        for j, (framework, name) in enumerate(names)
    ]
    methods = [(name, framework, name, name == SCORE[1]) for framework, name in names]
    fresh = {key: np.zeros((FOLDS + 1, 3)) for key in names}
    return {"methods": methods, "rounds": 2, "patience": None, "runs": runs, "fresh": fresh}


def test_a_method_chosen_without_the_queries_that_test_it_promises_nothing_where_all_are_equal():
    """The best on validation, where each query is a test query too, promises a gain that is not there."""
    found = [invented(seed) for seed in range(30)]
    gain, error = mean_and_error([judged(one).promised for one in found])
    assert abs(gain) < 3.0 * error
    gain, error = mean_and_error([true_verdicts.by_validation(one)[0] for one in found])
    assert gain > 5.0 * error


def test_the_truth_is_that_of_each_folds_pair_on_fresh_queries():
    found = invented(0)
    pairs = decided(found).pairs
    for fold, (ours, theirs) in pairs.items():
        found["fresh"][ours.key][fold] += [0.1 * fold, 0.2, np.nan]
        found["fresh"][theirs.key][fold] += [0.0, 0.1, np.nan]
    assert len({ours for ours, _ in pairs.values()}) > 1
    verdict = judged(found)
    assert verdict.true == pytest.approx((0.2 + 0.1) / 2)
    assert verdict.true_error == pytest.approx(0.05)


def test_an_interval_holds_a_truth_within_its_own_error():
    verdict = partial(Verdict, advised=True, promised=0.1, interval=(0.07, 0.14), queries=50, second=False)
    assert verdict(true=0.13, true_error=0.0).covered
    assert not verdict(true=0.06, true_error=0.0).covered
    assert verdict(true=0.06, true_error=0.03 / 1.96).covered
    assert not verdict(true=0.05, true_error=0.03 / 1.96).covered
    assert verdict(true=0.0, true_error=0.0)._replace(interval=None).covered is None


def test_a_record_holds_the_decision_of_a_comparison_and_its_models_on_other_queries(monkeypatch):
    """Here the other queries are the test queries of a fold, so that the values are known."""
    results = []
    monkeypatch.setattr(verdicts, "record", lambda result, _: results.append(result) or record(result, None))
    verdicts.verdict(Design(name="", n_queries=20, documents=6, signal=1.0, gain=1.0), 0)
    (result,) = results
    for fold, part in enumerate(result.outcomes.data.tests):
        found = record(result, part)
        for key, values in found["fresh"].items():
            (run,) = (one for one in found["runs"] if (one["framework"], one["method"], one["fold"]) == (*key, fold))
            np.testing.assert_allclose(values[fold], run["per_query"]["NDCG@10"], rtol=1e-6)
    assert {method.key for pair in decided(found).pairs.values() for method in pair} <= found["fresh"].keys()
    told, decision = result.document["recommendation"], decided(found)
    assert decision.contrast is not None
    assert decision.outcome == Outcome(told["outcome"])
    assert decision.contrast.difference == pytest.approx(told["difference"], abs=1e-12)
    assert decision.p == pytest.approx(told["p"], abs=0.1)  # sign patterns are drawn
