"""SHAP values of a tree by their definition: a sum over all sets of features (Lundberg et al. 2020, path dependent)."""

from itertools import combinations
from math import factorial

import numpy as np


def goes_left(tree, node, x):
    value = x[tree.feature[node]]
    return tree.missing_left[node] if np.isnan(value) else value <= tree.threshold[node]


def rows_at_nodes(tree, X):
    """Return how many rows of X come to each node."""
    count = np.zeros(len(tree.value))
    for x in X:
        node = 0
        count[node] += 1
        while tree.left[node] >= 0:
            node = tree.left[node] if goes_left(tree, node, x) else tree.right[node]
            count[node] += 1
    return count


def expectation(tree, count, x, known, node=0):
    """Return the mean of the leaves, at splits of `known` features only on the side of x."""
    left, right = tree.left[node], tree.right[node]
    if left < 0:
        return tree.value[node]
    if tree.feature[node] in known:
        return expectation(tree, count, x, known, left if goes_left(tree, node, x) else right)
    sides = (count[side] * expectation(tree, count, x, known, side) for side in (left, right))
    return sum(sides) / (count[left] + count[right])


def shapley_values(tree, count, x):
    """Return the contribution of each feature, and in the last place the mean of the leaves."""
    n = len(x)
    values = np.zeros(n + 1)
    values[-1] = expectation(tree, count, x, ())
    for feature in range(n):
        others = [k for k in range(n) if k != feature]
        for size in range(n):
            weight = factorial(size) * factorial(n - size - 1) / factorial(n)
            for known in combinations(others, size):
                gained = expectation(tree, count, x, (*known, feature)) - expectation(tree, count, x, known)
                values[feature] += weight * gained
    return values
