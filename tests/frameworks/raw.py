"""What the tests of both frameworks share: data of 12 queries, and an objective that neither knows."""

import numpy as np

N_QUERIES, SIZE = 12, 10
N_ROWS = N_QUERIES * SIZE
QUERY_OF_ROW = np.repeat(np.arange(N_QUERIES), SIZE)
FEATURES = np.random.default_rng(0).integers(0, 99, size=(N_ROWS, 3)).astype(np.float32)
LABELS = np.random.default_rng(1).integers(0, 3, N_ROWS).astype(float)
ROWS = {"data": FEATURES, "label": LABELS, "group": np.full(N_QUERIES, SIZE)}


def least_squares(scores, data):
    return scores - data.get_label(), np.ones_like(scores)


def seen_in_objective(train, data, *, read, **keywords):
    """Train and give what `read(scores, data)` saw at each call."""
    seen = []

    def objective(scores, data):
        seen.append(read(scores, data))
        return least_squares(scores, data)

    train(objective, data=data, **keywords)
    return seen
