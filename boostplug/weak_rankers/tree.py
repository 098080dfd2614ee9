"""`Tree`: a binary regression tree, from any library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import frozen
from boostplug.weak_rankers.forest import Forest, scores_of
from boostplug.weak_rankers.stump import rounding_edges


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A binary tree: a row goes left if the node's feature is at most its threshold.

    The value of its leaf is its score. Nodes are numbered from the root, 0. Children come after their parents.

    Parameters
    ----------
    feature : array-like of int, shape (n_nodes,)
        Column of X; -1 at leaves.
    threshold : array-like of float, shape (n_nodes,)
        -inf sends all known values right. Ignored at leaves.
    left, right : array-like of int, shape (n_nodes,)
        Children; -1 at leaves.
    value : array-like of float, shape (n_nodes,)
        Scores of the leaves. At inner nodes the mean of the rows, used only for the importance of features.
    missing_left : array-like of bool, shape (n_nodes,)
        Whether a missing value (NaN) goes left. Ignored at leaves.

    Raises
    ------
    ValueError
        If the arrays do not describe such a tree.
    """

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    missing_left: NDArray[np.bool_]

    def __post_init__(self) -> None:
        kinds = {"feature": "iu", "threshold": "iuf", "left": "iu", "right": "iu", "value": "iuf", "missing_left": "b"}
        types = {"iu": np.int64, "iuf": np.float64, "b": np.bool_}
        n = np.size(self.feature)
        for name, kind in kinds.items():
            array = np.asarray(getattr(self, name))
            if array.shape != (n,) or not n:
                raise ValueError(f"{name} must hold one entry per node, got shape {array.shape} and {n} features")
            if array.dtype.kind not in kind:
                raise ValueError(f"{name} must be of type {np.dtype(types[kind]).name}, got {array.dtype}")
            object.__setattr__(self, name, np.array(array, types[kind]))
        inner = self.left >= 0
        children = np.r_[self.left[inner], self.right[inner]]
        if (
            not np.array_equal(np.sort(children), np.arange(1, n))
            or (children <= np.tile(np.flatnonzero(inner), 2)).any()
            or (self.feature[inner] < 0).any()
        ):
            raise ValueError(
                "left, right, feature are no tree: each node but 0 must be the child of one node before it"
            )
        if not all((array[~inner] == -1).all() for array in (self.feature, self.left, self.right)):
            raise ValueError("feature, left and right must be -1 at leaves")
        if np.isnan(self.threshold[inner]).any() or (self.threshold[inner] == np.inf).any():
            raise ValueError("threshold must hold finite numbers, or -inf, which sends all known values right")
        if not np.isfinite(self.value).all():
            raise ValueError("value must hold finite numbers")
        self.threshold[~inner] = 0.0
        self.missing_left[~inner] = True
        for field in fields(self):
            frozen(getattr(self, field.name))

    @classmethod
    def from_sklearn(cls, estimator: Any) -> Self:
        """Return a fitted `sklearn.tree.DecisionTreeRegressor` with one output, or `DecisionTreeClassifier`.

        A classifier's leaves are 1 where it predicts its second class, else 0.

        scikit-learn rounds X to single precision first. Here thresholds lie where that rounding changes sides, as in
        `Cuts`. So a number has the same prediction in either precision.

        Raises
        ------
        ValueError
            If it is another estimator.
        """
        tree = getattr(estimator, "tree_", None)
        if tree is None or tree.n_outputs != 1 or tree.value.shape[2] > 2:
            raise ValueError(
                f"estimator must be a fitted tree of scikit-learn with one output, or two classes; got {estimator!r}"
            )
        value = tree.value[:, 0, 0]
        if tree.value.shape[2] == 2:
            share = tree.value[:, 0, 1] / tree.value[:, 0].sum(axis=1)
            value = np.where(tree.children_left < 0, share > 0.5, share)  # ties: the lower class, as in scikit-learn
        return cls.from_splits(
            tree.feature,
            tree.threshold,
            tree.children_left,
            tree.children_right,
            value,
            tree.missing_go_to_left.astype(bool),
        )

    @classmethod
    def from_splits(
        cls,
        feature: Ints,
        threshold: Floats,
        left: Ints,
        right: Ints,
        value: Floats,
        missing_left: NDArray[np.bool_],
    ) -> Self:
        """Return the tree of splits found in single precision. The threshold inf sends all known values left."""
        leaf = left < 0
        below = np.where(leaf, 0.0, threshold)
        below[np.isnan(below)] = -np.inf  # scikit-learn before 1.9: NaN separates missing values from known ones
        edge = rounding_edges(below)
        # inf, all known values left: use -inf, all of them right, and swap the children.
        swapped = edge == np.inf
        return cls(
            feature=np.where(leaf, -1, feature),
            threshold=np.where(swapped, -np.inf, edge),
            left=np.where(swapped, right, left),
            right=np.where(swapped, left, right),
            value=value,
            missing_left=missing_left != swapped,
        )

    @classmethod
    def from_steps(cls, feature: int, thresholds: ArrayLike, values: ArrayLike, missing: int = 0) -> Self:
        """Return a step function of one feature as a balanced tree.

        Parameters
        ----------
        feature : int
        thresholds : array-like of shape (n_steps,)
            Strictly ascending.
        values : array-like of shape (n_steps + 1,)
            ``values[j]`` if the feature is above exactly the first j thresholds.
        missing : int, default 0
            The j of missing values.
        """
        cut, leaf_value = np.asarray(thresholds, np.float64), np.asarray(values, np.float64)
        n_nodes = 2 * len(cut) + 1
        at, left, right = (np.full(n_nodes, -1) for _ in range(3))
        threshold, value, missing_left = np.zeros(n_nodes), np.empty(n_nodes), np.full(n_nodes, True)
        n_made = 0

        def grow(first: int, last: int) -> int:
            """Make the nodes of the cuts ``first <= j < last``; return their root."""
            nonlocal n_made
            node, n_made = n_made, n_made + 1
            if first == last:
                value[node] = leaf_value[first]
                return node
            middle = (first + last) // 2
            at[node], threshold[node], missing_left[node] = feature, cut[middle], missing <= middle
            left[node], right[node] = grow(first, middle), grow(middle + 1, last)
            value[node] = 0.5 * value[left[node]] + 0.5 * value[right[node]]
            return node

        grow(0, len(cut))
        return cls(at, threshold, left, right, value, missing_left)

    def times(self, weight: float) -> Self:
        """Return the tree with all values multiplied by `weight`."""
        return type(self)(self.feature, self.threshold, self.left, self.right, weight * self.value, self.missing_left)

    @property
    def leaf(self) -> NDArray[np.bool_]:
        """True for each node that is a leaf."""
        return self.left < 0

    @property
    def changes(self) -> Floats:
        """Difference between the values of each node's children, 0 at leaves."""
        return np.where(self.leaf, 0.0, np.abs(self.value[self.right] - self.value[self.left]))

    def predict(self, X: NDArray[np.floating]) -> Floats:
        """Return the scores of the rows of X, of shape (n_rows,)."""
        return scores_of(X, joined([self], {}))

    def _key(self) -> tuple[bytes, ...]:
        # + 0.0: -0.0 and 0.0 are equal
        return tuple((getattr(self, field.name) + 0).tobytes() for field in fields(self))

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Tree) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        used = ", ".join(map(str, np.unique(self.feature[~self.leaf])))
        return f"<Tree: {self.leaf.sum()} leaves, features [{used}]>"

    def __reduce__(self) -> Any:  # unpickled arrays would be writable
        return type(self), tuple(getattr(self, field.name) for field in fields(self))


