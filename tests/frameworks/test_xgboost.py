"""What XGBoost itself does with custom ranking objectives: one test per trap, named in its docstring (3.2.0, 3.4.1)."""

import json

import numpy as np
import pytest
from frameworks.raw import FEATURES, LABELS, N_QUERIES, N_ROWS, QUERY_OF_ROW, ROWS, least_squares, seen_in_objective

xgb = pytest.importorskip("xgboost")

PARAMS = {"nthread": 1, "max_depth": 2}
RANKING = {**PARAMS, "objective": "rank:pairwise", "base_score": 0}


def matrix(kind=xgb.DMatrix, **changes):
    return kind(**{**ROWS, "nthread": 1, **changes})


def train(objective=least_squares, rounds=2, data=None, params=RANKING, **keywords):
    keywords = {"verbose_eval": False, **keywords}
    return xgb.train(params, matrix() if data is None else data, rounds, obj=objective, **keywords)


def evaluated(metric, data=None, params=None, **keywords):
    """Train with a custom metric on the training data and give the history of its metrics."""
    history = {}
    data = matrix() if data is None else data
    params = {**RANKING, **(params or {})}
    train(data=data, params=params, custom_metric=metric, evals=[(data, "train")], evals_result=history, **keywords)
    return history["train"]


# --- the call -----------------------------------------------------------------------------------------------------


def test_weights_are_not_applied_to_custom_gradients():
    """XGBoost never multiplies a custom gradient by the DMatrix's weights: the objective has to."""
    weighted = matrix(weight=np.random.default_rng(2).uniform(0.1, 5, N_QUERIES))
    np.testing.assert_array_equal(train(data=weighted).predict(matrix()), train().predict(matrix()))


# --- the starting scores ------------------------------------------------------------------------------------------


def test_base_score_is_not_estimated_with_obj():
    """With obj= the first scores are the constant .5, not an estimate from the labels; base_score=0 sets them."""
    read = {"read": lambda s, d: s, "rounds": 1}
    np.testing.assert_array_equal(seen_in_objective(train, matrix(), params=PARAMS, **read)[0], 0.5)
    np.testing.assert_array_equal(seen_in_objective(train, matrix(), params=RANKING, **read)[0], 0.0)


# --- rankers and saved models -------------------------------------------------------------------------------------


def test_without_the_route_the_model_says_squared_error():
    """Trained with obj alone, the saved model is reg:squarederror, its default metric rmse, and XGBRanker takes it."""
    booster = train(params=PARAMS)
    assert json.loads(booster.save_config())["learner"]["objective"]["name"] == "reg:squarederror"
    ranker = xgb.XGBRanker()
    ranker.load_model(booster.save_raw())
    assert ranker.objective == "reg:squarederror"


# --- the DMatrix's fields -----------------------------------------------------------------------------------------


class Batches(xgb.DataIter):
    """Give the rows in batches, with qid."""

    def __init__(self, *stops, **keywords):
        self.bounds = list(zip((0, *stops), (*stops, N_ROWS), strict=True))
        self.position = 0
        super().__init__(**keywords)

    def next(self, input_data):
        if self.position == len(self.bounds):
            return False
        rows = slice(*self.bounds[self.position])
        input_data(data=FEATURES[rows], label=LABELS[rows], qid=QUERY_OF_ROW[rows])
        self.position += 1
        return True

    def reset(self):
        self.position = 0


@pytest.mark.parametrize("kind", ["QuantileDMatrix", "ExtMemQuantileDMatrix", "DMatrix"])
def test_a_query_across_two_batches_becomes_two_groups(kind, tmp_path):
    """With iterator or external-memory input a query that straddles two batches silently becomes two groups."""
    cache = {} if kind == "QuantileDMatrix" else {"cache_prefix": str(tmp_path / "cache")}
    data = getattr(xgb, kind)(Batches(65, **cache))
    assert data.get_group().tolist() == [10] * 6 + [5, 5] + [10] * 5
    assert len(data.get_label()) == N_ROWS


# --- slices and cross-validation ----------------------------------------------------------------------------------


def test_slice_with_allow_groups_drops_groups_weights_and_nthread():
    """slice(…, allow_groups=True) drops the groups, the query weights and nthread, silently; base_margin stays."""
    data = matrix(weight=np.arange(N_QUERIES) + 1.0, base_margin=np.arange(N_ROWS))
    part = data.slice(np.arange(10, 30), allow_groups=True)
    assert (len(part.get_uint_info("group_ptr")), len(part.get_weight()), part.nthread) == (0, 0, -1)
    np.testing.assert_array_equal(part.get_base_margin(), np.arange(10, 30))
    np.testing.assert_array_equal(part.get_label(), LABELS[10:30])


# --- metric names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ndcg:5", "ndcg 5"])
def test_colons_and_spaces_in_metric_names_crash(name):
    """A metric name with ':' or a space breaks the parsing of the evaluation line."""
    with pytest.raises(ValueError, match="values to unpack"):
        evaluated(lambda s, d: (name, 0.5))


def test_metrics_are_rounded_to_six_decimals():
    """A metric passes through a string with six decimals: small differences vanish, also for early stopping."""
    assert evaluated(lambda s, d: ("mine", 0.123456789), rounds=1)["mine"] == [0.123457]
    assert evaluated(lambda s, d: ("mine", 1e-8), rounds=1)["mine"] == [0.0]


# --- models -------------------------------------------------------------------------------------------------------


def test_slices_forget_categories():
    """Mended by dmlc/xgboost#12462. `boostplug.export` keeps them (tests/estimators/test_categories.py)."""
    pd, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    if not hasattr(xgb.Booster, "get_categories"):
        pytest.skip("boosters know their categories since XGBoost 3.1")
    table = pd.DataFrame({"kind": pd.Categorical(np.array(["a", "b", "c"])[np.arange(N_ROWS) % 3])})
    booster = xgb.train({"nthread": 1}, xgb.DMatrix(table, np.arange(N_ROWS) % 3 == 1, enable_categorical=True), 3)
    known, of_slice = (b.get_categories(export_to_arrow=True).to_arrow() for b in (booster, booster[:3]))
    assert known[0][1].to_pylist() == ["a", "b", "c"]
    assert of_slice[0][1] is None
