"""`Fitted`: any fitted scikit-learn estimator as a weak ranker."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.weak_rankers.tree import Tree


@dataclass(frozen=True, eq=False)
class Fitted:
    """The prediction of a fitted regressor, or of a two-class classifier: 1 where it predicts its class 1, else 0.

    X is rounded to single precision first, as in all reference rankers, so that a number has the same prediction in
    either precision.

    Parameters
    ----------
    estimator : scikit-learn estimator
        A regressor with one output, or a classifier fitted on the class 1 and a lower one.
    """

    estimator: Any

    def predict(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the scores of the rows of X, of shape (n_rows,)."""
        from sklearn.base import is_classifier

        if not len(X):  # scikit-learn raises for an empty array
            return np.empty(0)
        predicted = np.asarray(self.estimator.predict(X.astype(np.float32)))
        if is_classifier(self.estimator):
            predicted = predicted == 1
        return predicted.astype(np.float64).reshape(len(X))


def weak_ranker_of(estimator: Any) -> Tree | Fitted:
    """Return a fitted estimator as a weak ranker: a `Tree` if it is a single tree, else `Fitted`."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if isinstance(estimator, DecisionTreeRegressor):
        return Tree.from_sklearn(estimator)
    if not isinstance(estimator, DecisionTreeClassifier):
        return Fitted(estimator)
    nodes = DecisionTreeRegressor()
    nodes.tree_ = estimator.tree_  # scikit-learn's two kinds of trees differ only in their nodes' values
    tree = Tree.from_sklearn(nodes)
    share = estimator.tree_.value[:, 0, 1] / estimator.tree_.value[:, 0].sum(axis=1)
    return replace(tree, value=np.where(tree.leaf, share > 0.5, share))  # ties: the lower class, as in scikit-learn


def seeded_clone(estimator: Any, random: np.random.RandomState) -> Any:
    """Return an unfitted clone; its parameters ``random_state`` that are None are drawn from `random`."""
    from sklearn.base import clone

    seeds = {
        name: random.randint(np.iinfo(np.int32).max)
        for name, value in sorted(estimator.get_params().items())
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    return clone(estimator).set_params(**seeds)
