"""A finished comparison as a page, as a picture and as tables: what they say, that they are whole, how they look."""

import re
import sys
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from browser import chromium
from reports import ONE

import boostplug as bp
from boostplug.comparison.formats import probability
from boostplug.comparison.report.page import page
from boostplug.comparison.report.picture import picture
from boostplug.comparison.report.table import markdown

matplotlib = pytest.importorskip("matplotlib")


# --- page -------------------------------------------------------------------------------------------------------------

VOID = {"br", "input", "meta"}
HOSTILE = "</script><script>alert(1)</script><b x='\"&amp;"


class Read(HTMLParser):
    """A page as elements: (tag, attributes), and its text by element."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    @property
    def text(self):
        """All that is to be read."""
        return "".join(data for tag, data in self.texts if tag not in {"script", "style"})

    def of_tag(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def document(result):
    """The comparison of all these tests, with a significant improvement and a significant loss put into it."""
    document = result.document
    for method in document["methods"]:
        method["runs_at_cap"] = 0
        method["outcome"] = method["outcome"] and "level"
    document["warnings"] = []
    better, worse = document["methods"][1:3]
    better |= {"difference": 0.25, "interval": [0.1, 0.4], "p": 0.001, "p_holm": 0.01, "outcome": "better"}
    worse |= {"difference": -0.25, "interval": [-0.4, -0.1], "p": 0.001, "p_holm": 0.02, "outcome": "worse"}
    document["methods"][3]["objective"] = f"AdaRank(metric=NDCG(5), base={', '.join(['MPBoost(distance=...)'] * 9)})"
    return document


def failed(document):
    document |= {"recommendation": None}
    nothing = dict.fromkeys(("difference", "interval", "p", "p_holm", "seconds_per_round", "rounds"))
    for method in document["methods"]:
        of_metrics = {name: {"mean": None, "spread": None} for name in method["test"]}
        method |= {**nothing, "runs_finished": 0, "runs": [], "errors": ["RuntimeError: on purpose"]}
        method |= {"test": of_metrics, "validation": {"mean": None, "spread": None}}
    return document


def lower(document):
    """Return the document as of a metric of which less is better."""
    document["settings"] |= {"greater_is_better": False, "lower_is_better": [document["settings"]["metric"]]}
    return document


def partial(document):
    return document | {"not_run": [{"framework": "xgboost", "method": "rank:ndcg", "fold": 0, "seed": 1}]}


def interrupted(document):
    return document | {"interrupted": True}


def as_it_is(document):
    return document


SITUATIONS = [as_it_is, failed, lower, partial, interrupted]


@pytest.mark.parametrize("situation", SITUATIONS)
def test_every_situation_gives_a_whole_page(document, situation):
    document = situation(document)
    text = page(document)
    read = Read(text)  # all elements are closed, in order
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in read.elements:
        assert attributes.get("href", "#").removeprefix("#") in {*ids, ""}
    levels = [int(tag[1]) for tag, *_ in read.elements if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert "None" not in read.text
    assert not re.search(r"\bnan\b|\binf\b", text.partition("<script>")[0].partition("</style>")[2])
    for method in document["methods"]:
        assert method["method"] in read.text


def test_names_are_text_wherever_they_stand(document):
    for i, method in enumerate(document["methods"]):
        method["method"] = method["objective"] = f"{HOSTILE}{i}"
    document["recommendation"] |= {"code": HOSTILE, "objective": HOSTILE}
    document["methods"][3]["errors"] = [HOSTILE]
    document |= {"notes": [HOSTILE], "warnings": [HOSTILE], "command": HOSTILE, "call": HOSTILE}
    document["data"]["name"] = document["versions"]["numpy"] = document["settings"]["params"]["num_leaves"] = HOSTILE
    read = Read(page(document))  # all elements are closed, in order
    assert read.text.count(HOSTILE) > 30
    assert len(read.of_tag("script")) == 1
    assert not any(read.of_tag("b"))  # the page's own have no attributes


def test_only_the_pages_own_script_may_run(document):
    read = Read(whole := page(document))
    (script,) = (data for tag, data in read.texts if tag == "script")
    (policy,) = (m["content"] for m in read.of_tag("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert f"script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not re.search(r"\bsrc=|url\(|@import|https?://", whole)


@pytest.mark.parametrize(
    ("situation", "loud"),
    [
        (partial, "INCOMPLETE: interrupted after 15 of 16 runs."),
        (failed, "FAILED: xgboost MPBoost(Log): RuntimeError: on purpose"),
    ],
)
def test_what_is_missing_stands_before_the_tables(document, situation, loud):
    text = Read(page(situation(document))).text
    main = text.index("Before you rely on it")
    assert main < text.index(loud) < text.index("All methods", main)
    assert ("Provisional: " in text[:main]) == (situation is partial)


def forest(text):
    """Return the rows of the plots: (colour class, clear or not, where the mark is in per cent)."""
    rows = re.findall(r'<li class="row (\S+) \S+ (clear|unclear)"[^>]*>(.*?)</li>', text, re.DOTALL)
    return [
        (colour, state, float(re.search(r'<svg class="point" x="([\d.]+)%"', row)[1])) for colour, state, row in rows
    ]


@pytest.mark.parametrize("advised", ["lambdarank", "rank_xendcg"])
def test_the_forest_has_the_recommended_row_first_then_what_is_in_use_then_the_others(document, advised):
    document["recommendation"] |= {"method": advised, "framework": "lightgbm"}
    of_lightgbm = [m["method"] for m in document["methods"] if m["reference"] == "lambdarank in lightgbm"]
    for situation in (as_it_is, lower):
        text = page(situation(document))
        names = re.findall(r'<span class="who"><span class="name">(.*?)</span>', text)[: len(of_lightgbm) + 1]
        rows = forest(text)[: len(of_lightgbm) + 1]
        first = [advised, "lambdarank"] if advised != "lambdarank" else ["lambdarank"]
        assert names[: len(first)] == first
        assert {*names} == {*of_lightgbm, "lambdarank"}
        others = [place for *_, place in rows[len(first) :]]
        assert others == sorted(others, reverse=situation is as_it_is)
        assert [state for _, state, _ in rows].count("clear") == 2
        assert f"To the {'right' if situation is as_it_is else 'left'} is better" in " ".join(text.split())
        zero = re.search(r'<li class="row [^>]*>(?:(?!</li>).)*>lambdarank<.*?</li>', text, re.DOTALL)[0]
        assert '<span class="n">0 <small></small></span>' in zero


@pytest.fixture(scope="module")
def beside_chance(parts):
    """A comparison in which any model is ahead of what is in use."""
    return bp.compare(*parts, **ONE | {"losses": bp.MPBoost()}, early_stopping_rounds=None, today="order")


def test_a_doubtful_verdict_recommends_and_counts_nothing(beside_chance):
    document = beside_chance.document
    assert document["recommendation"]["counts"]
    assert "of 1,000 queries" in page(document)
    document["recommendation"] |= {"outcome": "doubtful", "reasons": ["the column a is a leak"]}
    text = page(document)
    assert '<p class="headline doubtful">Do not rely on this yet: the column a is a leak.</p>' in text
    assert "recommended</span>" not in text
    assert "of 1,000 queries" not in text


def test_an_interval_beyond_the_axis_is_an_arrow_at_its_edge(document):
    for method in document["methods"]:
        if method["difference"] is not None:
            method |= {"difference": 0.01, "interval": [-0.01, 0.03]}
    document["methods"][1] |= {"difference": -0.5, "interval": [-0.6, -0.4]}
    ends = re.findall(r'<line class="whisker" x1="(.*?)%" x2="(.*?)%"', page(document))
    assert ("0", "0") in ends
    assert all(0 <= float(low) <= float(high) <= 100 for low, high in ends)


@pytest.mark.parametrize("timed", [True, False])
def test_each_value_stands_in_its_place_with_and_without_times(document, timed):
    """Without times, as on a busy machine, the table has no such column, and differences and p stay where they are."""
    for method in document["methods"]:
        method["seconds_per_round"] = 0.001 if timed else None
    read = page(document)
    tested = [m for m in document["methods"] if m["p_holm"] is not None]
    shown = re.findall(r'<span class="n p"><span class="aside">p </span>([<.\d&lt;]+)</span>', read)
    assert sorted(shown) == sorted(probability(m["p_holm"]) for m in tested)
    clear = [m["p_holm"] < 0.05 for m in tested]
    assert sum(state == "clear" for _, state, _ in forest(read)) == sum(clear) > 0
    head, _, *rows = (line.split(" | ") for line in markdown(document).splitlines() if line.startswith("|"))
    assert ("ms/round" in head) == timed
    of_p = [row[head.index("p")].strip("* ") for row in rows]
    assert sorted(of_p) == sorted([*shown, *["–"] * (len(rows) - len(tested))])


def test_a_comparison_writes_its_page_with_all_sections(result, beside_chance, tmp_path):
    """Examples where a challenger is beside what is in use, a model where one is recommended."""
    for one, open_section in ((result, "examples"), (beside_chance, "model")):
        path = tmp_path / f"{open_section}.html"
        one.to_html(path)
        read = Read(path.read_text())
        sections = [attributes["id"] for attributes in read.of_tag("section")]
        wanted = ["recommendation", "model", "examples", "methods", "curves", "setup"]
        assert [s for s in sections if s != open_section] == [s for s in wanted if s != open_section]
        assert "Made on 20" in read.text
        assert f"result = {one.document['call']}" in read.text


@pytest.mark.ci
def test_nothing_overflows_in_a_browser(document, tmp_path):
    """The page runs its script without an error and asks for nothing else."""
    file = tmp_path / "report.html"
    file.write_text(page(document))
    with chromium() as browser:
        tab = browser.new_page()
        said, asked = [], []
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(file.as_uri())
        tab.evaluate("() => document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        for width in (400, 1400):
            tab.set_viewport_size({"width": width, "height": 900})
            page_width = tab.evaluate("() => document.documentElement.scrollWidth")
            assert page_width == tab.evaluate("() => document.documentElement.clientWidth"), width
        assert asked == [file.as_uri()]
        assert said == []


# --- picture ----------------------------------------------------------------------------------------------------------


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

CELL = "<img src=x onerror=alert(1)> & a|b \\\\| \u202egnp\u2066 \x1b[2J\u200b"


def test_markdown_is_returned_and_escapes_html_and_the_bounds_of_cells(result, tmp_path):
    result.to_markdown(tmp_path / "out.md")
    assert result.to_markdown() == (tmp_path / "out.md").read_text()
    assert "**" in result.to_markdown()
    document = result.document
    document["data"]["name"] = document["methods"][3]["method"] = CELL
    text = markdown(document | {"notes": [CELL]})
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
