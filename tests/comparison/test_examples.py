"""Examples of a change: the queries whose order changes most, by a column whose order is known, and on the page."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from reports import ONE
from scipy import sparse

import boostplug as bp

pytest.importorskip("lightgbm")

N, SIZE = 24, 12
NAMES = {"label": "grade", "qid": "query", "split": (0.3, 0.2, 0.5)}
COLUMN = {**ONE, "losses": (), "baselines": "column", "today": "old"}
ORDERS = {"all": [*range(SIZE)][::-1], "top": [*range(9), 11, 10, 9], "middle": [0, 1, 2, 5, 4, 3, *range(6, SIZE)]}
ORDERS["below"] = [1, 0, *range(2, SIZE)]  # the last two places


def shop(test=()):
    """Return a table that `match` ranks best; the score in use has its order, except in some test queries."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"query": np.repeat([f"q{i:02}" for i in range(N)], SIZE)})
    frame["match"] = np.tile(np.arange(1.0, SIZE + 1), N)
    frame["grade"] = np.tile([0.0] * (SIZE - 3) + [1.0, 2.0, 3.0], N)
    frame["old"] = rng.permutation(len(frame))  # in training and validation parts
    parts = bp.split_queries(frame, qid="query", split=NAMES["split"])
    of_test = frame["query"].isin(parts[2]["query"])
    frame.loc[of_test, "old"] = 2 * frame["match"]
    for query, order in zip(parts[2]["query"].unique(), test, strict=False):
        frame.loc[frame["query"] == query, "old"] = np.arange(1.0, SIZE + 1)[order]
    frame["noise"] = np.where(frame["match"] == SIZE, np.nan, -frame["match"] % 5)
    frame["kind"] = pd.Categorical(np.where(frame["match"] > SIZE / 2, "<b>new</b>", "old"))
    frame.index = frame.index + 1000
    return frame, [*parts[2]["query"].unique()]


def test_the_queries_whose_order_changes_most_come_first_with_both_orders():
    frame, queries = shop([ORDERS[name] for name in ("middle", "all", "top", "below")])
    found = bp.compare(frame, **COLUMN, **NAMES).examples()
    assert [*found["query"].unique()] == [queries[1], queries[2], queries[0]]  # no other query changes
    for query, of_query in found.groupby("query"):
        old, new = (frame[frame["query"] == query][name].rank(ascending=False) for name in ("old", "match"))
        shown = np.minimum(old, new) <= 10
        assert [*of_query["new place"]] == sorted(new[shown])
        assert of_query["old place"].to_dict() == old[shown].to_dict()  # by the index of the table
        assert of_query["label"].to_dict() == frame["grade"][old[shown].index].to_dict()
        assert of_query["new score"].to_dict() == frame["match"][old[shown].index].to_dict()
    ndcg = bp.NDCG(10).score(frame["grade"][-SIZE:], np.arange(SIZE)[::-1], group=[SIZE])
    assert found["change"].iloc[0] == pytest.approx(1 - ndcg)
    assert found["change"].iloc[-1] == 0.0
    assert [*found.columns[7:9]] == ["match", "kind"]  # these order the documents; what is in use is not shown again
    assert "old" not in found


def test_only_so_many_queries_are_returned_and_none_where_no_order_changes():
    frame, queries = shop([ORDERS["middle"], ORDERS["all"], ORDERS["top"]])
    assert [*bp.compare(frame, **COLUMN, **NAMES).examples(2)["query"].unique()] == queries[1:3]
    assert bp.compare(shop()[0], **COLUMN, **NAMES).examples().empty
    with pytest.raises(ValueError, match="n must be an integer of at least 1"):
        bp.compare(frame, **COLUMN, **NAMES).examples(0)


def test_a_query_of_several_folds_is_shown_once_and_sparse_features_are_left_out():
    frame, queries = shop([ORDERS["all"], ORDERS["top"]])
    parts = bp.split_queries(frame, qid="query", split=NAMES["split"])
    names = ["match", "old", "noise"]

    def fold(kind):
        given = {"feature_names": names}
        return [bp.RankingData(kind(p[names].to_numpy()), p["grade"], qid=p["query"], **given) for p in parts]

    found = bp.compare([fold(np.array), fold(np.array)], **COLUMN).examples()
    assert [*found["query"].unique()] == queries[:2]
    assert len(found) == SIZE + 10  # each query once
    assert found["match"].iloc[0] == SIZE
    assert [*found.index[:2]] == [SIZE - 1, SIZE - 2]
    found = bp.compare(*fold(sparse.csr_array), **COLUMN | {"losses": "ranknet"}).examples(1)
    assert [*found] == ["query", "change", "new place", "old place", "label", "new score", "old score"]


def test_examples_are_folded_on_the_page_and_few(tmp_path):
    frame, queries = shop([ORDERS["top"], ORDERS["all"]] * 6)
    result = bp.compare(frame, **COLUMN, **NAMES)
    result.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    section = page.partition('<section id="examples"')[2].partition("</section>")[0]
    assert section.count("<details>") == 10
    assert "open" not in section
    assert len(section) < 30_000
    tables = re.findall(r"<tr( class=\"relevant\")?>(.*?)</tr>", section)
    assert 10 * 6 <= len(tables) <= 10 * 11
    assert "&lt;b&gt;new" in section
    assert '<td class="n">–</td>' in section
    assert "nan" not in section
    assert "<b>new" not in page
    first = html.unescape(section).partition("<summary>")[2]
    assert first.startswith(f"Query {queries[1]}: NDCG@10 +.")
    result.to_json(tmp_path / "result.json")
    assert '"examples"' not in (tmp_path / "result.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("options", [{"today": None}, {"baselines": ()}], ids=["nothing in use", "only what is in use"])
def test_without_two_that_differ_there_are_no_examples(options, tmp_path):
    result = bp.compare(shop()[0], **COLUMN | options, **NAMES)
    with pytest.raises(ValueError, match=r"there are no examples: .*today= or incumbent="):
        result.examples()
    result.to_html(tmp_path / "report.html")
    assert "examples" not in (tmp_path / "report.html").read_text(encoding="utf-8").partition("</style>")[2]
