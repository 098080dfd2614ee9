"""Trees of our own: scikit-learn's where one split is better than all others, and by the rules of ties elsewhere."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor
from versions import version_of
from weak_rankers import literal_tree as literal

from boostplug.core.threads import forced_threads
from boostplug.weak_rankers import Tree
from boostplug.weak_rankers.growth import TreeGrower

MANY = 800
STRUCTURE = ("feature", "threshold", "left", "right", "missing_left")


def structure(tree):
    return list(zip(*(getattr(tree, name).tolist() for name in STRUCTURE), strict=True))


def grown(X, y, w=None, leaves=6):
    X = np.asarray(X, np.float32)
    return TreeGrower(X, leaves).grow(np.asarray(y, float), np.ones(len(X)) if w is None else np.asarray(w, float))


def of_sklearn(X, y, w=None, leaves=6):
    return Tree.from_sklearn(DecisionTreeRegressor(max_leaf_nodes=leaves, random_state=0).fit(X, y, sample_weight=w))


def data(seed):
    """Return X, targets and weights of a problem: which kinds of columns and weights it has depends on the seed."""
    rng = np.random.default_rng(seed)
    n, n_features = int(rng.choice([2, 3, 8, 30, 90, MANY, MANY])), int(rng.integers(1, 7))
    X = rng.normal(size=(n, n_features))
    if seed % 2:
        X[:, rng.random(n_features) < 0.5] *= 3.0
        X = np.where(rng.random(n_features) < 0.5, np.round(X), X)
    if seed % 3 == 1:
        X[:, 0] = 1.0
    y = X[:, -1] + np.sin(3.0 * X[:, 0]) + rng.normal(size=n)
    w = (np.ones(n), rng.random(n), np.exp(rng.normal(size=n)))[seed % 3]
    if seed % 4 == 3:
        w[rng.random(n) < 0.3] = 0.0
        w[:2] = 1.0
    return X.astype(np.float32), y, w


def assert_same(tree, other, atol=1e-12):
    assert structure(tree) == structure(other)
    np.testing.assert_allclose(tree.value, other.value, rtol=0.0, atol=atol)


def assert_parts_alike(tree, other, X, w):
    """The two are the same but for splits of few rows that several features make alike."""
    np.testing.assert_allclose(tree.predict(X[w > 0]), other.predict(X[w > 0]), rtol=0.0, atol=1e-12)
    if len(X) == MANY:
        assert_same(tree, other)


@pytest.mark.parametrize("seed", range(24))
def test_tree_is_scikit_learns(seed):
    X, y, w = data(seed)
    leaves = (2, 3, 5, 8)[seed % 4]
    assert_parts_alike(grown(X, y, w, leaves), of_sklearn(X, y, w, leaves), X, w)


@pytest.mark.skipif(version_of("scikit-learn") < (1, 9), reason="older ones part missing values among themselves")
@pytest.mark.parametrize("seed", range(16))
def test_tree_is_scikit_learns_where_values_are_missing(seed):
    X, y, w = data(seed)
    rng = np.random.default_rng(seed)
    X[rng.random(X.shape) < rng.choice([0.05, 0.3, 0.9])] = np.nan
    y = y + np.isnan(X[:, 0])
    assert_parts_alike(grown(X, y, w, 8), of_sklearn(X, y, w, 8), X, w)


@pytest.mark.parametrize("n_values", [257, 65_537])
def test_tree_is_scikit_learns_for_any_number_of_values(n_values):
    rng = np.random.default_rng(n_values)
    n = n_values + 500
    X = np.column_stack([rng.permutation(n) % n_values, rng.integers(0, 50, n)]).astype(np.float32)
    y = np.sin(X[:, 0] / n_values * 9.0) + X[:, 1] / 50.0 + rng.normal(size=n)
    assert_same(grown(X, y, leaves=5), of_sklearn(X, y, leaves=5), atol=1e-9)


@pytest.mark.parametrize("seed", range(16))
def test_tree_is_the_literal_one_with_ties(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    X = rng.integers(0, 4, (n, 3)).astype(np.float32)
    X[rng.random(X.shape) < (0.0, 0.2)[seed % 2]] = np.nan
    X = np.column_stack([X, X[:, 0], -X[:, 1], 2.0 * X[:, 2] + 1.0])
    y, w = rng.integers(0, 3, n).astype(float), (np.ones(n), rng.integers(1, 4, n).astype(float))[seed // 2 % 2]
    nodes = literal.grow(X, y, w, 7)
    tree = grown(X, y, w, 7)
    assert structure(tree) == literal.structure(nodes)
    np.testing.assert_allclose(tree.value, [node.mean for node in nodes], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(tree.predict(X), literal.predict(nodes, X), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("X", [[[1.0], [1.0]], [[np.nan], [np.nan]]])
def test_what_cannot_be_parted_is_one_leaf(X):
    assert grown(X, [0.0, 1.0]).value.tolist() == [0.5]
    assert grown([*X, [5.0]], [0.0, 1.0, 9.0], [1.0, 0.0, 0.0]).value.tolist() == [0.0]


def test_known_is_parted_from_missing():
    X = [[1.0], [2.0], [3.0], [np.nan], [np.nan]]
    for y in ([0.0, 0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 0.0, 0.0]):
        tree = grown(X, y, leaves=2)
        assert tree.threshold[0] == -np.inf
        assert tree.predict(np.array(X)).tolist() == y
        assert tree == of_sklearn(X, y, leaves=2)


@pytest.mark.parametrize("exponent", [-900, -300, 300, 900])
def test_the_unit_of_weights_changes_nothing(exponent):
    X, y, w = data(5)
    assert grown(X, y, np.ldexp(w, exponent)) == grown(X, y, w)


def test_same_tree_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9_000, 12)).astype(np.float32)  # enough for four threads
    X[:, 3:6] = np.round(X[:, 3:6])
    X[rng.random(X.shape) < 0.1] = np.nan
    y, w = np.nan_to_num(X).sum(axis=1) + rng.normal(size=9_000), rng.random(9_000)
    trees = []
    for n_threads in (1, 3):
        with forced_threads(n_threads):
            trees.append(grown(X, y, w, leaves=9))
    assert trees[0] == trees[1]


def test_no_tree_leaves_anything_to_the_next():
    X, y, w = data(9)
    grower = TreeGrower(X, 8)
    grower.grow(-y, w)
    assert grower.grow(y, w) == grown(X, y, w, leaves=8)
