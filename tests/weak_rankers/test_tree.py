"""Trees, from scikit-learn and by hand."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from boostplug.weak_rankers import Stump, Tree


def data(seed, missing=0.2, n=300):
    random = np.random.default_rng(seed)
    X = np.column_stack([random.normal(size=n), random.integers(0, 3, n), random.exponential(size=n) * 1e30])
    X[:, 2] = np.minimum(X[:, 2], 3e38)
    y = X[:, 0] + (X[:, 1] == 1) + 1e-30 * X[:, 2] + random.normal(size=n)
    absent = random.random(X.shape) < missing
    y = y + 3 * absent[:, 1]
    X[absent] = np.nan
    return X.astype(np.float32), y


def around(thresholds):
    """Return doubles next to thresholds, and to the singles next to them."""
    singles = thresholds.astype(np.float32)
    near = [thresholds, singles, np.nextafter(singles, np.float32(np.inf)), np.nextafter(singles, np.float32(-np.inf))]
    near = np.concatenate([values.astype(np.float64) for values in near])
    return np.unique(np.r_[near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf)])


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("options", [{}, {"max_depth": 3}, {"max_leaf_nodes": 9}, {"splitter": "random"}])
def test_tree_of_sklearn_predicts_the_same_bit_for_bit(options, missing):
    X, y = data(0, missing)
    grown = DecisionTreeRegressor(random_state=0, **options).fit(X, y)
    tree = Tree.from_sklearn(grown)
    new, _ = data(1, 0.3)
    assert np.array_equal(tree.predict(new), grown.predict(new))
    assert np.array_equal(tree.predict(X.astype(np.float64)), grown.predict(X))
    known = np.unique(tree.threshold[tree.feature == 0])
    near = around(known[np.isfinite(known)])
    rows = np.column_stack([near, np.ones(len(near)), np.full(len(near), 1e30)])
    for given in (rows, rows.astype(np.float32)):
        assert np.array_equal(tree.predict(given), grown.predict(rows))


def test_a_threshold_that_is_nan_sends_all_known_values_right():
    """Before 1.9, scikit-learn writes it where it splits known from missing in some nodes."""
    X = np.array([[1.0], [2.0], [np.nan]])
    grown = DecisionTreeRegressor(max_depth=1).fit(X, [0.0, 0.0, 1.0])
    for missing_left in (0, 1):
        state = grown.tree_.__getstate__()
        state["nodes"]["threshold"][0] = np.nan
        state["nodes"]["missing_go_to_left"][0] = missing_left
        grown.tree_.__setstate__(state)
        assert np.isnan(grown.tree_.threshold[0])
        tree = Tree.from_sklearn(grown)
        assert tree.threshold[0] == -np.inf
        assert tree.predict(X).tolist() == grown.predict(X).tolist()


def test_tree_of_one_leaf():
    tree = Tree.from_sklearn(DecisionTreeRegressor().fit([[0.0], [1.0]], [2.0, 2.0]))
    assert tree.predict(np.array([[5.0], [np.nan]])).tolist() == [2.0, 2.0]
    assert tree.changes.tolist() == [0.0]


@pytest.mark.parametrize("n_cuts", [0, 1, 2, 7, 100])
def test_steps_is_a_sum_of_stumps(n_cuts):
    random = np.random.default_rng(n_cuts)
    cuts = np.sort(random.normal(size=n_cuts))
    cuts[:1] = -np.inf
    values = random.normal(size=n_cuts + 1)
    tree = Tree.from_steps(1, cuts, values)
    x = np.r_[np.nan, -9.0, np.maximum(cuts, -8.0), random.normal(size=50)]
    X = np.column_stack([np.zeros(len(x)), x])
    expected = values[0] + sum((values[j + 1] - values[j]) * Stump(1, cut).predict(X) for j, cut in enumerate(cuts))
    np.testing.assert_allclose(tree.predict(X), expected, rtol=0, atol=1e-13)


def test_children_stand_after_their_parents():
    with pytest.raises(ValueError, match="no tree"):  # 1 and 2 would be each other's children
        Tree([0, 0, 0, -1, -1], np.zeros(5), [3, 2, 1, -1, -1], [4, 2, 1, -1, -1], np.zeros(5), [True] * 5)
