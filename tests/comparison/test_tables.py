"""A comparison for other programs: DataFrame, Markdown, the document with its curves."""

from itertools import pairwise

import pytest

from boostplug.comparison.report.table import markdown


def test_markdown_without_a_path_is_returned(result, tmp_path):
    result.to_markdown(tmp_path / "out.md")
    assert result.to_markdown() == (tmp_path / "out.md").read_text()
    assert "**" in result.to_markdown()


HOSTILE = "<img src=x onerror=alert(1)> & a|b \\\\| \u202egnp\u2066 \x1b[2J\u200b"


def with_hostile_names(result):
    document = {**result.document, "notes": [HOSTILE], "data": {**result.document["data"], "name": HOSTILE}}
    document["methods"] = [dict(row) for row in document["methods"]]
    document["methods"][3]["method"] = HOSTILE
    return document


def test_markdown_escapes_html_and_the_bounds_of_cells(result):
    text = markdown(with_hostile_names(result))
    assert "<img" not in text
    assert text.startswith("# &lt;img src=x onerror=alert(1)&gt; &amp; a")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in rows}) == 1
    assert any("&lt;img" in row and "a&#124;b" in row for row in rows)
    assert markdown({**result.document, "notes": ["one\n| two |"]}).count("\n- Note: one | two |\n") == 1


def test_frame_is_the_table(result):
    frame = result.to_frame()
    assert list(frame.columns[:5]) == ["framework", "method", "objective", "NDCG@5", "NDCG@5 ±"]
    assert {"difference", "interval_low", "interval_high", "p_holm"} <= set(frame.columns)
    assert all(a != b for a, b in pairwise(frame["method"]))


def test_the_frame_of_runs_has_a_row_per_run(result):
    runs, methods = result.runs, result.document["methods"]
    assert len(runs) == sum(len(method["runs"]) for method in methods) == 16
    means = runs.groupby(["framework", "method"], sort=False)[["NDCG@10", "validation", "rounds"]].mean()
    assert list(means.index) == [(method["framework"], method["method"]) for method in methods]
    assert list(means["NDCG@10"]) == pytest.approx([method["test"]["NDCG@10"]["mean"] for method in methods])
    assert list(means["rounds"]) == [method["rounds"] for method in methods]
    assert len(runs["curve"][0]) == runs["rounds_trained"][0]
