"""The page on speed: every benchmark's section, tables, targets and figures, from JSON files alone."""

import itertools
import json
import sys
from dataclasses import replace

import pytest

from boostplug.studies.speed import BENCHES, page
from boostplug.studies.speed.figures import Bars, Growth, Headline
from boostplug.studies.speed.result import SCHEMA, BenchResult, BenchResults, Measured


def result_of(name):
    """Return a result in which every column of a benchmark has a number, in two rows of each part it draws."""
    kind = BENCHES[name]
    parts = [""]
    for figure in kind.figures:
        parts += [figure.part] if isinstance(figure, Growth) else figure.parts
    rows = [
        Measured(
            part=part,
            name=row,
            values={column.key: 1.5 for column in kind.columns},
            runs={column.key: [1.0, 1.5, 2.5] for column in kind.columns if column.kind != "given"},
            targets={} if peer else {next(c.key for c in kind.columns if c.kind == "ratio"): 1.6},
            peer=peer,
        )
        for part in dict.fromkeys(parts)
        for row, peer in (("MPBoost(Log)", False), ("MPBoost(Binary)", False), ("lambda_rank", True))
    ]
    return BenchResult(
        benchmark=name,
        title=kind.title,
        scale=1.0,
        repeat=3,
        threads=2,
        date="2020-02-02T00:00:00+00:00",
        seconds_in_all=12.3,
        machine={"processor": "abacus", "cores": 2, "memory_gib": 8.0, "system": "none", "load": 0.1},
        versions={"boostplug": "0"},
        columns=list(kind.columns),
        notes=["Something is left out."],
        rows=rows,
    )


@pytest.mark.parametrize("name", BENCHES)
def test_a_section_of_each_benchmark(name, tmp_path):
    pytest.importorskip("matplotlib")
    source, target = tmp_path / "bench.json", tmp_path / "speed.md"
    result_of(name).to_json(source)
    page.main([str(target), str(source)])
    text = target.read_text()
    assert f"`boostplug bench {name}`" in text
    assert BENCHES[name].about.splitlines()[0] in text
    assert "(1.0" in text
    assert "≤ 1.6" in text
    assert "| **met** |" in text
    assert "abacus, 2 cores, 8 GiB" in text
    assert "- Something is left out." in text
    drawn = sorted(tmp_path.glob("figures/*.svg"))
    assert len(drawn) == len(BENCHES[name].figures)
    for path in drawn:
        assert f"](figures/{path.stem}.png)" in text
        assert path.with_suffix(".png").exists()
        assert path.stem.startswith(f"speed-{name}")


def test_all_in_one_file_or_in_several(tmp_path):
    results = [result_of("import"), result_of("cold")]
    whole = page.page(results, {})
    assert whole.count("abacus") == 1  # one machine, said once
    assert [line for line in whole.splitlines() if line.startswith("## ")] == [
        "## Targets",
        "## Imports, each in a new process",
        "## The first call in a new process",
    ]
    paths = [tmp_path / f"{number}.json" for number in range(3)]
    BenchResults(results).to_json(paths[0])
    for result, path in zip(results, paths[1:], strict=True):
        result.to_json(path)
    made = [tmp_path / "one.md", tmp_path / "two.md"]
    page.main([str(made[0]), str(paths[0])])
    page.main([str(made[1]), *map(str, paths[1:])])
    assert made[0].read_text() == made[1].read_text()


def test_a_missed_target_is_said():
    missed = result_of("cold")
    missed.rows[0].values["compile_share"] = 1.7
    assert "| missed |" in page.page([missed], {})
    assert "1.700 (1.000–2.500) ≤ 1.600 missed" in page.page([missed], {})


def test_without_numbers_no_figure(tmp_path):
    pytest.importorskip("matplotlib")
    empty = result_of("scaling")
    for row in empty.rows:
        row.values.clear()
    assert not any(figure.has_numbers(empty) for figure in BENCHES["scaling"].figures)
    source = tmp_path / "bench.json"
    replace(empty, rows=[]).to_json(source)
    page.main([str(tmp_path / "speed.md"), str(source)])
    assert not (tmp_path / "figures").exists()