def in_breadth(left: Ints, right: Ints) -> tuple[list[int], Ints, Ints]:
    """Return a tree's nodes level by level, siblings side by side, and the new numbers of their children.

    The children of leaves are -1.
    """
    order = [0]
    for node in order:
        if left[node] >= 0:
            order += [int(left[node]), int(right[node])]
    number = np.full(len(left), -1)
    number[order] = np.arange(len(order))
    left, right = (np.where(child < 0, -1, number[child])[order] for child in (left, right))
    return order, left, right


def joined(trees: Sequence[Tree], slopes: Mapping[int, float]) -> Forest:
    """Return the nodes of the trees, and the slopes of the features, in common arrays."""
    sizes = [len(tree.value) for tree in trees]
    root = np.cumsum([0, *sizes])[:-1]
    feature, threshold, left, right, value, missing_left = (
        np.concatenate([getattr(tree, field.name) for tree in (*trees, _LEAF)])[:-1] for field in fields(Tree)
    )
    offset = np.repeat(root, sizes)
    left, right = (np.where(children < 0, -1, children + offset) for children in (left, right))
    line = np.array([*slopes], np.int64), np.array([*slopes.values()], np.float64)
    return Forest(*map(frozen, (root, feature, threshold, left, right, value, missing_left, *line)))


_LEAF = Tree.from_steps(0, (), (0.0,))  # sets the types of the arrays if there are no trees
