"""The features that a ranker gets are those it was fitted on: every ranker, every kind of table, wherever X goes in."""

import numpy as np
import pandas as pd
import pytest
from adapters.harness import FRAMEWORKS, QID, VQID, VX, VY, X, Y
from scipy.sparse import csr_matrix
from sklearn.base import clone

from boostplug.rankers import RANKERS

NAMES = ["a", "b", "c", "d"]
WRONG = {
    "permuted": (VX[:, [2, 0, 3, 1]], ["c", "a", "d", "b"]),
    "renamed": (VX, ["a", "b", "c", "z"]),
    "fewer": (VX[:, :3], NAMES[:3]),
    "more": (np.c_[VX, VX[:, :1]], [*NAMES, "e"]),
}
OURS = {F.Ranker.__name__: F for F in FRAMEWORKS.values()}
every_ranker = pytest.mark.parametrize("ranker", [*OURS, *RANKERS])


def make(ranker):
    return OURS[ranker].ranker(random_state=0, n_estimators=2) if ranker in OURS else clone(RANKERS[ranker][0])


def fit(ranker, x, **more):
    quiet = OURS[ranker].quiet if ranker in OURS else {}
    return make(ranker).fit(x, Y, qid=QID, **quiet, **more)


@every_ranker
def test_other_columns_are_refused_wherever_they_come(ranker):
    train, valid = pd.DataFrame(X, columns=NAMES), pd.DataFrame(VX, columns=NAMES)
    model = fit(ranker, train, eval_set=[(valid, VY)], eval_qid=[VQID])
    expected = model.predict(valid)
    for rows, names in WRONG.values():
        table = pd.DataFrame(rows, columns=names)
        for call in (model.predict, lambda x: model.score(x, VY, qid=VQID)):
            with pytest.raises(ValueError, match=r"columns|[Ff]eature names|X has \d features"):
                call(table)
        with pytest.raises(ValueError, match=r"^eval_set\[1\]'s X.* columns"):
            fit(ranker, train, eval_set=[(valid, VY), (table, VY)], eval_qid=[VQID, VQID])
    np.testing.assert_array_equal(model.predict(valid), expected)


def test_xgboosts_option_lets_other_columns_pass():
    table = pd.DataFrame(VX, columns=NAMES)
    model = fit("XGBRanker", pd.DataFrame(X, columns=NAMES))
    other = model.predict(table.rename(columns={"d": "z"}), validate_features=False)
    np.testing.assert_array_equal(other, model.predict(table))


@every_ranker
@pytest.mark.parametrize("width", [1, 3, 5])
def test_arrays_of_another_width_are_refused(ranker, width):
    x = np.tile(VX, 2)[:, :width]
    model = fit(ranker, X)
    for call in (model.predict, lambda x: model.score(x, VY, qid=VQID)):
        with pytest.raises(ValueError, match=rf"X has {width} features, .* 4"):
            call(x)
    with pytest.raises(ValueError, match=rf"eval_set\[0\]'s X has {width} features, but the model is expecting 4"):
        fit(ranker, X, eval_set=[(x, VY)], eval_qid=[VQID])


# --- arguments that count columns ---------------------------------------------------------------------------------

FEATURES = pd.DataFrame(np.tile(X.round(), (3, 1)), columns=NAMES)
IDS, GRADES = np.r_[QID, QID + 99, QID + 199], np.tile(Y, 3)
SIZES = {"LGBMRanker": {"num_leaves": 9, **OURS["LGBMRanker"].categories}, "XGBRanker": {"max_depth": 4}}
WITH_IDS = FEATURES.assign(ids=IDS, grade=GRADES)[["a", "ids", "b", "grade", "c", "d"]]


def fit_counting(ranker, table, fit=(), **params):
    """Fit on a table that holds ids and labels, or on one of features only."""
    named = {"qid": "ids", "y": "grade"} if table is WITH_IDS else {"qid": IDS, "y": GRADES}
    model = make(ranker).set_params(**SIZES[ranker], **params)
    return model.fit(table, **named, **OURS[ranker].quiet, **dict(fit)).predict(table)


@pytest.mark.parametrize(
    ("ranker", "of_table", "of_features"),
    [
        ("LGBMRanker", {"fit": {"categorical_feature": [4]}}, {"fit": {"categorical_feature": [2]}}),
        ("LGBMRanker", {"fit": {"categorical_feature": np.array([4])}}, {"fit": {"categorical_feature": ["c"]}}),
        ("LGBMRanker", {"interaction_constraints": [[0, 4], [2, 5]]}, {"interaction_constraints": [[0, 2], [1, 3]]}),
        ("LGBMRanker", {"interaction_constraints": "[0,4],[2]"}, {"interaction_constraints": "[0,2],[1]"}),
        ("LGBMRanker", {"mc": [1, 0, -1, 0, 0, 0]}, {"monotone_constraints": [1, -1, 0, 0]}),
        ("LGBMRanker", {"mc": [1, -1, 0, 0]}, {"monotone_constraints": [1, -1, 0, 0]}),
        ("XGBRanker", {"interaction_constraints": "[[0, 4], [2, 5]]"}, {"interaction_constraints": "[[0, 2], [1, 3]]"}),
        ("XGBRanker", {"monotone_constraints": (1, 0, -1, 0, 0, 0)}, {"monotone_constraints": (1, -1, 0, 0)}),
        ("XGBRanker", {"monotone_constraints": {"b": -1}}, {"monotone_constraints": (0, -1)}),
        (
            "XGBRanker",
            {"feature_weights": [1, 9, 0, 9, 0, 0], "colsample_bynode": 0.25},
            {"fit": {"feature_weights": [1, 0, 0, 0]}, "colsample_bynode": 0.25},
        ),
    ],
)
def test_arguments_count_the_columns_of_the_table_that_is_passed(ranker, of_table, of_features):
    expected = fit_counting(ranker, FEATURES, **of_features)
    np.testing.assert_array_equal(fit_counting(ranker, WITH_IDS, **of_table), expected)
    assert not np.array_equal(expected, fit_counting(ranker, FEATURES))


def test_the_place_of_no_feature_is_refused():
    """Beyond the columns LightGBM ignores it, or ends the process."""
    for table in (FEATURES, FEATURES.to_numpy(), csr_matrix(FEATURES), FEATURES.to_numpy().tolist()):
        with pytest.raises(ValueError, match="interaction_constraints holds 4, which is the place of no feature"):
            fit_counting("LGBMRanker", table, interaction_constraints=[[0, 4]])
    with pytest.raises(ValueError, match="categorical_feature holds 1, which is the place of no feature in X"):
        fit_counting("LGBMRanker", WITH_IDS, {"categorical_feature": [1]})


@pytest.mark.parametrize("weights", [[1, 2], [1] * 5, 3])
def test_feature_weights_of_another_length_are_refused(weights):
    for params, fit in (({"feature_weights": weights}, {}), ({}, {"feature_weights": weights})):
        with pytest.raises(ValueError, match=r"feature_weights must hold 4 numbers, one for each feature; got shape"):
            fit_counting("XGBRanker", FEATURES, fit, **params)
