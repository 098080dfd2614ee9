"""Where the truth is known, as on the page about it, importance has the right order; splits and gain have not."""

import re
from pathlib import Path

import numpy as np
import pytest
from adapters.harness import lgb, xgb
from sklearn.inspection import permutation_importance

import boostplug as bp

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "what_has_it_learnt.md"
TRUE = ["in_stock", "match"]  # the columns that order documents, the most important one first


@pytest.fixture(scope="module")
def simulate():
    """Return the function that makes the data of the page."""
    code = re.search(r"^```python\n(.*?)^train, test", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    names = {}
    exec(code[1], names)  # noqa: S102 (our own page)
    return names["simulate"]


def test_the_truth_is_what_the_page_says(simulate):
    frame = simulate(seed=0)
    centred = frame - frame.groupby("query").transform("mean").assign(query=0)
    moved = {"in_stock": 1.5 * centred["in_stock"], "match": 0.5 * centred["match"], "season": 1.4 * centred["season"]}
    distance = {name: values.abs().mean() for name, values in moved.items()}
    assert distance["in_stock"] > 1.5 * distance["match"]
    assert distance["season"] < 1e-12


@pytest.mark.parametrize("make", [bp.LGBMRanker, bp.XGBRanker], ids=["lightgbm", "xgboost"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.ci) for seed in (1, 2, 3))])
def test_importance_has_the_true_order_and_splits_and_gain_have_not(make, seed, simulate):
    train, test = simulate(2 * seed), simulate(2 * seed + 1, n_queries=200)
    quiet = {"verbose": -1} if make is bp.LGBMRanker else {}
    ranker = make(objective=bp.CRR(), n_estimators=60, n_jobs=1, **quiet).fit(train, y="grade", qid="query")
    frame = bp.importance(ranker, test, y="grade", n_repeats=2).set_index("feature")
    for column in ("importance", "permutation_mean"):
        assert [*frame[column].nlargest(2).index] == TRUE
        assert frame[column].nlargest(2).min() > 2 * frame[column].drop(TRUE).max()
    assert frame["permutation_mean"]["season"] == 0.0
    assert abs(frame["permutation_mean"]["photo_kb"]) < 0.03
    X = test.drop(columns=["query", "grade"])
    over_rows = permutation_importance(
        ranker,
        X,
        test["grade"],
        scoring=lambda model, rows, y: model.score(rows, y, qid=test["query"]),
        n_repeats=1,
        random_state=0,
    )
    losses = dict(zip(X.columns, over_rows.importances_mean, strict=True))
    assert losses["season"] > 0.5 * losses["match"]
    if isinstance(ranker, lgb.LGBMRanker):
        names = ranker.booster_.feature_name()
        splits, gain = (ranker.booster_.feature_importance(kind) for kind in ("split", "gain"))
    else:
        assert isinstance(ranker, xgb.XGBRanker)
        names = [*X.columns]
        found = (ranker.get_booster().get_score(importance_type=kind) for kind in ("weight", "total_gain"))
        splits, gain = ([scores[name] for name in names] for scores in found)
    assert names[np.argmin(splits)] == "in_stock"
    assert names[np.argmax(gain)] == "season"
