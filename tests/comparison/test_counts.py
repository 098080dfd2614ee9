"""The verdict in plain counts: against a loop over queries and documents, by the kind of labels, in words."""

import html
import re
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
import reports

import boostplug as bp
from boostplug.comparison.inputs.columns import TODAY
from boostplug.comparison.significance import pooled_test
from boostplug.comparison.training.runs import Method, MethodRun

pytest.importorskip("lightgbm")

SEARCHES = {**reports.QUICK, "label": "booked", "qid": "search", "today": "old", "frameworks": "lightgbm"}
SEARCHES |= {"losses": "ranknet", "baselines": (), "rounds": 20, "early_stopping_rounds": 3, "seeds": 2}
PARTS = {"split": (0.4, 0.2, 0.4)}


def searches(kind, n=60, size=8, seed=0):
    """Return searches in which the price counts, and the score in use, which has ties, does not know it."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"search": np.repeat(np.arange(n) * 3 + 7, size), "price": rng.normal(size=n * size)})
    frame["old"] = rng.integers(0, 4, n * size)
    utility = (frame["old"] * 0.4 - 2 * frame["price"] + rng.gumbel(size=n * size)).to_numpy().reshape(n, size)
    best = utility >= np.sort(utility, axis=1)[:, -2:-1]
    labels = {"one": utility == utility.max(axis=1, keepdims=True), "several": best, "grades": best * 1 + (utility > 3)}
    labels[kind][::9] = 0  # lists without a choice
    return frame.assign(booked=labels[kind].astype(float).ravel())


def places(scores, label):
    """Return the place of a document with the label in each of the equally likely orders of ties, by a plain loop."""
    found = []
    for i in np.flatnonzero(label > 0):
        above = sum(score > scores[i] for score in scores)
        tied = sum(score == scores[i] for score in scores)
        found.append((label[i], [above + 1 + k for k in range(tied)]))
    return found


def loop(kind, scores, labels):
    """Return the counts of one query."""
    in_first = [[np.mean([place <= k for place in of]) for _, of in places(scores, labels)] for k in (1, 3)]
    first, top = (sum(shares) for shares in in_first)
    if kind == "grades":
        return sum(label * share for (label, _), share in zip(places(scores, labels), in_first[0], strict=True)), top
    if not (labels > 0).any():
        return (np.nan, np.nan, np.nan)[: 3 if kind == "one" else 2]
    if kind == "several":
        return first, top / (labels > 0).sum()
    return first, top, np.mean(places(scores, labels)[0][1])


def looped(kind, comparison, method):
    """Return the counts of each query as arrays by fold, the means over the method's seeds."""
    found = []
    for fold, part in enumerate(comparison.data.tests):
        rows = [slice(*ends) for ends in pairwise(part.queries.boundaries)]
        runs = [run for run in comparison.runs_of(method) if run.fold == fold]
        values = [[loop(kind, run.scores[r], part.queries.labels[r]) for r in rows] for run in runs]
        found.append(np.mean(values, axis=0))
    return found


def mean(values, weights):
    """Return the mean over folds of the mean over the queries that have a value."""
    of_folds = []
    for of_fold, weight in zip(values, weights, strict=True):
        known = ~np.isnan(of_fold)
        of_folds.append(np.average(of_fold[known], weights=weight[known]))
    return np.mean(of_folds)


@pytest.fixture(scope="module", params=["one", "several", "grades"])
def compared(request):
    """The kind of the labels, and a comparison: folds or one split, with weights for several choices."""
    frame, kind = searches(request.param), request.param
    more = {"folds": 3} if kind == "one" else {**PARTS}
    if kind == "several":
        frame["weight"] = frame["search"] % 4 + 1.0
        more["weight"] = "weight"
    return kind, bp.compare(frame, **SEARCHES, **more)


def test_counts_and_their_intervals_are_those_of_a_loop(compared):
    kind, result = compared
    comparison, decision = result.outcomes, result._decision
    ours, theirs = (looped(kind, comparison, method) for method in (decision.challenger, decision.incumbent))
    tests = [part.queries for part in comparison.data.tests]
    weights = [np.ones(q.n_queries) if q.query_weight is None else q.query_weight for q in tests]
    factors = {"one": (1000, 1000, 1), "several": (1000, 100), "grades": (1, 1000)}[kind]
    counts = result.document["recommendation"]["counts"]["counts"]
    for i, (count, factor) in enumerate(zip(counts, factors, strict=True)):
        a, b = ([factor * values[:, i] for values in of_folds] for of_folds in (ours, theirs))
        test = pooled_test(a, b, weight=weights, counts="sets", flips=1).widened(decision.widening)
        assert count["interval"] == pytest.approx(test.interval)
        assert count["challenger"] == pytest.approx(mean(a, weights))
        assert count["incumbent"] == pytest.approx(mean(b, weights))
        assert count["difference"] == pytest.approx(mean(a, weights) - mean(b, weights))
        assert count["difference"] != 0.0


