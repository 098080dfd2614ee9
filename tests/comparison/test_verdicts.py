"""When a comparison gives a verdict of significance, and on what: the cap of rounds, one p for one question."""

import numpy as np
import pytest

import boostplug as bp
from boostplug.comparison.report.page import page
from boostplug.comparison.report.table import text
from boostplug.comparison.training import frameworks

pytest.importorskip("lightgbm")


@pytest.fixture(scope="module")
def slow_start():
    """Return parts on which one loss learns in fewer rounds than the others."""
    return [bp.datasets.make_ranking(60, random_state=s) for s in range(3)]


def compared(parts, **options):
    return bp.compare(*parts, frameworks="lightgbm", seeds=2, baselines=["lambdarank", "regression"], **options)


def test_no_method_at_the_cap_gets_a_verdict(slow_start):
    result = compared(slow_start, losses=["qbrank"], rounds=5)
    document = result.document
    assert [method["runs_at_cap"] for method in document["methods"]] == [2] * len(document["methods"])
    assert all(method["p"] is None and method["p_holm"] is None for method in document["methods"])
    assert document["recommendation"]["p"] is None
    assert any(method["difference"] is not None for method in document["methods"])
    printed = str(result)
    assert "5 cap" in printed
    assert "No verdict on methods that trained to the cap of 5 rounds" in printed
    assert "significant" not in printed
    assert document["recommendation"]["outcome"] in {"at the cap", "unchallenged"}


class Nothing(bp.Loss):
    """A loss that has nothing to teach, so that early stopping ends its training at once."""

    hessian_kind = "exact"

    def compute_value(self, scores, queries):
        return np.zeros(queries.n_queries)

    def compute_gradient_hessian(self, scores, queries, scale):
        return np.zeros(queries.n_rows), np.ones(queries.n_rows)


def test_beside_a_reference_at_the_cap_there_is_no_verdict(slow_start):
    result = compared(slow_start, losses={"nothing": Nothing()}, rounds=12, early_stopping_rounds=10)
    methods = {m["method"]: m for m in result.document["methods"]}
    assert methods["lambdarank"]["runs_at_cap"]
    assert not methods["nothing"]["runs_at_cap"]
    assert methods["nothing"]["difference"] is not None
    assert methods["nothing"]["p"] is None


def test_without_early_stopping_the_rounds_are_the_users_choice(slow_start):
    result = compared(slow_start, losses=[bp.QBRank()], rounds=3, early_stopping_rounds=None)
    assert not any(method["runs_at_cap"] for method in result.document["methods"])
    assert sum(method["p"] is not None for method in result.document["methods"]) == 2


def test_one_p_for_one_question(slow_start):
    """The column has Holm's p of all; the decision's own, in its sentence, is that of the best on validation."""
    losses = {f"loss {k}": bp.QBRank(preference_weight=w) for k, w in enumerate((0.1, 0.4, 0.7, 1.0))}
    result = compared(slow_start, losses=losses, rounds=2000, early_stopping_rounds=5)
    found, methods = result.document["recommendation"], result.document["methods"]
    assert found["comparisons"] == 0
    own = next(m for m in methods if m["method"] == found["challenger"]["method"])
    assert own["p"] == found["p"] or own["reference"] is None
    tested = [m for m in methods if m["p"] is not None]
    ordered, n = sorted(m["p"] for m in tested), len(tested)
    holm = np.minimum(np.maximum.accumulate([(n - k) * p for k, p in enumerate(ordered)]), 1.0)
    np.testing.assert_allclose(sorted(m["p_holm"] for m in tested), np.sort(holm))
    assert result.document["test"]["comparisons"] == {"lambdarank in lightgbm": n}
    printed = " ".join(str(result).split())
    assert f"corrected by Holm's method ({n} comparisons with lambdarank in lightgbm)" in printed
    assert found["p"] is None or "(not corrected, since validation chose the method)" in printed


def test_the_default_is_a_short_list_and_all_is_every_variant_that_takes_the_labels():
    parts = [bp.datasets.make_ranking(12, random_state=s) for s in range(3)]
    short = bp.compare(*parts, frameworks="lightgbm", rounds=1, seeds=1)
    ours = [m["method"] for m in short.document["methods"] if not m["built_in"]]
    assert ours == ["CRR", "QBRank", "MPBoost(Log)"]
    negative = [bp.RankingData(p.X, p.y - 2.0, qid=p.qid) for p in parts]
    tau = {"metric": "KendallTau", "metrics": [], "baselines": "regression"}
    every = bp.compare(*negative, frameworks="lightgbm", rounds=1, seeds=1, losses="all", **tau)
    names = [m["method"] for m in every.document["methods"] if not m["built_in"]]
    assert len(names) > 12
    assert "NDCGBoost" not in names
    assert any("do not take labels from -2" in note and "NDCGBoost" in note for note in every.document["notes"])
    assert not every.failed


def test_times_are_withheld_where_others_kept_the_processor_busy(monkeypatch):
    parts = [bp.datasets.make_ranking(12, random_state=s) for s in range(3)]
    monkeypatch.setattr(frameworks, "thread_time", lambda: 0.0)  # a thread that never had a processor
    result = bp.compare(*parts, frameworks="lightgbm", rounds=2, seeds=1, losses=[])
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
