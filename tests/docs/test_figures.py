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
    (table,) = re.findall(rf"^\| *{re.escape(head)}.*\n\|[-:| ]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    cells = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines()]
    return {name: values for name, *values in cells}


QUANTIZED = rows_of_table("guides/lightgbm.md", "NDCG@10")
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