def test_lines_are_drawn_where_the_numbers_are():
    matplotlib = pytest.importorskip("matplotlib.figure")
    axes = matplotlib.Figure().add_subplot()
    scaling = result_of("scaling")
    figure = next(figure for figure in BENCHES["scaling"].figures if type(figure) is Growth)
    rows = [row for row in scaling.rows if row.part == figure.part]
    del rows[1].values["milliseconds_at_1000000"]  # stopped before
    figure.plot(axes, scaling)
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert list(lines["MPBoost(Log)"].get_xdata()) == [10, 100, 1000, 10_000, 100_000, 1_000_000]
    assert list(lines["MPBoost(Binary)"].get_xdata()) == [10, 100, 1000, 10_000, 100_000]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    colours = {name: line.get_color() for name, line in lines.items()}
    assert colours["MPBoost(Log)"] == colours["MPBoost(Binary)"] != colours["lambda_rank"]


def test_the_headline_names_lines_at_their_ends_and_no_name_covers_another():
    matplotlib = pytest.importorskip("matplotlib.figure")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = matplotlib.Figure(figsize=(7.6, 5.6), layout="constrained")
    FigureCanvasAgg(canvas)
    axes = canvas.add_subplot()
    figure = next(figure for figure in BENCHES["scaling"].figures if isinstance(figure, Headline))
    some = result_of("scaling")
    names = [*figure.ours, *figure.peers, "another"]
    some.rows[:] = [
        replace(
            some.rows[0],
            part=figure.part,
            name=name,
            values={f"nanoseconds_at_{n}": 20.0 for n in (10, 100, 10_000 if name in figure.peers else 1_000_000)},
            peer=name in figure.peers,
        )
        for name in names
    ]
    some.rows[0].values.update({"nanoseconds_at_1000000": 2e5, "nanoseconds_at_10": 3.0})
    figure.plot(axes, some)
    texts = {text.get_text(): text for text in axes.texts}
    assert texts.keys() == {*figure.ours.values(), *figure.peers.values()}
    boxes = [text.get_window_extent(canvas.canvas.get_renderer()) for text in texts.values()]
    assert not [(a, b) for a, b in itertools.combinations(boxes, 2) if a.overlaps(b)]
    assert texts["LambdaRank"].xy == (1_000_000, pytest.approx(2e5))  # no other is near
    assert {texts[name].xy[0] for name in figure.peers.values()} == {10_000}
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["10 ns", "100 ns", "1 µs", "10 µs", "100 µs"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["10", "100", "10,000", "1 million"]


def test_bars_show_numbers_ranges_and_targets():
    matplotlib = pytest.importorskip("matplotlib.figure")
    axes = matplotlib.Figure().add_subplot()
    figure = Bars(name="", title="", columns={"compile_share": ""}, unit="share", peers=False)
    figure.plot(axes, result_of("cold"))
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["MPBoost(Log)", "MPBoost(Binary)"]
    assert [bar.get_width() for bar in axes.patches] == [1.5, 1.5]
    assert [line.get_xdata()[0] for line in axes.get_lines() if len(line.get_xdata())] == [1.6, 1.6]


def test_files_that_are_no_results(tmp_path):
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"schema": "boostplug.replicate/1"}))
    with pytest.raises(SystemExit, match=r"is no result of boostplug\.bench/2"):
        page.main([str(tmp_path / "speed.md"), str(other)])
    other.write_text(json.dumps({"schema": SCHEMA, "benchmark": "nothing"}))
    with pytest.raises(SystemExit, match="is not a whole result"):
        page.main([str(tmp_path / "speed.md"), str(other)])
    with pytest.raises(SystemExit, match="usage"):
        page.main([])


def test_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    source = tmp_path / "bench.json"
    result_of("cold").to_json(source)
    with pytest.raises(SystemExit, match=r"figures need matplotlib: pip install 'boostplug\[report\]'"):
        page.main([str(tmp_path / "speed.md"), str(source)])