@pytest.fixture(scope="module")
def divided():
    """Two methods of which the folds choose different ones, and random scores in use."""
    rng, metric = np.random.default_rng(4), bp.NDCG(10)
    parts = [reports.part_of(30, fold, n_features=2, mean_list_size=6) for fold in range(4)]
    methods = [Method("column old", "none", TODAY, is_reference=True)]
    methods += [Method(name, "lightgbm", bp.RankNet()) for name in "ab"]
    runs = []
    for (fold, part), method in product(enumerate(parts), methods):
        scores = rng.normal(size=part.queries.n_rows) + part.queries.labels * method.is_trained
        values = {"test": {metric.name: metric(scores, part.queries)}, "scores": scores}
        values["per_query"] = {metric.name: metric.per_query(scores, part.queries)}
        runs.append(MethodRun(framework=method.framework, method=method.name, fold=fold, seed=0, **values))
    return reports.result_of(methods, parts, metric, runs)


def test_where_folds_choose_differently_the_counts_are_of_what_each_tests(divided):
    comparison, decision = divided.outcomes, divided._decision
    assert len({ours for ours, _ in decision.pairs.values()}) == 2
    assert decision.widening > 1.0
    found = divided.document["recommendation"]["counts"]
    by_fold = [[looped("grades", comparison, method)[f] for method in pair] for f, pair in decision.pairs.items()]
    a, b = ([of_fold[side][:, 1] * 1000 for of_fold in by_fold] for side in (0, 1))
    test = pooled_test(a, b, counts="sets", flips=1)
    assert found["counts"][1]["difference"] == pytest.approx(test.difference)
    assert found["counts"][1]["interval"] == pytest.approx(test.widened(decision.widening).interval)
    words = "With the methods that other folds choose, the mean label of the first document is "
    assert words in divided.recommendation
    assert "(today " in divided.recommendation


BESIDE = "(today #, difference #, # % interval [#, #])"
SENTENCES = {
    "one": f"the chosen document ('booked') is first in # of # queries that have one {BESIDE}; it is in the first "
    "three in # (#, # [#, #]); its mean place is # (#, # [#, #]).",
    "several": f"a relevant document ('booked') is first in # of # queries that have one {BESIDE}; # % of a query's "
    "relevant documents are in the first three (#, # [#, #]).",
    "grades": f"the mean label ('booked') of the first document is # {BESIDE}; the first three of # queries hold # "
    "documents with a label above # (#, # [#, #]).",
}


def test_counts_are_a_sentence_in_text_page_and_markdown(compared, tmp_path):
    kind, result = compared
    (line,) = (line for line in result.recommendation.splitlines() if line.startswith("With "))
    assert re.sub(r"[+-]?(\d[\d,]*)?\.?\d+", "#", line) == f"With RankNet, {SENTENCES[kind]}"
    result.to_html(tmp_path / "report.html")
    screen = html.unescape((tmp_path / "report.html").read_text(encoding="utf-8")).partition("<nav")[0]
    assert f"<p>{line}</p>" in screen
    assert line in result.to_markdown()
    assert line in " ".join(str(result).split())
    logged = [line for line in result.recommendation.splitlines() if "were seen in the old order" in line]
    assert len(logged) == (kind != "grades")
    assert all("docs/guides/clicks.md" in line for line in logged)


def test_clicks_that_are_weighed_and_labels_below_zero_have_no_counts_and_a_label_by_name_has_its_own():
    frame = searches("one")
    trees = {**reports.TREES, "lightgbm": {"extra_trees": False}}

    def counts(frame, **options):
        given = {**SEARCHES, **PARTS, "rounds": 3, "seeds": 1, "params": trees}
        return bp.compare(frame, **given | options).document["recommendation"]["counts"]

    shown = {"frame": frame.assign(position=np.tile(np.arange(1, 9), 60)), "position": "position"}
    assert not counts(**shown)["logged"]  # a warning says so already
    assert counts(**shown, propensity=1 / np.arange(1, 9)) is None
    assert counts(frame.assign(booked=frame["booked"] - 1.0), metric="KendallTau", metrics="KendallTau") is None
    assert counts(frame, today=None) is None
    sold = counts(frame.assign(sold=searches("grades")["booked"]), labels=["sold"], metric="NDCG@10.on(sold)")
    assert sold["counts"][0]["what"] == "the mean label ('sold') of the first document is #"
