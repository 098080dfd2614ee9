"""A comparison for other programs: as a picture, a DataFrame, Markdown."""

import sys
from itertools import pairwise

import pytest

from boostplug.comparison.report.picture import picture
from boostplug.comparison.report.table import markdown

matplotlib = pytest.importorskip("matplotlib")


def texts(figure):
    """Return the texts of a picture, from top to bottom and left to right."""
    found = sorted(figure.axes[0].texts, key=lambda text: text.get_position()[::-1])
    return [text.get_text() for text in found if text.get_text()]


def test_both_kinds_of_files_are_written_the_same_each_time_and_others_are_refused(settled, tmp_path):
    for name, start in (("a.svg", b"<?xml"), ("a.png", b"\x89PNG")):
        settled.plot(tmp_path / name)
        once = (tmp_path / name).read_bytes()
        assert once.startswith(start)
        settled.plot(str(tmp_path / name))
        assert (tmp_path / name).read_bytes() == once
    with pytest.raises(ValueError, match=r"path must end with \.svg or \.png; got .*a\.pdf"):
        settled.plot(tmp_path / "a.pdf")
    for name in ("b.svg", "b.png"):
        (tmp_path / name).write_text('<?xml version="1.0"?>\n<note/>')
        with pytest.raises(FileExistsError):
            settled.plot(tmp_path / name)


def test_pyplot_and_the_settings_stay_as_they_are(settled):
    before = dict(matplotlib.rcParams)
    figure = settled.plot()
    assert dict(matplotlib.rcParams) == before
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()
    assert isinstance(figure, matplotlib.figure.Figure)


def better(result):
    """Return a document in which the worst method of LightGBM by far is recommended."""
    document = result.document
    advised = next(m for m in document["methods"] if m["method"] == "QBRank" and m["framework"] == "lightgbm")
    advised |= {"difference": -0.25, "interval": [-0.4, -0.1], "p_holm": 0.001, "outcome": "worse"}
    document["recommendation"] |= {name: advised[name] for name in ("method", "framework")}
    return document


def test_the_recommended_row_comes_first_then_what_is_in_use_then_the_others(settled):
    document = better(settled)
    found = texts(picture(document))
    assert " ".join(found).startswith(settled.recommendation.splitlines()[0])
    first = found.index("NDCG@10 on test: difference to lambdarank in lightgbm")
    others = [m for m in document["methods"] if m["reference"] == "lambdarank in lightgbm"]
    others = [m for m in sorted(others, key=lambda m: -m["difference"]) if m["method"] != "QBRank"]
    names = [text for text in found[first + 1 :] if text.endswith(("in lightgbm", "linear")) or "column" in text]
    expected = [m["method"] + " in lightgbm" * (m["framework"] != "none") for m in others]
    assert names[: len(expected) + 2] == ["QBRank in lightgbm", "lambdarank in lightgbm", *expected]


def test_names_are_no_formulas_and_a_result_without_differences_has_its_headline(settled):
    document = better(settled)
    document["methods"][1]["method"] = "$x_1$ \u202e"
    figure = picture(document)
    assert any(text.startswith("$x_1$ \\u202e") for text in texts(figure))
    assert not any(text.get_parse_math() for text in figure.axes[0].texts)
    nothing = document | {"recommendation": None, "methods": []}
    assert texts(picture(nothing)) == ["No recommendation: no run has finished."]


# --- tables ----------------------------------------------------------------------------------------------------------

HOSTILE = "<img src=x onerror=alert(1)> & a|b \\\\| \u202egnp\u2066 \x1b[2J\u200b"


def test_markdown_is_returned_and_escapes_html_and_the_bounds_of_cells(result, tmp_path):
    result.to_markdown(tmp_path / "out.md")
    assert result.to_markdown() == (tmp_path / "out.md").read_text()
    assert "**" in result.to_markdown()
    document = result.document
    document["data"]["name"] = document["methods"][3]["method"] = HOSTILE
    text = markdown(document | {"notes": [HOSTILE]})
    assert "<img" not in text
    assert text.startswith("# &lt;img src=x onerror=alert(1)&gt; &amp; a")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in rows}) == 1
    assert any("&lt;img" in row and "a&#124;b" in row for row in rows)
    assert markdown(result.document | {"notes": ["one\n| two |"]}).count("\n- Note: one | two |\n") == 1


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
