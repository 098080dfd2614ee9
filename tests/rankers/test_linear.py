"""`LinearRanker` beside scikit-learn's Ridge and an independent optimiser of the conditional logit."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

import boostplug as bp

DATA = bp.datasets.make_ranking(n_queries=40, random_state=3)
X, Y, QID = DATA.X, DATA.y, DATA.qid


def quantiles(ranker, X):
    """Return the columns q(x): what each feature adds by the model, over its coefficient."""
    middle = np.full(X.shape, np.nan, np.float32)
    columns = []
    for j, c in enumerate(ranker.coef_):
        alone = middle.copy()
        alone[:, j] = X[:, j]
        columns.append((ranker.predict(alone) - ranker.predict(middle)) / c if c else np.zeros(len(X)))
    return np.stack(columns, axis=1)


def centred(values, qid, weight):
    out = np.array(values, np.float64)
    for q in np.unique(qid):
        out[qid == q] -= np.average(out[qid == q], axis=0, weights=weight[qid == q])
    return out


@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_on_the_same_columns(weighted):
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(Y)) if weighted else np.ones(len(Y))
    ranker = bp.LinearRanker(alpha=7.0).fit(X, Y, qid=QID, sample_weight=weight)
    Q = centred(quantiles(ranker, X), QID, weight)
    ridge = Ridge(alpha=7.0, fit_intercept=False).fit(Q, centred(Y, QID, weight), sample_weight=weight)
    np.testing.assert_allclose(ranker.coef_, ridge.coef_, rtol=1e-9, atol=1e-12)


def test_conditional_logit_by_an_independent_optimiser():
    rng = np.random.default_rng(1)
    y = np.zeros(len(X))
    for q in np.unique(QID)[:-3]:  # three lists without a choice
        y[rng.choice(np.flatnonzero(q == QID))] = 1.0
    weight = np.where(np.isin(QID, np.unique(QID)[:10]), 2.0, 1.0)
    ranker = bp.LinearRanker(alpha=2.0, loss="softmax").fit(X, y, qid=QID, sample_weight=weight)
    Q = quantiles(ranker, X)
    lists = [(weight[q == QID][0], Q[q == QID], Q[(q == QID) & (y > 0)]) for q in np.unique(QID[y > 0])]

    def loss(c):
        return c @ c + sum(w * (np.log(np.exp(one @ c).sum()) - (chosen @ c)[0]) for w, one, chosen in lists)

    best = minimize(loss, np.zeros(X.shape[1]), method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(ranker.coef_, best.x, atol=1e-4)
    assert loss(ranker.coef_) <= best.fun + 1e-9


def test_quantiles_rise_from_low_to_high_and_know_missing_values():
    x = np.array([0.0] * 80 + [1.0] * 10 + [2.0] * 10)
    y = x > 1.5
    X = np.c_[x, np.where(x > 1.5, np.nan, x)]
    ranker = bp.LinearRanker(alpha=1.0).fit(X, y, group=[100])
    Q = quantiles(ranker, np.array([[0.0, 0.0], [1.0, 1.0], [2.0, np.nan]]))
    np.testing.assert_allclose(Q[:, 0] - Q[0, 0], [0.0, 0.9, 1.1])  # ranks from -1 to 1: 80, 170 and 190 in 100, less 1
    assert ranker.predict(np.full((1, 2), np.nan)) == pytest.approx(ranker.predict([[0.0, 0.0]]))  # the median


def test_steps_hold_like_numbers_of_rows_but_for_frequent_values():
    rng = np.random.default_rng(0)
    even = rng.permutation(1000) / 7.0
    rare = np.where(np.arange(1000) < 900, 0.0, even)
    X, y = np.c_[even, rare], even
    scores = [bp.LinearRanker(alpha=1.0, n_bins=8).fit(X[:, [j]], y, group=[1000]).predict(X[:, [j]]) for j in (0, 1)]
    assert [*np.unique(scores[0], return_counts=True)[1]] == [125] * 8
    assert np.unique(scores[1], return_counts=True)[1].max() == 900
    assert len(np.unique(scores[1])) >= 5  # 100 rows that are not 0, in steps of at most 125


@pytest.mark.parametrize("shift", [0.0, -7.0])
def test_penalty_is_chosen_on_unseen_queries(shift):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 30))
    qid = np.repeat(np.arange(30), 20)
    clear, noise = (X[:, 0] > 0) * 2.0 + (X[:, 1] > 0), rng.integers(0, 3, 600).astype(float)
    alphas = [bp.LinearRanker().fit(X, y + shift, qid=qid).alpha_ for y in (clear, noise)]
    assert alphas[1] > alphas[0]


@pytest.mark.parametrize("shift", [-7.0, 1000.0])
def test_labels_of_any_range(shift):
    ranker, shifted = (bp.LinearRanker().fit(X, labels, qid=QID) for labels in (Y, Y + shift))
    assert np.corrcoef(ranker.coef_, shifted.coef_)[0, 1] > 0.9


def test_table_of_coefficients():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X).rename(columns=lambda j: f"feature {j}")
    table = bp.LinearRanker().fit(frame, Y, qid=QID).coefficients_
    assert [*table.columns] == ["feature", "coefficient"]
    assert set(table["feature"]) == set(frame.columns)
    assert table["coefficient"].abs().is_monotonic_decreasing


def test_both_frameworks_hold_the_model():
    lgb, xgb = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    ranker = bp.LinearRanker().fit(X, Y, qid=QID)
    unseen = np.vstack([X, np.full((1, X.shape[1]), np.nan)]).astype(np.float32)
    scores = ranker.predict(unseen)
    booster = ranker.model_.to_lightgbm()
    assert isinstance(booster, lgb.Booster)
    np.testing.assert_allclose(booster.predict(unseen), scores, atol=1e-12)
    np.testing.assert_allclose(ranker.model_.to_xgboost().predict(xgb.DMatrix(unseen)), scores, atol=1e-6)
    assert bp.export(ranker, to="opensearch-ltr", X=X, missing="nan")


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        ({"alpha": 0.0}, {}, "alpha must be"),
        ({"n_bins": 1}, {}, "n_bins"),
        ({"loss": "log"}, {}, "loss"),
        ({"loss": "softmax"}, {"y": [-1.0, 0.0]}, "below 0"),
        ({}, {"pairs": bp.Pairs([0], [1])}, "takes no pairs"),
    ],
)
def test_refused(settings, given, message):
    arguments = {"y": [0.0, 1.0], "group": [2], **given}
    with pytest.raises(ValueError, match=message):
        bp.LinearRanker(**settings).fit([[0.0], [1.0]], **arguments)


def test_nothing_to_learn_is_said():
    with pytest.warns(UserWarning, match="LinearRanker has nothing to learn"):
        ranker = bp.LinearRanker().fit([[0.0], [1.0]], [1.0, 1.0], group=[2])
    assert not ranker.predict([[3.0]]).any()
