"""When a comparison gives a verdict of significance, and on what: the cap of rounds, busy processors, few queries."""

import numpy as np
import pytest
from reports import ONE, names_of, row_of

import boostplug as bp
from boostplug.comparison.report.page import page
from boostplug.comparison.report.table import text
from boostplug.comparison.training import frameworks

pytest.importorskip("lightgbm")


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
