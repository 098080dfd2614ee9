"""The score in use, read as it is meant: worse than chance, constant, missing, or the label itself."""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from reports import ONE

import boostplug as bp
from boostplug.comparison.inputs.today import in_random_order
from boostplug.metrics import METRICS

pytest.importorskip("lightgbm")

N, SIZE = 150, 8
QUICK = {**ONE, "losses": (), "features": ["x", "z"], "label": "booked", "qid": "search"}


def bookings(n=N, seed=0):
    """Return searches in which one hotel was booked, with the score and the positions by which they were shown."""
    rng = np.random.default_rng(seed)
    x, z, noise = rng.normal(size=(3, n, SIZE))
    score = x + noise
    booked = (x + 0.5 * noise + rng.gumbel(size=(n, SIZE))).argmax(1)
    columns = {"x": x, "z": z, "score": score, "position": (-score).argsort(1).argsort(1) + 1}
    frame = pd.DataFrame({name: values.ravel() for name, values in columns.items()})
    frame["booked"] = (np.arange(SIZE) == booked[:, None]).ravel() * 1
    frame["search"] = np.repeat(np.arange(n) + 100, SIZE)
    frame["part"] = np.repeat(np.repeat(["train", "valid", "test"], n // 3), SIZE)
    return frame


def compared(frame, today, **options):
    return bp.compare(frame, **{**QUICK, "split": "part", **options}, today=today)


def about(result, name="the column 'score'"):
    """Return the warnings that begin with a name; those that are reasons begin the recommendation too."""
    found = [line for line in result.document["warnings"] if line.lower().startswith(name)]
    reasons = [line for line in found if "The comparison judges on these" not in line]
    assert result.document["recommendation"]["reasons"] == [f"t{line[1:-1]}" for line in reasons]
    assert result.recommendation.startswith("Do not rely on this yet: the ") == bool(reasons)
    return found


# --- chance ----------------------------------------------------------------------------------------------------------

RANKS = [
    *(kind() for kind in METRICS.values() if "ties" in kind().parameters()),
    *(METRICS[name](2, ties="order") for name in ("NDCG", "DCG", "MRR", "MAP", "Precision", "Recall")),
    *(METRICS[name](2, empty=0) for name in ("ERR", "NDCG")),
    *(METRICS[name](ties="order") for name in ("PairError", "KendallTau", "SpearmanRho", "Bpref", "WTA", "RPrecision")),
    bp.NDCG(3, convention="letor"),
    bp.PairError(ties="half", pooled=True),
    bp.RBP(0.5, max_grade=4, ties="order"),
    bp.NDCG(2).on("sale"),
    bp.DCG(2, gain="linear", ties="order").on("sale"),
]


@pytest.mark.parametrize("metric", RANKS, ids=lambda metric: metric.name)
def test_chance_is_the_mean_over_all_orders(metric):
    labels, labelled = np.array([2, 0, 1, 1, 0, 4, 0, 1, 0]), np.ones(9, bool)
    labelled[4] = False
    sale = np.array([0.0, 1.5, np.nan, 0.0, 2.0, 0.0, 0.0, 1.0, 0.0])
    queries = bp.Queries(labels, group=[5, 3, 1], labelled=labelled, labels_by_name={"sale": sale})
    chance = in_random_order(metric)
    for first, n in ((0, 5), (5, 3), (8, 1)):
        values = []
        for order in permutations(range(n)):
            scores = np.zeros(9)
            scores[first : first + n] = order
            values.append(metric.per_query(scores, queries)[[0, 5, 8].index(first)])
        found = chance.per_query(np.zeros(9), queries)[[0, 5, 8].index(first)]
        assert found == pytest.approx(np.mean(values), abs=1e-12, nan_ok=True)


@dataclass(frozen=True)
class Own(bp.Metric):
    ties: str = "of its own kind"

    def compute_per_query(self, scores, queries):
        return np.maximum.reduceat(scores, queries.boundaries[:-1])


@pytest.mark.parametrize("metric", [bp.LogLoss(), bp.ECE(), bp.ChoiceLogLoss(), bp.LogLoss().on("sale"), Own()])
def test_metrics_of_probabilities_and_unknown_ones_have_no_chance(metric):
    assert in_random_order(metric) is None


@pytest.mark.parametrize("metric", ["NDCG@10", "PairError", "KendallTau", "NDCG(3, ties='order')", "MRR.on(booked)"])
def test_a_score_worse_than_chance_is_named_with_both_figures(metric):
    frame, metric = bookings(), bp.Metric.parse(metric)
    options = {"metric": metric, "metrics": [], "labels": ["booked"]}
    (line,) = about(wrong := compared(frame, "position", **options), "the column 'position'")
    ours = wrong.per_query.query("method == 'column position'")[metric.name].mean()
    test = frame[frame["part"] == "test"]
    queries = bp.Queries(test["booked"], qid=test["search"], labels_by_name={"booked": test["booked"]})
    chance = in_random_order(metric)(np.zeros(len(test)), queries)
    figures = f"({metric.name} {ours:.4f}, chance {chance:.4f})".replace(" 0.", " .")
    assert line == (
        f"The column 'position' ranks worse than a random order {figures}; if less is better, pass today='-position' "
        "(--today=-position)."
    ).replace("-0.", "-.")
    assert about(compared(frame, "-position", **options), "the column '-position'") == []


def test_less_is_better_and_the_order_are_asked_about_too():
    frame = bookings()
    (line,) = about(compared(frame, "-score"), "the column '-score'")
    assert line.endswith("if more is better, pass today='score' (--today=score).")
    filled = compared(frame.assign(score=-frame["score"].where(frame.index != 1199)), "-score")
    assert "49 of 50 test queries have it in all rows" in about(filled, "the column '-score'")[0]
    assert "fill it with a number above all others" in about(filled, "the column '-score'")[0]
    worst_first = frame.sort_values(["search", "position"], ascending=[True, False])
    (line,) = about(compared(worst_first, "order"), "the order of the rows")
    assert "sort them so that the top of each list comes first" in line
    best_first = frame.sort_values(["search", "position"])
    assert about(compared(best_first, "order"), "the order of the rows") == []


def test_propensities_that_are_too_strong_are_a_reason_too():
    options = {"metric": "DCG@10", "position": "position", "propensity": 0.3 ** np.arange(SIZE), "baselines": ()}
    (line,) = about(compared(bookings(), "score", **options))
    assert line.startswith("The column 'score' ranks worse than a random order (DCG@10(linear).on(ips) ")
    assert line.endswith("pass today='-score' (--today=-score); or the propensities are too strong.")
    train, valid, test = (part.drop(columns="part") for _, part in bookings().groupby("part", sort=False))
    judged = [part.drop(columns="position") for part in (valid, test)]
    given = QUICK | options | {"metric": "NDCG@10", "losses": bp.RankNet(), "today": "-score"}
    (line,) = about(bp.compare(train, *judged, **given), "the column '-score'")
    assert line.endswith("pass today='score' (--today=score).")


def test_a_score_level_with_chance_is_no_reason():
    for seed in range(5):
        frame = bookings(60, seed)
        frame["score"] = np.random.default_rng(seed).random(len(frame))
        assert about(compared(frame, "score", baselines=())) == []


def test_a_query_of_several_folds_counts_once():
    frame, rng = bookings(30), np.random.default_rng(3)
    train, valid, test = (part.drop(columns="part") for _, part in frame.groupby("part", sort=False))
    test["score"] *= np.where(rng.random(len(test)) < 0.75, -1.0, 1.0)  # below chance, not significantly
    for folds in ([(train, valid, test)], [(train, valid, test)] * 8):
        assert about(bp.compare(folds, **QUICK | {"baselines": ()}, today="score")) == []


def test_weights_of_queries_count():
    frame = bookings()
    is_right = frame["search"] % 10 == 0
    frame["score"] *= np.where(is_right, 1.0, -1.0)
    assert len(about(compared(frame, "score"))) == 1
    assert about(compared(frame.assign(weight=np.where(is_right, 1.0, 0.01)), "score", weight="weight")) == []


# --- constant --------------------------------------------------------------------------------------------------------


def test_a_score_that_is_constant_in_most_queries_is_named():
    frame, lists = bookings(), bookings()["search"] - 200  # of the test part from 0 to 49
    most, half = (frame.assign(score=frame["score"].where(lists >= n_constant, 1.0)) for n_constant in (26, 25))
    (line,) = about(compared(most, "score"))
    assert line.startswith("The column 'score' has the same value in all rows of 26 of 50 test queries, so it ranks ")
    assert about(compared(half, "score")) == []


def test_rows_without_a_value_do_not_hide_a_constant_score():
    frame = bookings()
    first = frame["position"].eq(1)
    found = about(compared(frame.assign(score=np.where(first, np.nan, 1.0)), "score"))
    assert any("has the same value in all rows of 50 of 50 test queries" in line for line in found)
    alone = frame.assign(score=frame["score"].where(first | frame["search"].lt(220)))  # one value in 30 lists
    assert not any("the same value" in line for line in about(compared(alone, "score")))


# --- missing values --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def some_missing():
    """A frame in which ten of fifty test queries, and some others, lack a score in one row or in all."""
    frame = bookings()
    lacks = frame["search"].isin([105, 160]) | (frame["position"].eq(2) & frame["search"].between(200, 206))
    return frame.assign(score=frame["score"].mask(lacks | frame["search"].isin([220, 230, 249])))


def test_the_comparison_judges_on_queries_that_have_the_score(some_missing):
    result = compared(some_missing, "score")
    complete = some_missing[~some_missing["search"].isin([*range(200, 207), 220, 230, 249])]
    there = compared(complete, "score")
    assert about(there) == []
    pd.testing.assert_frame_equal(result.per_query, there.per_query)
    document = result.document
    assert [document["data"][name]["queries"] for name in ("train", "valid", "test")] == [50, 50, 40]
    assert document["test"]["queries"] == 40
    values = result.per_query.query("method == 'column score'")["NDCG@10"]
    test = some_missing[some_missing["part"] == "test"]
    last = bp.NDCG(10).score(test["booked"], test["score"].fillna(-99.0), qid=test["search"])
    (line,) = about(result)
    assert line == (
        "The column 'score' has no value in 31 of 400 test rows, and 40 of 50 test queries have it in all rows. The "
        f"comparison judges on these: the score in use has NDCG@10 {values.mean():.4f} there, and {last:.4f} on all "
        "with such rows last. To judge on all, fill it with a number below all others if such rows are shown last."
    ).replace(" 0.", " .")


def test_with_too_few_queries_nothing_is_left_out():
    frame = bookings()
    frame.loc[frame["search"].between(200, 220) & frame["position"].eq(3), "score"] = np.nan
    result = compared(frame, "score")
    assert result.document["data"]["test"]["queries"] == 50
    (line,) = about(result)
    assert line == (
        "The column 'score' has no value in 21 of 400 test rows, and 29 of 50 test queries have it in all rows; fill "
        "it with a number below all others if such rows are shown last."
    )
    filled = compared(frame.assign(score=frame["score"].fillna(-99.0)), "score")
    pd.testing.assert_frame_equal(result.per_query, filled.per_query)
    assert about(filled) == []


def test_folds_are_judged_on_queries_that_have_the_score():
    frame = bookings()
    frame.loc[frame["search"].between(110, 130) & frame["position"].eq(3), "score"] = np.nan
    result = compared(frame.drop(columns="part"), "score", split=None, folds=3)
    assert result.document["data"]["test"]["queries"] == result.per_query["query"].nunique() == 129
    assert not result.per_query["query"].between(110, 130).any()
    assert "129 of 150 test queries have it in all rows" in about(result)[0]
    one_fold = frame.assign(score=frame["score"].mask(frame["search"].isin(result.outcomes.data.tests[0].ids)))
    result = compared(one_fold.drop(columns="part"), "score", split=None, folds=3)  # which would have no test queries
    assert result.document["data"]["test"]["queries"] == 150
    assert not result.failed


def test_queries_of_arrays_keep_their_numbers(some_missing):
    """Queries that are left out leave gaps, which do not make numbers ids of the same queries in several parts."""
    names, parts = ["score", "x", "z"], []
    for _, part in some_missing.groupby("part", sort=False):
        X, numbers = part[names].to_numpy(), part["search"] - part["search"].min()
        parts.append(bp.RankingData(X, part["booked"], qid=numbers, feature_names=names))
    result = bp.compare(*parts, **ONE | {"losses": ()}, today="score")
    assert sorted(set(range(50)) - set(result.per_query["query"])) == [0, 1, 2, 3, 4, 5, 6, 20, 30, 49]
    assert len(about(result)) == len(result.document["warnings"]) == 1


def test_weighed_clicks_are_judged_on_queries_that_have_the_score(some_missing):
    theta = 1.0 / np.arange(1, SIZE + 1)
    options = {"losses": None, "metric": "DCG@10", "position": "position", "propensity": theta}
    result = compared(some_missing, "score", **options)
    assert result.document["data"]["test"]["queries"] == 40
    (line,) = about(result)
    assert "the score in use has DCG@10(linear).on(ips) " in line


def test_runs_are_resumed_only_with_the_same_scores(some_missing, tmp_path):
    options = {"store": tmp_path / "runs.jsonl"}
    first = compared(some_missing, "score", **options)
    again = compared(some_missing, "score", **options, resume=True)
    pd.testing.assert_frame_equal(first.per_query, again.per_query)
    with pytest.raises(ValueError, match="holds no results of this comparison"):
        compared(some_missing.fillna({"score": -9.0}), "score", **options, resume=True)


# --- the label -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("today", ["booked", "-booked", "copy", "scaled", "plus"])
def test_the_label_is_no_score_in_use(today):
    frame = bookings()
    frame = frame.assign(copy=frame["booked"], scaled=frame["booked"] * 2.5, plus=frame["booked"] + 1)
    with pytest.raises(ValueError, match=f"today='{today}': the column '{today}' orders the rows exactly as the label"):
        compared(frame, today)


def test_a_score_close_to_the_label_is_taken():
    frame = bookings()
    frame["score"] = frame["booked"].where(frame["search"] != 120, 1 - frame["booked"])
    result = compared(frame, "score")
    assert result.per_query.query("method == 'column score'")["NDCG@10"].mean() == 1.0
