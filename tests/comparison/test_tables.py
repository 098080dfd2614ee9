"""A comparison for other programs: DataFrame, Markdown, the document with its curves, compressed JSON."""

import json
from itertools import pairwise

import lightgbm as lgb
import numpy as np

import boostplug as bp
from boostplug.comparison.document import as_json_gz, read
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


def test_a_compressed_file_is_the_document_and_always_the_same(tmp_path):
    whole = {"schema": "small", "text": "Δ", "values": [0.1, float("nan")]}
    (tmp_path / "in.json.gz").write_bytes(as_json_gz(whole))
    assert read(tmp_path / "in.json.gz", "small", dict) == {"schema": "small", "text": "Δ", "values": [0.1, None]}
    assert as_json_gz(whole)[4:8] == bytes(4)  # the time


TREE = {"learning_rate": 0.1, "num_leaves": 15, "min_data_in_leaf": 20, "lambda_l2": 1.0, "feature_fraction": 0.9}
LIGHTGBM = {**TREE, "bagging_fraction": 0.9, "bagging_freq": 1, "metric": "None", "verbosity": -1, "num_threads": 1}


def test_curves_are_the_values_after_each_round(parts, result, tmp_path):
    """As LightGBM alone trains and our metric judges; they are in the file, with the call."""
    train, valid, _ = parts
    (method,) = (m for m in result.document["methods"] if (m["framework"], m["method"]) == ("lightgbm", "MPBoost(Log)"))
    for run in method["runs"]:
        seeds = dict.fromkeys(("bagging_seed", "feature_fraction_seed"), run["seed"])
        dataset = lgb.Dataset(train.X, train.y, group=train.group)
        booster = lgb.train({"objective": bp.MPBoost(), **LIGHTGBM, **seeds}, dataset, 4)
        by_round = [bp.NDCG(10)(booster.predict(valid.X, num_iteration=r), valid.queries) for r in range(1, 5)]
        np.testing.assert_allclose(run["curve"], by_round, atol=1e-12)
        assert run["rounds"] == 1 + np.argmax(run["curve"])
    result.to_json(tmp_path / "result.json")
    written = json.loads((tmp_path / "result.json").read_text())
    assert [run["curve"] for run in written["methods"][3]["runs"]] == [run["curve"] for run in method["runs"]]
    assert written["call"].startswith("bp.compare(train, valid, test, losses=[bp.MPBoost()]")
