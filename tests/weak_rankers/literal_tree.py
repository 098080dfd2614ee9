"""A least-squares regression tree, best first, split by split: slow, and the yardstick."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from boostplug.weak_rankers.stump import rounding_edges

PURE = np.finfo(np.float64).eps
TIE = 1e-11


@dataclass
class Node:
    rows: np.ndarray
    mean: float
    squares: float
    split: tuple | None = None
    children: tuple | None = None


@dataclass(frozen=True)
class Split:
    gain: float
    feature: int
    threshold: float
    missing_left: bool


def goes_left(x, split):
    return np.where(np.isnan(x), split.missing_left, x <= split.threshold)


def squares_of(y, w):
    mean = np.average(y, weights=w)
    return mean, float((w * (y - mean) ** 2).sum())


def splits(X, y, w):
    """Yield every split of a node, in the order of preference."""
    before = squares_of(y, w)[1]
    for k in range(X.shape[1]):
        x = X[:, k]
        known, missing = np.unique(x[~np.isnan(x)]), bool(np.isnan(x).any())
        cuts = [(a, b) for a, b in pairwise(known) if b > np.float32(a + np.float32(1e-7))]
        middles = [0.5 * float(a) + 0.5 * float(b) for a, b in cuts]
        candidates = [(t, False) for t in middles]
        if missing:
            candidates += [(np.inf, False)] * (len(known) > 0) + [(t, True) for t in middles]
        for threshold, missing_left in candidates:
            left = goes_left(x, Split(0.0, k, threshold, missing_left))
            after = squares_of(y[left], w[left])[1] + squares_of(y[~left], w[~left])[1]
            more = missing_left if missing else left.sum() > (~left).sum()
            yield Split(before - after, k, threshold, bool(more))


def node_of(X, y, w, rows):
    mean, squares = squares_of(y[rows], w[rows])
    node = Node(rows, mean, squares)
    if squares > PURE * w[rows].sum():
        for split in splits(X[rows], y[rows], w[rows]):
            if node.split is None or split.gain > node.split.gain + TIE * squares:
                node.split = split
    return node


def grow(X, y, w, max_leaf_nodes):
    """Return the nodes of the tree, children after their parents."""
    nodes = [node_of(X, y, w, np.flatnonzero(w))]
    while len(nodes) + 1 < 2 * max_leaf_nodes:
        best = None
        for node in nodes:
            if node.children or not node.split:
                continue
            if best is None or node.split.gain > best.split.gain + TIE * max(node.squares, best.squares):
                best = node
        if best is None:
            break
        left = goes_left(X[best.rows, best.split.feature], best.split)
        best.children = len(nodes), len(nodes) + 1
        nodes += [node_of(X, y, w, best.rows[left]), node_of(X, y, w, best.rows[~left])]
    return nodes


def predict(nodes, X):
    out = np.empty(len(X))
    for i, x in enumerate(X):
        node = nodes[0]
        while node.children:
            node = nodes[node.children[0 if goes_left(x[node.split.feature], node.split) else 1]]
        out[i] = node.mean
    return out


def structure(nodes):
    """Return feature, threshold, left, right and missing_left of each node, as `Tree` holds them."""
    out = []
    for node in nodes:
        if not node.children:
            out.append((-1, 0.0, -1, -1, True))
        elif node.split.threshold == np.inf:  # all known values right instead
            out.append((node.split.feature, -np.inf, *node.children[::-1], True))
        else:
            edge = float(rounding_edges(np.array([node.split.threshold]))[0])
            out.append((node.split.feature, edge, *node.children, node.split.missing_left))
    return out
