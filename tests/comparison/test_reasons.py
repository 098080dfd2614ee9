"""The columns that order most in the recommended model, and why documents change places, on the page and as JSON."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest
from reports import ONE
from scipy import sparse

import boostplug as bp

pytest.importorskip("lightgbm")

N, SIZE = 60, 12
NAMES = {"label": "grade", "qid": "query", "split": (0.5, 0.2, 0.3)}
OPTIONS = {**ONE, "losses": "ranknet", "baselines": (), "today": "old", "rounds": 30, "early_stopping_rounds": None}


def shop():
    """Return a table that the column "good match" ranks, a kind adds to, and the score in use knows less of."""
    rng = np.random.default_rng(0)
    n = N * SIZE
    frame = pd.DataFrame({"query": np.repeat([f"q{i:02}" for i in range(N)], SIZE)})
    frame["noise"] = rng.normal(size=n)
    frame["good match"] = rng.normal(size=n)
    frame["kind"] = pd.Categorical(rng.choice(["<b>new</b>", "old"], n))
    utility = 2.0 * frame["good match"] + (frame["kind"] == "old") + 0.3 * rng.normal(size=n)
    frame["grade"] = np.clip(np.round(utility + 1.5), 0, 4)
    frame["old"] = 0.3 * utility + rng.normal(size=n)
    return frame


def written(result, folder):
    """Return the sections of the page, as texts, and the document of the JSON file."""
    result.to_html(folder / "report.html")
    result.to_json(folder / "result.json")
    page = (folder / "report.html").read_text(encoding="utf-8")
    sections = {name: page.partition(f'<section id="{name}"')[2].partition("</section>")[0] for name in SECTIONS}
    return sections, json.loads((folder / "result.json").read_text(encoding="utf-8"))


SECTIONS = ("model", "examples")
SWAP = (
    r"<p>Place (\d+) goes to the document from place (\d+), and the one that was there is now at place (\d+)\.\s"
    r"The difference of their scores is ([\d.]+)\."
)


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_the_columns_that_order_most_are_those_of_importance(framework, tmp_path):
    pytest.importorskip(framework)
    frame = shop()
    result = bp.compare(frame, **OPTIONS | {"frameworks": framework, "seeds": 1}, **NAMES)
    sections, document = written(result, tmp_path)
    found = document["recommendation"]["importance"]
    assert [one["feature"] for one in found][:2] == ["good match", "kind"]
    test = bp.split_queries(frame, qid="query", split=NAMES["split"])[2]
    expected = bp.importance(result.model, test.drop(columns=["grade"]), qid="query").set_index("feature")["importance"]
    shares = expected / expected.sum()
    for one in found:
        name = one["feature"] if one["feature"] in shares else one["feature"].replace(" ", "_")
        assert one["share"] == pytest.approx(shares[name], rel=1e-5)
    percent = round(100 * found[0]["share"])
    said = " ".join(sections["model"].split())
    assert f"their share of importance on test queries: good match ({percent} %), kind (" in said


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_each_example_says_why_its_first_document_has_moved(framework, tmp_path):
    pytest.importorskip(framework)
    frame = shop()
    result = bp.compare(frame, **OPTIONS | {"frameworks": framework, "seeds": 2}, **NAMES)
    sections, document = written(result, tmp_path)
    table = result.examples()
    parts = re.findall(r"<details>(.*?)</details>", sections["examples"], re.DOTALL)
    assert len(parts) == table["query"].nunique() == 10
    for text, (query, rows) in zip(parts, table.groupby("query", sort=False), strict=True):
        assert f"Query {query}:" in text
        place, before, now, difference = re.search(SWAP, text).groups()
        above = rows[rows["new place"] == int(place)].iloc[0]
        below = rows[rows["old place"] == int(place)].iloc[0]
        assert (rows["new place"] == rows["old place"])[rows["new place"] < int(place)].all()
        assert (above["old place"], below["new place"]) == (int(before), int(now))
        assert float(difference) == pytest.approx(above["new score"] - below["new score"], abs=1e-4)
        cells = html.unescape(text.partition("of the second")[2])
        listed = re.findall(r'<th scope="row">(.*?)</th><td class="n">(.*?)</td><td class="n">(.*?)</td>', cells)
        values = {name: (one, other) for name, one, other in listed}
        assert values.keys() <= {"good match", "kind", "noise", "old"}
        assert float(values["good match"][0]) == pytest.approx(frame["good match"][above.name], rel=1e-4)
        contributions = [float(value) for value in re.findall(r'<td class="n">([+-]?[\d.]+)</td></tr>', cells)]
        assert sum(contributions) == pytest.approx(float(difference), abs=5e-4)
    assert "Place" not in json.dumps(document)


def test_folds_and_sparse_features_have_reasons_too(tmp_path):
    frame = shop().drop(columns="kind")
    names = ["good match", "noise", "old"]
    parts = bp.split_queries(frame, qid="query", split=NAMES["split"])

    def fold(kind, order):
        given = [parts[i] for i in order]
        return [
            bp.RankingData(kind(p[names].to_numpy()), p["grade"], qid=p["query"], feature_names=names) for p in given
        ]

    for kind in (np.array, sparse.csr_matrix):
        result = bp.compare([fold(kind, (0, 1, 2)), fold(kind, (2, 1, 0))], **OPTIONS)
        sections, document = written(result, tmp_path)
        assert document["recommendation"]["importance"][0]["feature"] == "good match"
        assert len(re.findall(SWAP, sections["examples"])) == 10
    unnamed = [bp.RankingData(p[names].to_numpy(), p["grade"], qid=p["query"]) for p in parts]
    found = bp.compare(*unnamed, **OPTIONS | {"today": None, "baselines": "linear"})
    assert found.document["recommendation"]["importance"][0]["feature"] == "number 1"


@pytest.mark.parametrize(
    "options",
    [
        {"losses": (), "baselines": "column"},
        {"params": {"lightgbm": {"linear_tree": True}}},
    ],
    ids=["a column", "linear trees"],
)
def test_what_has_no_contributions_has_no_reasons(options, tmp_path):
    result = bp.compare(shop().drop(columns="kind"), **OPTIONS | options, **NAMES)
    sections, document = written(result, tmp_path)
    assert document["recommendation"]["importance"] == []
    assert "order its lists most" not in sections["model"]
    assert "<details>" in sections["examples"]
    assert "Place" not in sections["examples"]


def test_large_test_parts_are_sampled_by_complete_queries():
    train, valid, test = (bp.datasets.make_ranking(n, random_state=n) for n in (60, 61, 300))
    assert 5000 < len(test.y) <= 10_000
    result = bp.compare(train, valid, test, **ONE | {"baselines": (), "early_stopping_rounds": None})
    found = {one["feature"]: one["share"] for one in result.document["recommendation"]["importance"]}
    every = len(test.y) // 1000
    rows = np.flatnonzero(np.isin(test.qid, np.unique(test.qid)[::every]))
    frame = bp.importance(result.model, test.X[rows], qid=test.qid[rows]).head(5)
    expected = frame["importance"] / bp.importance(result.model, test.X[rows], qid=test.qid[rows])["importance"].sum()
    np.testing.assert_allclose([*found.values()], expected, rtol=1e-9)


def test_the_linear_model_reads_numbers_and_names_of_any_kind(tmp_path):
    """Its file holds the columns that it reads; a note names the others."""
    frame = shop().rename(columns={"good match": "match: 7d", "noise": "old_"}).assign(**{"old ": 0.0})
    options = {**OPTIONS, "frameworks": "lightgbm", "losses": (), "baselines": "linear"}
    result = bp.compare(frame, **options, **NAMES)
    sections, document = written(result, tmp_path)
    assert document["recommendation"]["importance"][0]["feature"] == "match: 7d"
    assert re.search(SWAP, sections["examples"])
    assert any("does not read categories (kind)" in note for note in document["notes"])
    assert result.model.num_feature() == 4  # all but kind


def test_queries_of_two_folds_may_have_the_same_id(tmp_path):
    """As where ids number the queries of each table."""

    def numbered(n_queries, seed):
        X = np.random.default_rng(seed).normal(size=(8 * n_queries, 3))
        grades = (X[:, 0] + 0.5 * X[:, 1] > 0.5).astype(float)
        return bp.RankingData(X, grades, group=[8] * n_queries, feature_names=["a", "b", "today"])

    folds = [[numbered(n, 10 * fold + n) for n in (40, 30, 1)] for fold in range(3)]
    result = bp.compare(folds, **OPTIONS | {"today": "today"})
    sections, _ = written(result, tmp_path)
    assert sections["examples"].count("<details>") == 3
    assert len(re.findall(SWAP, sections["examples"])) == 3
