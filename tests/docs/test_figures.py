"""Figures in the guides and explanations are those that trainings and formulas give."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

import boostplug as bp

lgb = pytest.importorskip("lightgbm")
DOCS = Path(__file__).parents[2] / "docs"
DATA = os.environ.get("BOOSTPLUG_DATA")


def rows_of_table(page, head):
    """Return the cells of each row of a table, by the name in its first column."""
    text = (DOCS / page).read_text(encoding="utf-8")
    (table,) = re.findall(rf"^\|.*{re.escape(head)}.*\n\|[-:| ]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    cells = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines()]
    return {name: values for name, *values in cells}


MEMORY = {name: [*map(float, terms)] for name, terms in rows_of_table("explanation/scale.md", "d, bytes").items()}
SIZES = ((1e8, 50), (5e8, 18))  # documents and features of the columns in the guide


def test_memory_on_both_pages_follows_from_the_terms_of_one_formula():
    for name, (terms, *shown) in rows_of_table("guides/out_of_core.md", "| bytes per document |").items():
        d, b = MEMORY[name]
        assert terms == (f"{d:g} + {b:g} per feature" if b else f"{d:g}")
        for text, (n, n_features) in zip(shown, SIZES, strict=True):
            in_memory, *on_disk = map(float, re.findall(r"([\d.]+) GB", text))
            assert in_memory == round(1e-9 * n * (d + b * n_features))
            assert on_disk == ([] if b else [1e-9 * n * n_features])
    page = (DOCS / "explanation" / "scale.md").read_text(encoding="utf-8")
    figures = [f"{1e-9 * 5e8 * (d + b * 18):.0f} GB" for d, b in MEMORY.values()]
    assert re.findall(r"\d+ GB", page[page.index("500,000,000 documents × 18") :])[:3] == figures
    measured = rows_of_table("explanation/scale.md", "18 features, files")
    for (d, b), cells in zip(MEMORY.values(), measured.values(), strict=True):
        bytes_of_document = [*map(float, cells)]
        assert bytes_of_document[1::2] == [round(d + b * n_features) for n_features in (18, 50, 100)]
        assert all(found <= bound for found, bound in zip(bytes_of_document[::2], bytes_of_document[1::2], strict=True))


def test_tables_of_clusters_follow_from_the_formula_too(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    from studies.speed.benchmarks.scaling import TRAININGS

    assert [training.memory for training in TRAININGS.values()] == [*map(tuple, MEMORY.values())]
    for documents in (1e8, 1e9):
        page = (DOCS / "explanation" / "scale.md").read_text(encoding="utf-8")
        lines = page.partition(f"<!-- table: {documents:,.0f} documents × 100 features -->")[2].partition("<!-- end")[0]
        rows = re.findall(r"^\| ([^|:]+): (\d+) machines?.*?\| ([\d.]+) ", lines, re.MULTILINE)
        assert len(rows) == 5
        for name, workers, gigabytes in rows:
            d, b = TRAININGS[name].memory
            needed = 1e-9 * (documents / int(workers) * (d + b * 100) + 255 * 100 * 256 * 16)
            assert float(gigabytes) == pytest.approx(needed, rel=5e-3)


QUANTIZED = rows_of_table("guides/lightgbm.md", "NDCG@10 | bundled")
OPTIONS = ({}, {"use_quantized_grad": True}, {"use_quantized_grad": True, "quant_train_renew_leaf": True})
OBJECTIVES = {
    "lambdarank": "lambdarank",
    "CRR": bp.CRR(),
    "QBRank": bp.QBRank(),
    "RankNet": bp.RankNet(),
    "ListNet": bp.ListNet(),
    "SquaredError": bp.SquaredError(),
}


def ndcg(fold, objective, **options):
    params = {"num_leaves": 15, "learning_rate": 0.1, "verbose": -1, "num_threads": 1, "seed": 1, "metric": "None"}
    data = lgb.Dataset(fold.train.X, fold.train.y, group=fold.train.group)
    booster = lgb.train({**params, "objective": objective, **options}, data, 100)
    return bp.NDCG(10)(booster.predict(fold.test.X), fold.test.queries)


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore:use_quantized_grad=True computes")
@pytest.mark.parametrize("name", OBJECTIVES)
def test_quantized_training_costs_what_the_guide_says(name):
    assert QUANTIZED.keys() == OBJECTIVES.keys()
    fold = bp.datasets.load_bundled()
    values = [ndcg(fold, OBJECTIVES[name], **options) for options in OPTIONS]
    assert values == pytest.approx([*map(float, QUANTIZED[name][:3])], abs=0.03)


@pytest.mark.ci
@pytest.mark.skipif(DATA is None, reason="BOOSTPLUG_DATA does not name a folder of real data")
@pytest.mark.filterwarnings("ignore:use_quantized_grad=True computes")
def test_quantized_training_costs_as_much_on_mq2008():
    folds = bp.datasets.load_folds(Path(DATA) / "mq2008")
    values = [np.mean([ndcg(fold, bp.CRR(), **options) for fold in folds]) for options in OPTIONS]
    assert values == pytest.approx([*map(float, QUANTIZED["CRR"][3:])], abs=0.02)


def test_more_levels_make_quantized_training_nearly_exact():
    assert "With `num_grad_quant_bins=64` as well" in (DOCS / "guides" / "lightgbm.md").read_text(encoding="utf-8")
    fold = bp.datasets.load_bundled()
    exact, rounded = (ndcg(fold, bp.CRR(), **more) for more in ({}, {**OPTIONS[2], "num_grad_quant_bins": 64}))
    assert exact == pytest.approx(rounded, abs=0.015)
