"""Rankers for scikit-learn's checks, which know nothing of queries."""

import numpy as np

__all__ = ["one_query"]


def one_query(kind):
    """Return a class of rankers that take all rows as one query."""

    class OneQuery(kind):
        def fit(self, X, y=None, sample_weight=None):
            if y is None:
                raise ValueError("requires y to be passed, but the target y is None")
            n_rows = X.shape[0] if hasattr(X, "shape") else len(np.asarray(X))
            return super().fit(X, y, group=[n_rows], sample_weight=sample_weight)

        def score(self, X, y):
            return float(np.sum(self.predict(X)))

    OneQuery.__name__ = OneQuery.__qualname__ = f"{kind.__name__}WithOneQueryOf{kind.__module__.partition('.')[0]}"
    return globals().setdefault(OneQuery.__name__, OneQuery)  # where pickle looks for it
