"""The protocol of RankBoost+: what it names exists, Rb-d halts as the paper's, and all is judged on a small set."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from boostplug.datasets import make_ranking
from boostplug.rankers import RankBoostRanker
from boostplug.studies.replication import replicate
from boostplug.studies.replication.claims import Ahead, Apart, Nearer, Ranked
from boostplug.studies.replication.rankboost_plus import RANKBOOST_PLUS, HaltingRankBoost
from boostplug.studies.replication.sources import BundledQueries

STUDIES = {study.name: study for study in RANKBOOST_PLUS.studies}
SMALL = tuple(name for name in STUDIES if name.startswith("bundled set, queries"))
TABLE_1 = ("R1", "R2", "NDCG@3", "NDCG@5", "NDCG@7")


def named(claim, *fields):
    found = [getattr(claim, field, ()) for field in fields]
    return {name for one in found for name in ((one,) if isinstance(one, str) else one)}


@pytest.fixture(scope="module")
def result():
    studies = tuple(replace(STUDIES[name], source=BundledQueries(most=3), rounds=12) for name in SMALL)
    kept = {
        field: tuple(one for one in getattr(RANKBOOST_PLUS, field) if one.study in SMALL)
        for field in ("claims", "theorems", "baselines", "figures")
    }
    return replicate(replace(RANKBOOST_PLUS, studies=studies, **kept), num_processes=1)


def test_claims_name_what_their_studies_have():
    for claim in RANKBOOST_PLUS.claims:
        study = STUDIES[claim.study]
        learners = {learner.name for learner in study.learners}
        assert named(claim, "learners", "others", "learner", "other", "order", "near", "far") <= learners
        assert named(claim, "measures", "measure") <= {measure.key for measure in study.measures}
        curves = named(claim, "curve", "to", "halted")
        assert curves <= {measure.key for measure in study.measures} | {*study.traces}
        assert claim.own_data <= (claim.study in {"MovieLens-100k", "MQ2007", "MQ2008"})


def test_checks_name_what_their_studies_have():
    for check in (*RANKBOOST_PLUS.theorems, *RANKBOOST_PLUS.baselines):
        study = STUDIES[check.study]
        assert check.learner in {learner.name for learner in study.learners}
        assert named(check, "curve", "bound") <= {*study.traces}
        assert named(check, "measure") <= {measure.key for measure in study.measures}
    for figure in RANKBOOST_PLUS.figures:
        study = STUDIES[figure.study]
        assert {*figure.measures} <= {measure.key for measure in study.measures} | {*study.traces}


def test_every_claim_quotes_the_paper():
    for source in (
        *(claim.source for claim in RANKBOOST_PLUS.claims),
        *(citation for citation, reason in RANKBOOST_PLUS.not_tested if reason),
    ):
        assert len(source.words.split()) > 3, source
        assert source.where.startswith(("Section", "Appendix", "Introduction", "Conclusion"))
    assert len(RANKBOOST_PLUS.not_tested) == 21


def test_how_much_is_claimed():
    counts = Counter(claim.study for claim in RANKBOOST_PLUS.claims)
    assert counts == {
        "MovieLens-100k": 27,
        "MovieLens-100k, strategies": 2,
        "MSLR queries": 12,
        "MSLR queries, strategies": 2,
        "MQ2007": 3,
        "MQ2008": 4,
        "bundled set, queries": 27,
        "bundled set, queries, strategies": 2,
    }
    ranked = {(claim.study, claim.measure) for claim in RANKBOOST_PLUS.claims if isinstance(claim, Ranked)}
    assert {measure for study, measure in ranked if study == "MSLR queries"} == {*TABLE_1}
    assert {claim.measure for claim in RANKBOOST_PLUS.claims if isinstance(claim, Apart)} == {"R1", "R2"}
    assert {claim.share for claim in RANKBOOST_PLUS.claims if isinstance(claim, Nearer)} == {0.75}


def test_the_exception_of_table_2_is_mq2008s():
    """NDCG on MQ2008, where Rb-c is said to be ahead: there "as good as or better" is not claimed."""
    as_good = {
        (claim.study, claim.measures) for claim in RANKBOOST_PLUS.claims if isinstance(claim, Ahead) and claim.equal
    }
    of_letor = {(study, measures) for study, measures in as_good if study.startswith("MQ")}
    assert of_letor == {("MQ2007", TABLE_1), ("MQ2008", TABLE_1[:2])}
    (exception,) = (c for c in RANKBOOST_PLUS.claims if isinstance(c, Ahead) and c.others == ("Rb+",))
    assert (exception.study, exception.learners, exception.measures) == ("MQ2008", ("Rb-c",), TABLE_1[2:])


def test_every_claim_is_judged_and_every_theorem_passes(result):
    assert not result.failed
    assert len(result.document["claims"]) == 29
    assert {claim["holds"] for claim in result.document["claims"]} <= {"holds", "level", "does not hold"}
    assert len(result.document["theorems"]) == 10
    assert [check["check"] for check in result.document["theorems"] if not check["passes"]] == []
    json.dumps(result.document, allow_nan=False)


def perfect_at(feature_without_errors):
    """Return a set in which one stump makes no error from the start, or features that all make some."""
    data = make_ranking(1, n_features=3, mean_list_size=30, n_grades=3, random_state=5)
    X = data.X.copy()
    if feature_without_errors:
        X[:, 0] = data.y == data.y.max()
    return X, data.y, data.group


def both(X, y, group, rounds):
    params = {"variant": "discrete", "n_estimators": rounds, "random_state": 0}
    return (kind(**params).fit(X, y, group=group) for kind in (HaltingRankBoost, RankBoostRanker))


def test_rb_d_halts_before_the_round_in_which_its_weight_is_undefined():
    X, y, group = perfect_at(feature_without_errors=False)
    halting, whole = both(X, y, group, 100)
    at = int(np.argmax(whole.history_["undefined"] > 0))
    assert at > 1
    assert halting.stop_reason_ == "(14) is undefined"
    assert halting.history_["halted"].tolist() == [0.0] * at + [1.0]
    assert halting.history_["e1"][:at].tolist() == whole.history_["e1"][:at].tolist()
    assert halting.history_["e1"][at] == halting.history_["e1"][at - 1] > whole.history_["e1"][at]
    scores = list(whole.staged_predict(X))[at - 1]
    np.testing.assert_allclose(halting.predict(X), scores, rtol=1e-12)


def test_the_first_stump_is_kept_even_so():
    halting, whole = both(*perfect_at(feature_without_errors=True), 5)
    assert whole.history_["undefined"][0] == 1.0
    assert halting.history_["halted"].tolist() == [1.0]
    assert halting.model_.rounds == whole.model_.rounds[:1]


def test_rb_d_that_never_halts_is_rb_d():
    halting, whole = both(*perfect_at(feature_without_errors=False), 2)
    assert halting.stop_reason_ == whole.stop_reason_ == "n_estimators"
    assert halting.model_.rounds == whole.model_.rounds
    assert not halting.history_["halted"].any()
