"""The page on speed: every benchmark's section, tables, targets and figures, from JSON files alone."""

import pytest

from boostplug.studies.speed import BENCHES, page
from boostplug.studies.speed.figures import Growth
from boostplug.studies.speed.result import BenchResult, Row


def result_of(name):
    """Return a result in which every column of a benchmark has a number, in two rows of each part it draws."""
    kind = BENCHES[name]
    parts = [""]
    for figure in kind.figures:
        parts += [figure.part] if isinstance(figure, Growth) else figure.parts
    rows = [
        Row(
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


def test_a_missed_target_is_said():
    missed = result_of("cold")
    missed.rows[0].values["compile_share"] = 1.7
    assert "| missed |" in page.page([missed], {})
    assert "1.700 (1.000–2.500) ≤ 1.600 missed" in page.page([missed], {})
